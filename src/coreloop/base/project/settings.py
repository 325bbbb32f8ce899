"""What coreloop.yaml can say: every key, its default and its bounds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args

from coreloop.base.project.model_settings import EndpointSettings, PriceSettings, SamplingSettings
from coreloop.base.project.outcome import OutcomeRule, parse_rule
from coreloop.base.records import DEFAULT_SELECTORS

_AT_LEAST_ONE: Final = {"least": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryRule:
    """A question with one of the keywords gets the label; if several rules match, the first applies.

    Attributes
    ----------
    label : str
        One to four parts of ASCII letters and digits joined by ``-``.
    any : tuple of str
        Keywords. A Korean keyword matches anywhere in the question; a Latin keyword matches whole words and
        their plural in ``s``.
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
        Its values in failed calls, as text: ``"false"``, ``"0"``, ``"error"``; in any case.
    """

    field: str
    fails: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """Where a tool's docstring is, and which arguments are its selectors.

    Attributes
    ----------
    target : str or None
        ``path.py::qualname``, or ``path.py::qualname:LINE`` if the file defines the name more than once.
        Without it, the tool's only definition in the project is used.
    selectors : tuple of str
        Arguments whose value chooses what the tool does. A value is written into a docstring only if it is
        in ``axis_slugs`` or a literal in the tool's file; otherwise ``<axis>`` is written.
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
        Characters of a complete answer. An answer shorter than ``min(200, min_chunk_len)`` is a failure; an
        answer between that and ``min_chunk_len`` is not counted. If absent, only an empty answer fails.
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
class ReplaySettings:
    """The endpoint that replays example questions.

    Attributes
    ----------
    url : str or None
        Address that receives each question as a POST request. The page on promoting shows the format.
    runs : int
        How many questions are asked in all.
    timeout_s : float
        Seconds to wait for an answer.
    """

    url: str | None = None
    runs: int = field(default=3, metadata=_AT_LEAST_ONE)
    timeout_s: float = field(default=60.0, metadata={"least": 0, "most": 3600})


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSettings:
    """What ``measure`` may ask a model.

    Attributes
    ----------
    never_ask : tuple of str
        Tools for whose calls no model is asked; requests are not shown to it up to such a call.
    contexts : bool
        Whether imports, adapters and collectors keep what the model had read up to each call, results too, in
        ``audit/contexts``, so that it is asked with whole conversations.
    timeout_s : float
        Seconds to wait for a reply: a small model on a machine without a GPU needs minutes.
    """

    never_ask: tuple[str, ...] = ()
    contexts: bool = False
    timeout_s: float = field(default=600.0, metadata={"least": 1, "most": 86_400})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachSettings:
    """How to read what the model receives: as the framework does, or with a command.

    Attributes
    ----------
    framework : str or None
        The agent framework. Requires ``tools``; excludes ``command``.
    tools : str or None
        ``module:attribute`` of the tools, or of a callable that returns them.
    python : str or None
        The Python interpreter that reads the tools. Default: for ``framework``, that of the project's
        ``.venv`` or, without one, coreloop's own; for ``command``, the ``python`` on the ``PATH``.
    command : tuple of str
        A program and its arguments that print the tools' schemas as JSON. Excludes ``framework``.
    caps : mapping of str to int
        Longest description, in characters, that a model or provider accepts. A longer one makes every request
        fail.
    """

    framework: str | None = None
    tools: str | None = None
    python: str | None = None
    command: tuple[str, ...] = ()
    caps: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeSettings:
    """Where pull requests go.

    Attributes
    ----------
    repo : str or None
        ``owner/name``. Default: taken from the remote's address.
    base : str
        The branch that promotions are merged into.
    max_open : int
        The largest number of promotions that may be open at once.
    """

    repo: str | None = None
    base: str = "main"
    max_open: int = field(default=3, metadata=_AT_LEAST_ONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySettings:
    """What ``status`` runs for each alarm that is raised or cleared, and for each candidate that newly waits.

    Attributes
    ----------
    command : tuple of str
        A program and its arguments, run once per change with a JSON document on standard input.
    """

    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUpSettings:
    """When a change that has no verdict yet is given up, so that its line is proposed to be retired.

    Attributes
    ----------
    calls : int
        Calls since the change.
    days : int
        Days since the change.
    """

    calls: int = field(default=2_000, metadata=_AT_LEAST_ONE)
    days: int = field(default=90, metadata=_AT_LEAST_ONE)


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
class EffectSettings:
    """How ``effect`` judges changes of descriptions.

    Attributes
    ----------
    deploy_lag_days : int
        Days from a merge until every model gets the new description. Only for records without a
        ``tools_version``; the days that may have both descriptions are left out.
    give_up : GiveUpSettings
        When a change without a verdict is given up.
    """

    deploy_lag_days: int = field(default=1, metadata={"least": 0, "most": 60})
    give_up: GiveUpSettings = GiveUpSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnDetector:
    """A form of private data that only this project has.

    Attributes
    ----------
    name : str
        Two to nine capital letters, as in the label: ``STAFF`` becomes ``[STAFF-1]``.
    pattern : str
        A regular expression in Python's syntax, without unlimited repeats: ``{1,40}``, not ``+``. The group
        ``value``, or else the whole match, is masked.
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
        Countries whose numbers, telephones, addresses and names are searched: ``kr``, ``us``, ``uk``, ``eu``.
        Fewer countries are faster. E-mail addresses, links, credentials, cards, dates of birth and English
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
        US dollars that all runs may spend in a day (UTC). If absent, only each run's own limits apply.
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
        Files and folders that should be indexed, relative to coreloop.yaml: what ``index`` reads without
        arguments, and what ``repair gates`` counts.
    """

    providers: tuple[SearchProvider, ...] = ("index",)
    searxng_url: str | None = None
    paths: tuple[str, ...] = (".",)


@dataclass(frozen=True, slots=True)
class RepairSettings:
    """The repair of failed answers.

    Attributes
    ----------
    max_per_hour : int
        Rounds of repair that all answers together may take in an hour (UTC).
    """

    max_per_hour: int = field(default=200, metadata={"least": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """What ``serve`` accepts. Requests, runs and open requests are counted by API key, in each process.

    Attributes
    ----------
    hosts : tuple of str
        Names by which clients reach the service, without port; its own address and ``localhost`` always work.
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
        What the ended runs of a key may have spent in a day (UTC), in all processes, before a new run is
        refused; None for no limit.
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
class DocstringSettings:
    """Where lines go in a docstring, and in which style.

    Attributes
    ----------
    placement : str
        ``first-block``: the end of the first block of text, which every framework sends; ``section``: the end
        of Guide or Caveats, for a project whose schemas include sections.
    style : str
        The style of a section that is added to a docstring without sections.
    sections : tuple of str
        The sections that ``docstring check`` looks for.
    max_lines : int
        Most promoted lines in one place of a description. Where it is full, a new line must be
        worth more than the weakest there, which it replaces in one commit; else it is refused.
    max_chars : int
        Most characters of these lines.
    """

    placement: Literal["first-block", "section"] = "first-block"
    style: Literal["numpydoc", "google", "markdown"] = "numpydoc"
    sections: tuple[str, ...] = (
        "Summary",
        "Description",
        "Parameters",
        "Returns",
        "Raises",
        "Examples",
        "Notes",
        "Guide",
        "See Also",
    )
    max_lines: int = field(default=12, metadata=_AT_LEAST_ONE)
    max_chars: int = field(default=1_500, metadata=_AT_LEAST_ONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The keys at the top level of coreloop.yaml.

    Attributes
    ----------
    data_dir : str
        The folder for records (``audit/``), knowledge (``ai/knowledge/``) and audit notes
        (``dart/auditAnalysis/``).
    retention_days : int or None
        ``pattern`` removes files whose newest record is older than this many days, and a new run removes the
        runs in which nothing has happened for as long. If absent, nothing is removed. Records at an address
        are never removed.
    categories : tuple of CategoryRule
        Categories of questions.
    tools : mapping of str to ToolSettings
        Tools by name.
    ok : tuple of OkRule
        Results that say that their call failed, for importers and observed tools without a predicate of
        their own; replaces the default, ``success: false``, ``isError: true`` and ``status: error``.
    language : str
        Language of proposed lines, ``en`` or ``ko``.
    handoff : tuple of str
        Tools that hand a request over to a human. Such a request is neither a success nor a failure, unless
        it has a verdict.
    outcome : OutcomeSettings
        Which score of another system is a verdict.
    axis_slugs : mapping of str to str
        Selector values that may be written into a docstring, and their names in branches.
    schemas : tuple of str
        Files that declare data, relative to coreloop.yaml: JSON Schema, OpenAPI (JSON or YAML) and SQL.
        ``index`` reads their fields and columns.
    repair : RepairSettings
        The repair of failed answers.
    model : str or tuple of str
        The model to ask, as ``provider:name``, or ``offline``. In a list, or separated by commas, each is
        asked if those before it gave no usable reply.
    prices : mapping of str to PriceSettings
        Prices by model, as in ``model``.
    sampling : SamplingSettings
        Sent with each question to a model.
    endpoints : mapping of str to EndpointSettings
        Providers of your own, by name; one with a known name replaces it.
    """

    data_dir: str = "data"
    retention_days: int | None = field(default=None, metadata={"least": 1, "most": 36_500})
    categories: tuple[CategoryRule, ...] = ()
    tools: Mapping[str, ToolSettings] = field(default_factory=dict)
    ok: tuple[OkRule, ...] = (
        OkRule(field="success", fails=("false", "0")),
        OkRule(field="isError", fails=("true",)),
        OkRule(field="status", fails=("error",)),
    )
    language: Literal["en", "ko"] = "en"
    handoff: tuple[str, ...] = ()
    outcome: OutcomeSettings = OutcomeSettings()
    axis_slugs: Mapping[str, str] = field(default_factory=dict)
    gates: Gates = Gates()
    replay: ReplaySettings = ReplaySettings()
    reach: ReachSettings = ReachSettings()
    measure: MeasureSettings = MeasureSettings()
    forge: ForgeSettings = ForgeSettings()
    sanitize: SanitizeSettings = SanitizeSettings()
    docstring: DocstringSettings = DocstringSettings()
    effect: EffectSettings = EffectSettings()
    notify: NotifySettings = NotifySettings()
    limits: LimitSettings = LimitSettings()
    search: SearchSettings = SearchSettings()
    schemas: tuple[str, ...] = ()
    repair: RepairSettings = RepairSettings()
    service: ServiceSettings = ServiceSettings()
    model: str | tuple[str, ...] = "offline"
    prices: Mapping[str, PriceSettings] = field(default_factory=dict)
    sampling: SamplingSettings = field(default=SamplingSettings())
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

    def keywords(self, label: str) -> tuple[str, ...]:
        """Return the keywords of every rule with a label."""
        return tuple(word for rule in self.categories if rule.label == label for word in rule.any)
