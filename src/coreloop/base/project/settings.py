"""What coreloop.yaml can say: the keys at its top, and those of records, proposals and answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from coreloop.base.project.promotion_settings import (
    DocstringSettings,
    EffectSettings,
    ForgeSettings,
    MeasureSettings,
    ReachSettings,
    ReplaySettings,
)
from coreloop.base.project.score_rule import OutcomeRule, parse_rule
from coreloop.base.records import DEFAULT_SELECTORS

_PRICE: Final = {"least": 0, "most": 1_000_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRule:
    """A question with one of the keywords gets the label; if several rules match, the first applies.

    Attributes
    ----------
    label : str
        One to four parts of ASCII letters and digits joined by ``-``.
    any : tuple of str
        Keywords. A Korean keyword matches anywhere in the question, a Latin one whole words.
    """

    label: str
    any: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OkRule:
    """A field at the top of a tool's result that says whether the call failed.

    Attributes
    ----------
    field : str
        The field's name.
    fails : tuple of str
        Its values in failed calls, as text: ``"false"``, ``"error"``; in any case.
    """

    field: str
    fails: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """Where a tool's docstring is, and which arguments are its selectors.

    Attributes
    ----------
    target : str or None
        ``path.py::qualname``. Default: the tool's only definition, which may move.
    selectors : tuple of str
        Arguments whose value chooses what the tool does; by default those of coreloop's first user. A value
        is written into a docstring only if it is in ``axis_slugs`` or a literal in the tool's file.
    """

    target: str | None = None
    selectors: tuple[str, ...] = DEFAULT_SELECTORS


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """What an answer must have to count. `pattern` and `refine` have options for the other gates.

    Attributes
    ----------
    min_chunk_len : int or None
        Characters of a complete answer. One shorter than ``min(200, min_chunk_len)`` is a failure; one
        between that and ``min_chunk_len`` is not counted. If absent, only an empty answer fails, since right
        answers may be short.
    """

    min_chunk_len: int | None = field(default=None, metadata={"least": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSettings:
    """Which score of another system says whether a request succeeded: in importers, and in spans.

    Attributes
    ----------
    score : str
        Its name, as in Langfuse, in ``gen_ai.evaluation.name`` or in an annotation, and how a successful
        request's compares: ``helpful``, which is ``helpful >= 0.5``, or ``helpful == good``. If absent, none
        does, since scores may judge something else.
    """

    score: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDetector:
    """A form of private data that only this project has.

    Attributes
    ----------
    name : str
        Two to nine capital letters, as in the label: ``STAFF`` becomes ``[STAFF-1]``.
    pattern : str
        A regular expression; limit its repeats (``{1,40}``, not ``+``). The group ``value``, or else the
        whole match, is masked.
    example : str
        A text in which the pattern finds something.
    """

    name: str
    pattern: str
    example: str


Country = Literal["kr", "us", "uk", "eu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizeSettings:
    """What ``sanitize`` looks for.

    Attributes
    ----------
    names : str or list of str, optional
        Companies to mask besides those of the public listing that ``kr`` has, which knows no others: a list
        of names, or a file of code, name, aliases (joined by a vertical bar), separated by tabs.
    detect : list of OwnDetector
        Private data that only this project has.
    allow : list of str
        Values that stay: findings of which one is the whole text. None by default: only you know them.
    countries : list of str
        Countries whose numbers, telephones, addresses and names are searched: all, since a miss is worse than
        a wait; fewer are faster. E-mail addresses, links, credentials, cards, dates of birth and English
        names are always searched.
    """

    names: str | tuple[str, ...] | None = None
    detect: tuple[OwnDetector, ...] = ()
    allow: tuple[str, ...] = ()
    countries: tuple[Country, ...] = get_args(Country)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Limits of all runs together.

    Attributes
    ----------
    usd_per_day : float or None
        US dollars that all runs may spend in a day (UTC). No limit by default: the default model is free.
    """

    usd_per_day: float | None = field(default=None, metadata={"least": 0})


SearchProvider = Literal["index", "searxng", "tavily", "arxiv"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Where a research searches.

    Attributes
    ----------
    providers : tuple of {'index', 'searxng', 'tavily', 'arxiv'}
        In order: the next one is asked if those before it found nothing or failed. By default your files
        alone, so that no question leaves the machine. ``tavily`` needs the environment variable
        ``TAVILY_API_KEY``.
    searxng_url : str or None
        The address of your instance of SearXNG; none is public by default.
    paths : tuple of str
        Files and folders, relative to coreloop.yaml, that ``index`` reads and ``repair gates`` counts: by
        default the project. What follows ``!`` is never read: names, or paths with a ``/``, also with ``*``:
        ``"!old"``, ``"!docs/drafts"``, ``"!*.min.js"``.
    morphemes : bool
        Compare Korean words by morphemes; off, since it needs the extra ``korean``.
    encoder : str or None
        Of sentence vectors: ``PROVIDER:MODEL`` or a local ``.onnx``; none, since it needs the extra
        ``semantic``.
    """

    providers: tuple[SearchProvider, ...] = ("index",)
    searxng_url: str | None = None
    paths: tuple[str, ...] = (".",)
    morphemes: bool = False
    encoder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSettings:
    """What a model costs, in US dollars per million tokens.

    Attributes
    ----------
    input : float
        The price of the messages.
    output : float
        The price of the reply, including what the model writes before it (reasoning).
    """

    input: float = field(metadata=_PRICE)
    output: float = field(metadata=_PRICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """An address that answers OpenAI's chat completions.

    Attributes
    ----------
    url : str
        Up to and without ``/chat/completions``. ``{NAME}`` stands for an environment variable.
    key : str or None
        The environment variable that holds the key. None by default: an endpoint without a key costs
        nothing.
    key_header : str
        ``Authorization`` (the key as ``Bearer``), as most have it, or a header that takes the key alone.
    """

    url: str
    key: str | None = None
    key_header: str = "Authorization"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(EndpointSettings):
    """An endpoint, and what it understands.

    Attributes
    ----------
    max_tokens : str
        The parameter that limits the tokens of a reply.
    tool_calls : bool
        Whether its models take tools and call them.
    """

    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tool_calls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Who may call what ``serve`` serves.

    Attributes
    ----------
    hosts : tuple of str
        Names by which clients reach the service, without port, beside its own address and ``localhost``,
        which are enough for one machine.
    origins : tuple of str
        Web pages of other hosts that may call it, such as ``https://tools.example``. None by default: a page
        acts with its reader's access.
    """

    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The keys at the top level of coreloop.yaml.

    Attributes
    ----------
    data_dir : str
        The folder for records (``audit/``), knowledge (``ai/knowledge/``) and audit notes
        (``dart/auditAnalysis/``); in the project, whose tools they are about.
    retention_days : int or None
        ``pattern`` removes files whose newest record is older than this many days, and a new run removes runs
        in which nothing has happened for as long. If absent, nothing is removed: effects are judged by old
        records.
    executor : str or None
        What reads records: ``processes``, or a Dask scheduler such as ``tcp://host:8786``. If absent,
        processes read more than 64 MB; with less, starting them takes longer.
    categories : tuple of CategoryRule
        Categories of questions.
    tools : mapping of str to ToolSettings
        Tools by name.
    ok : tuple of OkRule
        Results that say that their call failed; replaces what coreloop knows of fields, such as
        ``success: false`` and ``isError: true``.
    language : str
        Language of proposed lines, ``en``, as most descriptions are, or ``ko``.
    handoff : tuple of str
        Tools that hand a request over to a human; it counts only with a verdict. None by default: a name
        does not tell.
    outcome : OutcomeSettings
        Which score of another system says whether a request succeeded: in importers, and in spans.
    axis_slugs : mapping of str to str
        Selector values that may be written into a docstring, and their names in branches. None by default:
        values may be private.
    schemas : tuple of str
        Files that declare data, relative to coreloop.yaml: JSON Schema, OpenAPI (JSON or YAML) and SQL.
        ``index`` reads their fields and columns. None by default: a file's name does not tell.
    model : str or tuple of str
        The model to ask, as ``provider:name``, or ``offline``, which needs no key. Of a list, each is asked
        if those before it gave no usable reply.
    prices : mapping of str to PriceSettings
        Prices by model, as in ``model``.
    endpoints : mapping of str to EndpointSettings
        Providers of your own, by name; one with a known name replaces its address and key.
    """

    data_dir: str = "data"
    retention_days: int | None = field(default=None, metadata={"least": 1, "most": 36_500})
    executor: str | None = None
    categories: tuple[CategoryRule, ...] = ()
    tools: Mapping[str, ToolSettings] = field(default_factory=dict)
    ok: tuple[OkRule, ...] = ()
    language: Literal["en", "ko"] = "en"
    handoff: tuple[str, ...] = ()
    outcome: OutcomeSettings = OutcomeSettings()
    axis_slugs: Mapping[str, str] = field(default_factory=dict)
    gates: GateSettings = GateSettings()
    replay: ReplaySettings = field(default=ReplaySettings())
    reach: ReachSettings = field(default=ReachSettings())
    measure: MeasureSettings = field(default=MeasureSettings())
    forge: ForgeSettings = field(default=ForgeSettings())
    sanitize: SanitizeSettings = SanitizeSettings()
    docstring: DocstringSettings = field(default=DocstringSettings())
    effect: EffectSettings = field(default=EffectSettings())
    limits: LimitSettings = LimitSettings()
    search: SearchSettings = SearchSettings()
    schemas: tuple[str, ...] = ()
    service: ServiceSettings = ServiceSettings()
    model: str | tuple[str, ...] = "offline"
    prices: Mapping[str, PriceSettings] = field(default_factory=dict)
    endpoints: Mapping[str, EndpointSettings] = field(default_factory=dict)

    def selectors(self) -> dict[str, tuple[str, ...]]:
        """Return the selectors of the configured tools."""
        return {name: tool.selectors for name, tool in self.tools.items()}

    def failed_results(self) -> dict[str, frozenset[str]]:
        """Return the fields of results, and their values in failed calls, in lower case."""
        return {rule.field: frozenset(value.lower() for value in rule.fails) for rule in self.ok}

    def outcome_rule(self) -> OutcomeRule | None:
        """Return the rule of ``outcome``, or None if no score is named."""
        return parse_rule(self.outcome.score) if self.outcome.score else None
