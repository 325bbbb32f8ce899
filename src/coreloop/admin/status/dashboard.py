"""The text of the dashboard issue, from the output of ``status --json``: what waits and what is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coreloop.base.errors import UsageError, WorkspaceError
from coreloop.base.files import read_file
from coreloop.base.text import counted, escape_markdown, linked_markdown
from coreloop.base.validation import ShapeError, decode


@dataclass(frozen=True, slots=True)
class StandingFacts:
    """Candidates or counterexamples in ``status --json``."""

    pending: int
    oldest: str | None = None


@dataclass(frozen=True, slots=True)
class OpenFacts:
    """An open promotion in ``status --json``."""

    branch: str
    since: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class PromotionFacts:
    """The promotions in ``status --json``."""

    open: tuple[OpenFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class AlarmFacts:
    """An alarm in ``status --json``."""

    text: str
    todo: str


@dataclass(frozen=True, slots=True)
class EffectMetrics:
    """The estimate of a change in ``status --json``."""

    before: float
    expected: float
    after: float
    difference: float
    low: float
    high: float
    n_after: int
    day: int
    n_controls: int


@dataclass(frozen=True, slots=True)
class EffectFacts:
    """A change and its verdict in ``status --json``."""

    tool: str
    by: str
    verdict: str
    todo: str
    decided_on: str | None = None
    pull_request: int | None = None
    figures: EffectMetrics | None = None


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """The fields of ``status --json`` that the dashboard shows."""

    candidates: StandingFacts
    counterexamples: StandingFacts
    promotions: PromotionFacts | None
    notes: tuple[str, ...]
    alarms: tuple[AlarmFacts, ...]
    effects: tuple[EffectFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictComment:
    """The text under a merged pull request."""

    pull_request: int
    text: str


def verdict_comments(facts: StatusFacts) -> tuple[VerdictComment, ...]:
    """The comments on the promotions that have a verdict; several tools of one pull request share one."""
    texts: dict[int, list[str]] = {}
    for effect in facts.effects:
        if effect.pull_request is not None and effect.by == "coreloop" and effect.decided_on is not None:
            texts.setdefault(effect.pull_request, []).append(_verdict(effect))
    return tuple(VerdictComment(number, "\n\n".join(parts)) for number, parts in texts.items())


def _verdict(effect: EffectFacts) -> str:
    lines = [f"**{escape_markdown(effect.tool)}: {effect.verdict}**, since {effect.decided_on}."]
    if effect.figures is not None:
        found = effect.figures
        against = (
            f"compared with {counted(found.n_controls, 'tool')} that did not change"
            if found.n_controls
            else "compared with its own past only"
        )
        lines.append(
            f"Before {found.before:.1%} of its calls failed, after {found.after:.1%} "
            f"({found.n_after:,} calls in {counted(found.day, 'day')}); without this change "
            f"{found.expected:.1%} were expected. The difference is {100 * found.difference:+.1f} points, "
            f"surely between {100 * found.low:+.1f} and {100 * found.high:+.1f}, {against}."
        )
    if effect.todo:
        lines.append(f"To do: {escape_markdown(effect.todo)}")
    return "\n\n".join(lines)


def read_comments(text: str) -> tuple[VerdictComment, ...]:
    """Read what ``--comments`` printed.

    Raises
    ------
    UsageError
        It is not that.
    """
    try:
        return decode(text.encode(), tuple[VerdictComment, ...]) if text.strip() else ()
    except ShapeError as error:
        raise UsageError(f"COMMENTS is not the output of --comments ({error})") from error


def read_facts(path: Path) -> StatusFacts:
    """Read a file with the output of ``status --json``.

    Raises
    ------
    WorkspaceError
        The file is absent or is not such output.
    """
    try:
        return decode(read_file(path), StatusFacts)
    except ShapeError as error:
        raise WorkspaceError(f"is not the output of status --json ({error})", path=path) from error


def dashboard_page(facts: StatusFacts, proposed: str) -> str:
    """The page as Markdown.

    Parameters
    ----------
    facts : StatusFacts
        The status.
    proposed : str
        The night's sanitized proposals as Markdown; may be empty.
    """
    sections = (_section("Waits", _waits(facts)), _section("Wrong", _wrong(facts)), proposed.strip())
    return "\n\n".join(filter(None, sections)) + "\n"


def dashboard_body(page: str, *, result: str, run_url: str) -> str:
    """The issue's text: the result of the nightly run, and the page if the run came that far."""
    opening = f"The [newest nightly run]({run_url}) ended with **{escape_markdown(result)}**."
    rest = page.strip() or "It wrote no status: no logs were found, or an earlier step failed."
    ending = "Edited by every nightly run; changes to this text are lost. `CORELOOP_DASHBOARD` turns it off."
    return f"{opening}\n\n{rest}\n\n{ending}\n"


def _section(title: str, lines: Iterator[str]) -> str:
    return "\n".join((f"### {title}\n", *(list(lines) or ["- nothing"])))


def _waits(facts: StatusFacts) -> Iterator[str]:
    for origin, standing in (("from pattern", facts.candidates), ("from refine", facts.counterexamples)):
        if standing.pending:
            since = f", the oldest since {linked_markdown(standing.oldest)}" if standing.oldest else ""
            yield f"- {counted(standing.pending, 'proposal')} {origin} for a promotion or a verdict{since}"
    for promotion in facts.promotions.open if facts.promotions is not None else ():
        where = linked_markdown(promotion.url or f"branch {promotion.branch}, no pull request known")
        yield f"- open since {linked_markdown(promotion.since[:10])}: {where}"


def _wrong(facts: StatusFacts) -> Iterator[str]:
    for alarm in facts.alarms:
        yield f"- **{linked_markdown(alarm.text)}**: {linked_markdown(alarm.todo)}"
    for note in facts.notes:
        yield f"- {linked_markdown(note)}"
