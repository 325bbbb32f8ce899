"""The text of the dashboard issue, and the verdicts under merged pull requests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex
from typing import TYPE_CHECKING

import orjson

from coreloop.base.errors import UsageError
from coreloop.base.messages import number_of
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import escape_markdown, linked_markdown
from coreloop.base.validation import ShapeError, decode

if TYPE_CHECKING:
    from coreloop.admin.status.status import Status
    from coreloop.learn.effect.effect import Effect


@dataclass(frozen=True, slots=True)
class VerdictComment:
    """The text under a merged pull request."""

    pull_request: int
    text: str


def job_outputs(workspace: Workspace, proposed: str, *, now: datetime, environ: Mapping[str, str]) -> str:
    """Return the outputs ``page`` and ``comments`` of a job, as GitHub reads them from a file.

    Parameters
    ----------
    workspace : Workspace
        The project whose status they tell.
    proposed : str
        The night's sanitized proposals as Markdown.
    now : datetime
        With a zone.
    environ : mapping
        As for `coreloop.admin.status.read_status.read_status`.
    """
    from coreloop.admin.status.read_status import read_status

    status = read_status(workspace, now=now, environ=environ)
    comments = orjson.dumps(verdict_comments(status)).decode()
    end = f"end-{token_hex(16)}"  # a delimiter that no text can contain on purpose
    return f"page<<{end}\n{dashboard_page(status, proposed)}\n{end}\ncomments<<{end}\n{comments}\n{end}"


def verdict_comments(status: "Status") -> tuple[VerdictComment, ...]:
    """The comments on the promotions that have a verdict; several tools of one pull request share one."""
    texts: dict[int, list[str]] = {}
    for effect in status.effects:
        change = effect.change
        if change.pull_request is not None and change.is_ours and effect.decided_on is not None:
            texts.setdefault(change.pull_request, []).append(_verdict(effect))
    return tuple(VerdictComment(number, "\n\n".join(parts)) for number, parts in texts.items())


def _verdict(effect: "Effect") -> str:
    lines = [f"**{escape_markdown(effect.change.tool)}: {effect.verdict}**, since {effect.decided_on}."]
    if effect.look is not None:
        look, found = effect.look, effect.look.estimate
        against = (
            f"compared with {number_of(found.n_controls, 'tool')} that did not change"
            if found.n_controls
            else "compared with its own past only"
        )
        lines.append(
            f"Before {found.before:.1%} of its calls failed, after {found.after:.1%} "
            f"({found.n_after:,} calls in {number_of(look.day, 'day')}); without this change "
            f"{found.expected:.1%} were expected. The difference is {100 * found.difference:+.1f} points, "
            f"surely between {100 * look.low:+.1f} and {100 * look.high:+.1f}, {against}."
        )
    if effect.todo:
        lines.append(f"To do: {escape_markdown(effect.todo)}")
    return "\n\n".join(lines)


def read_comments(text: str) -> tuple[VerdictComment, ...]:
    """Read the output ``comments`` of an earlier job.

    Raises
    ------
    UsageError
        It is not that.
    """
    try:
        return decode(text.encode(), tuple[VerdictComment, ...]) if text.strip() else ()
    except ShapeError as error:
        raise UsageError(f"COMMENTS is not what nightly wrote ({error})") from error


def dashboard_page(status: "Status", proposed: str) -> str:
    """The page as Markdown.

    Parameters
    ----------
    status : Status
        What waits and what is wrong.
    proposed : str
        The night's sanitized proposals as Markdown; may be empty.
    """
    sections = (_section("Waits", _waits(status)), _section("Wrong", _wrong(status)), proposed.strip())
    return "\n\n".join(filter(None, sections)) + "\n"


def dashboard_body(page: str, *, result: str, run_url: str) -> str:
    """The issue's text: the result of the nightly run, and the page if the run came that far."""
    opening = f"The [newest nightly run]({run_url}) ended with **{escape_markdown(result)}**."
    rest = page.strip() or "It wrote no status: no logs were found, or an earlier step failed."
    ending = "Edited by every nightly run; changes to this text are lost. `CORELOOP_DASHBOARD` turns it off."
    return f"{opening}\n\n{rest}\n\n{ending}\n"


def _section(title: str, lines: Iterator[str]) -> str:
    return "\n".join((f"### {title}\n", *(list(lines) or ["- nothing"])))


def _waits(status: "Status") -> Iterator[str]:
    for origin, standing in (("from pattern", status.candidates), ("from refine", status.counterexamples)):
        if standing.pending:
            since = f", the oldest since {standing.oldest}" if standing.oldest else ""
            yield f"- {number_of(standing.pending, 'proposal')} {origin} for a promotion or a verdict{since}"
    for promotion in status.promotions.open if status.promotions is not None else ():
        where = linked_markdown(promotion.url or f"branch {promotion.branch}, no pull request known")
        yield f"- open since {promotion.since:%Y-%m-%d}: {where}"


def _wrong(status: "Status") -> Iterator[str]:
    for alarm in status.alarms:
        yield f"- **{linked_markdown(alarm.text)}**: {linked_markdown(alarm.todo)}"
    for note in status.notes:
        yield f"- {linked_markdown(note)}"
