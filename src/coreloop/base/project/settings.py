"""What coreloop.yaml can say: the keys at its top, and those of records, proposals and answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args

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

_AT_LEAST_ONE: Final = {"least": 1}
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
        ``path.py::qualname``. Default: the tool's only definition.
    selectors : tuple of str
        Arguments whose value chooses what the tool does. A value is written into a docstring only if it is
        in ``axis_slugs`` or a literal in the tool's file.
    """

    target: str | None = None
    selectors: tuple[str, ...] = DEFAULT_SELECTORS


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """Thresholds that a pattern or a group of failures must reach to be proposed.

    Attributes
    ----------
    min_repeat : int
        Fewest requests of a pattern.
    min_unique_questions : int
        Fewest distinct questions of a pattern.
    min_chunk_len : int or None
        Characters of a complete answer. One shorter than ``min(200, min_chunk_len)`` is a failure; one
        between that and ``min_chunk_len`` is not counted. If absent, only an empty answer fails.
    min_success_rate : float
        Share of a pattern's counted requests that must succeed.
    min_failures : int
        Fewest failures of a group.
    """

    min_repeat: int = field(default=3, metadata=_AT_LEAST_ONE)
    min_unique_questions: int = field(default=3, metadata=_AT_LEAST_ONE)
    min_chunk_len: int | None = field(default=None, metadata={"least": 0})
    min_success_rate: float = field(default=1.0, metadata={"least": 0, "most": 1})
    min_failures: int = field(default=2, metadata=_AT_LEAST_ONE)

    def chosen(self, **values: float | None) -> "Gates":
        """Return a copy with the given values; None keeps a gate as it is."""
        changes: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSettings:
    """Which score of another system says whether a request succeeded: in importers, and in spans.

    Attributes
    ----------
    score : str
        Its name, as in Langfuse, in ``gen_ai.evaluation.name`` or in an annotation; empty: none does.
    success : str
        How a successful request's score compares: ``>= 0.5``, ``== good``.
    """

    score: str = ""
    success: str = ">= 0.5"


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
        Companies to mask besides those of the public listing that ``kr`` has: a list of names, or a file of
        code, name, aliases (joined by a vertical bar), separated by tabs.
    detect : list of OwnDetector
        Private data that only this project has.
    allow : list of str
        Values that stay. A finding stays if its whole text is one of them.
    countries : list of str
        Countries whose numbers, telephones, addresses and names are searched. Fewer are faster. E-mail
        addresses, links, credentials, cards, dates of birth and English names are always searched.
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
        US dollars that all runs may spend in a day (UTC).
    """

    usd_per_day: float | None = field(default=None, metadata={"least": 0})


SearchProvider = Literal["index", "searxng", "tavily", "arxiv"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Where a research searches.

    Attributes
    ----------
    providers : tuple of {'index', 'searxng', 'tavily', 'arxiv'}
        In order: the next one is asked if those before it found nothing or failed. ``tavily`` needs the
        environment variable ``TAVILY_API_KEY``.
    searxng_url : str or None
        The address of your instance of SearXNG.
    paths : tuple of str
        Files and folders, relative to coreloop.yaml, that ``index`` reads and ``repair gates`` counts.
    morphemes : bool
        Compare Korean words by morphemes; needs the extra ``korean``.
    encoder : str or None
        Of sentence vectors: ``PROVIDER:MODEL`` or a local ``.onnx``; needs the extra ``semantic``.
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
class SamplingSettings:
    """How a model chooses among words, so that the same question gets the same answer where it can.

    An endpoint that refuses one of them is asked without it from then on; `runs show` says so.

    Attributes
    ----------
    temperature : float or None
        0 for the likeliest words; null to leave it to the endpoint.
    seed : int or None
        The seed for endpoints that draw by one; null to send none.
    """

    temperature: float | None = field(default=0.0, metadata={"least": 0, "most": 2})
    seed: int | None = field(default=1, metadata={"least": 0, "most": 2**31 - 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """An address that answers OpenAI's chat completions.

    Attributes
    ----------
    url : str
        Up to and without ``/chat/completions``. ``{NAME}`` stands for an environment variable.
    key : str or None
        The environment variable that holds the key. An endpoint without a key costs nothing.
    key_header : str
        ``Authorization`` (the key as ``Bearer``), or a header that takes the key alone.
    json_schema : bool
        Whether the endpoint restricts a reply to a JSON Schema.
    max_tokens : str
        The parameter that limits the tokens of a reply.
    tool_calls : bool
        Whether its models take tools and call them.
    """

    url: str
    key: str | None = None
    key_header: str = "Authorization"
    json_schema: bool = True
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tool_calls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """What ``serve`` accepts. Requests, runs and open requests are counted by API key, in each process.

    Attributes
    ----------
    hosts : tuple of str
        Names by which clients reach the service, without port, beside its own address and ``localhost``.
    origins : tuple of str
        Web pages of other hosts that may call it, such as ``https://tools.example``.
    workers : int
        Runs and jobs that a process works on at once.
    max_body_bytes : int
        The largest body of a request.
    requests_per_minute : int
        On average, after a start of as many at once as are due in six seconds.
    runs_per_minute : int
        New runs, as above.
    open_requests : int
        Requests under way at once, event streams included.
    max_queued : int
        Jobs that may wait, in all processes; a new run is refused beyond.
    usd_per_key_per_day : float or None
        What the ended runs of a key may have spent in a day (UTC) before a new run is refused.
    """

    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    workers: int = field(default=4, metadata={"least": 1, "most": 64})
    max_body_bytes: int = field(default=100_000, metadata={"least": 1_000, "most": 100_000_000})
    requests_per_minute: int = field(default=6_000, metadata=_AT_LEAST_ONE)
    runs_per_minute: int = field(default=600, metadata=_AT_LEAST_ONE)
    open_requests: int = field(default=1_000, metadata=_AT_LEAST_ONE)
    max_queued: int = field(default=2_000, metadata=_AT_LEAST_ONE)
    usd_per_key_per_day: float | None = field(default=None, metadata={"least": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The keys at the top level of coreloop.yaml.

    Attributes
    ----------
    data_dir : str
        The folder for records (``audit/``), knowledge (``ai/knowledge/``) and audit notes
        (``dart/auditAnalysis/``).
    retention_days : int or None
        ``pattern`` removes files whose newest record is older than this many days, and a new run removes runs
        in which nothing has happened for as long. If absent, nothing is removed.
    executor : str or None
        What reads records: ``processes``, or a Dask scheduler such as ``tcp://host:8786``. If absent,
        processes read more than 64 MB.
    categories : tuple of CategoryRule
        Categories of questions.
    tools : mapping of str to ToolSettings
        Tools by name.
    ok : tuple of OkRule
        Results that say that their call failed; replaces what coreloop knows of fields, such as
        ``success: false`` and ``isError: true``.
    language : str
        Language of proposed lines, ``en`` or ``ko``.
    handoff : tuple of str
        Tools that hand a request over to a human; it counts only with a verdict.
    outcome : OutcomeSettings
        Which score of another system is a verdict.
    axis_slugs : mapping of str to str
        Selector values that may be written into a docstring, and their names in branches.
    schemas : tuple of str
        Files that declare data, relative to coreloop.yaml: JSON Schema, OpenAPI (JSON or YAML) and SQL.
        ``index`` reads their fields and columns.
    model : str or tuple of str
        The model to ask, as ``provider:name``, or ``offline``. Of a list, each is asked if those before it
        gave no usable reply.
    prices : mapping of str to PriceSettings
        Prices by model, as in ``model``.
    sampling : SamplingSettings
        Sent with each question to a model.
    endpoints : mapping of str to EndpointSettings
        Providers of your own, by name; one with a known name replaces it.
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
    gates: Gates = Gates()
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
    sampling: SamplingSettings = SamplingSettings()
    endpoints: Mapping[str, EndpointSettings] = field(default_factory=dict)

    def selectors(self) -> dict[str, tuple[str, ...]]:
        """Return the selectors of the configured tools."""
        return {name: tool.selectors for name, tool in self.tools.items()}

    def failed_results(self) -> dict[str, frozenset[str]]:
        """Return the fields of results, and their values in failed calls, in lower case."""
        return {rule.field: frozenset(value.lower() for value in rule.fails) for rule in self.ok}

    def outcome_rule(self) -> OutcomeRule | None:
        """Return the rule of ``outcome``, or None if no score is named."""
        return parse_rule(self.outcome.score, self.outcome.success) if self.outcome.score else None
