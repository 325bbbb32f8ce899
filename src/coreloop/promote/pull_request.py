"""The words of a promotion: branch, title, commit message, body. All from closed vocabularies, and pure."""

import difflib
from collections.abc import Mapping

from coreloop.history.slug import to_slug
from coreloop.history.trailers import branch_start, write_title, write_trailers
from coreloop.promote.proposal import Proposal
from coreloop.promote.reach import Reach
from coreloop.promote.replay import Replay
from coreloop.text import counted

_UNDECLARED = "undeclared"


def branch_name(proposal: Proposal, axis_slugs: Mapping[str, str]) -> str:
    """``skill/docstring-{engine}-{axis}-{YYYYMMDD}``; ``-2`` and so on is the caller's business."""
    start = branch_start(proposal.phase, proposal.engine)
    return f"{start}{_axis_slug(proposal, axis_slugs)}-{proposal.day:%Y%m%d}"


def _axis_slug(proposal: Proposal, axis_slugs: Mapping[str, str]) -> str:
    """The axis by name only where the text names it too; else it is a value that nobody declared."""
    axis = proposal.axis
    declared = axis is None or any(f'="{axis}"' in line for line in proposal.lines)
    return to_slug(axis, axis_slugs) if axis is None or declared else _UNDECLARED


def pull_request_title(proposal: Proposal) -> str:
    """Subject of the commit and title of the pull request."""
    return write_title(proposal.phase, proposal.engine)


def trailers(proposal: Proposal, replay: Replay) -> str:
    """The trailers that commit and pull request share."""
    return write_trailers(
        {
            "Phase": proposal.phase,
            "Candidate-Id": proposal.id,
            "Candidate-Key": proposal.key,
            "Target": f"{proposal.file}::{proposal.symbol}",
            **proposal.figures,
            "Replay": replay.verdict.value,
        }
    )


def commit_message(proposal: Proposal, replay: Replay) -> str:
    """The whole message of the one commit."""
    target = f"{proposal.file}::{proposal.symbol}"
    subject, said = pull_request_title(proposal), f"Appends to {proposal.section} of {target}."
    return f"{subject}\n\n{said}\n\n{trailers(proposal, replay)}\n"


def body(proposal: Proposal, reach: Reach, replay: Replay, *, notes: tuple[str, ...] = ()) -> str:
    """The pull request's text: the evidence, what the model will read, the replay, how to take it back."""
    target = f"`{proposal.file}::{proposal.symbol}`"
    lines = counted(len(proposal.lines), "line")
    parts = (
        f"Appends {lines} to **{proposal.section}** of {target}. This draft was "
        "proposed from recorded requests; only a human can merge it.",
        *(f"> **Note:** {note}" for note in notes),
        f"## Evidence\n\n{_evidence(proposal)}",
        f"## What the model receives\n\n{_received(reach)}",
        f"## Replay\n\n{replay.summary}",
        "## To take it back\n\n`git revert` of the merged commit restores the file byte for byte.",
        trailers(proposal, replay),
    )
    return "\n\n".join(parts) + "\n"


def _evidence(proposal: Proposal) -> str:
    rows = (f"| {name} | {value} |" for name, value in proposal.rows)
    return "\n".join(("| what | figure |", "|---|---|", *rows))


def _received(reach: Reach) -> str:
    source = (
        "As the project's schema command prints it."
        if reach.measured
        else "No `reach:` command is set: the description is taken to be the whole docstring."
    )
    lines = difflib.unified_diff(
        reach.before.splitlines(), reach.after.splitlines(), "before", "after", lineterm="", n=2
    )
    diff = "\n".join(lines)
    fence = "`" * (_longest_run(diff, "`") + 3)
    caps = "\n".join(cap_line(reach, cap.provider) for cap in reach.caps)
    sizes = f"{len(reach.before):,} characters before, {len(reach.after):,} after."
    return f"{source} {sizes}\n\n{caps}\n\n{fence}diff\n{diff}\n{fence}"


def cap_line(reach: Reach, provider: str) -> str:
    """What a provider's limit does to the appended lines."""
    cap = next(one for one in reach.caps if one.provider == provider)
    force = "binds" if cap.binds else "does not bind: not among the providers of the evidence"
    cut = f"cuts {len(cap.lost)} of the appended lines" if cap.lost else "cuts none of the appended lines"
    return f"- {provider} reads {cap.limit:,} characters and {cut} ({force})."


def _longest_run(text: str, sign: str) -> int:
    longest = 0
    while sign * (longest + 1) in text:
        longest += 1
    return longest
