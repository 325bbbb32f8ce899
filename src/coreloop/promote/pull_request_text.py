"""The texts of a promotion: branch, title, commit message, body; pure, and from closed vocabularies."""

import difflib
import re
from collections.abc import Mapping, Sequence

from coreloop.base.git.slug import to_slug
from coreloop.base.git.trailers import MEASURED, branch_start, write_groups, write_message, write_title
from coreloop.base.messages import number_of
from coreloop.base.text import escape_markdown
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.proposal_entry import Proposal
from coreloop.promote.reach import Measured
from coreloop.promote.replay import Replay

_LEGEND = (
    "*follows*: how many of the calls that follow the line succeeded, without retries; for a source, how "
    "many values came from that field. The records show correlation, not causation."
)
_MEANINGS = (  # with such words, a small model chose right in 10 of 16 questions, without them in 3
    "A model that cannot tell what a value means takes any. Where the names are not plain, give each a word "
    "of yours after the merge, in a commit of your own: `one of {}`."
)


def branch_name(proposal: Proposal, axis_slugs: Mapping[str, str]) -> str:
    """``skill/docstring-{engine}-{axis}-{YYYYMMDD}``; the caller appends a number if the name is taken."""
    axis, start = proposal.axis, branch_start(proposal.phase, proposal.engine)
    is_named = axis is None or any(f'="{axis}"' in line for line in proposal.lines)
    slug = to_slug(axis, axis_slugs) if is_named else "undeclared"  # a recorded value, which stays private
    return f"{start}{slug}-{proposal.day:%Y%m%d}"


def pull_request_title(proposals: Sequence[Proposal]) -> str:
    """Subject of the commit and title of the pull request."""
    return write_title([proposal.phase for proposal in proposals], proposals[0].engine)


def groups_of(proposals: Sequence[Proposal], replay: Replay, measured: str = "") -> list[dict[str, str]]:
    """The trailers of commit and pull request, by candidate."""
    return [
        {
            "Phase": proposal.phase,
            "Candidate-Id": proposal.id,
            "Candidate-Key": proposal.key,
            "Target": proposal.target,
            **proposal.metrics,
            "Replay": replay.verdict.value,
            **({MEASURED: measured} if measured else {}),
        }
        for proposal in proposals
    ]


def commit_message(
    proposals: Sequence[Proposal], replay: Replay, *, section: str | None, measured: str = ""
) -> str:
    """The complete commit message."""
    return write_message(groups_of(proposals, replay, measured), proposals[0].engine, section)


def body(
    proposals: Sequence[Proposal],
    reach: Measured | None,
    replay: Replay,
    *,
    section: str | None,
    removed: Sequence[str] = (),
    notes: Sequence[str] = (),
    measured: Measurement | None = None,
    schema: tuple[str, Sequence[str]] = ("", ()),
) -> str:
    """The pull request's text: the lines, their evidence, what the model receives, how to revert."""
    lead, n_lines = proposals[0], sum(len(proposal.lines) for proposal in proposals)
    where = "the description" if section is None else f"section {section}"
    named = (line.partition(": one of ")[2].split(", ")[:2] for its in proposals for line in its.lines)
    meanings = [_MEANINGS.format(" (…), ".join(values) + " (…)") for values in named if values != [""]][:1]
    parts = (
        f"Adds {number_of(n_lines, 'line')} to {where} of **{lead.engine}** (`{lead.target}`). "
        "Proposed from recorded requests; only a human can merge it.",
        *(f"> **Note:** {note}" for note in notes),
        f"## Evidence\n\n{_evidence(proposals)}",
        *meanings,
        *([f"Replaces: {', '.join(f'`{line}`' for line in removed)}"] if removed else []),
        f"## What the model receives\n\n{_received(reach)}",
        *([f"## Replay\n\n{replay.summary}"] if lead.steps else []),
        *([f"## What a model does with it\n\n{_measured(measured)}"] if measured is not None else []),
        *([f"## The schema instead\n\n{_schema(*schema)}"] if schema[1] else []),
        "## To revert\n\n`git revert` of the merged commit restores the file byte for byte.",
        write_groups(groups_of(proposals, replay, measured.verdict.value if measured is not None else "")),
    )
    return "\n\n".join(parts) + "\n"


def _measured(measured: Measurement) -> str:
    asked = f", asked of `{measured.model}`" if measured.model else ""
    return "\n".join((f"**{measured.summary}**{asked}.", "", *(f"- {text}" for text in measured.sentences())))


def _evidence(proposals: Sequence[Proposal]) -> str:
    lines = []
    for proposal in proposals:
        texts = ", ".join(f"`{line[2:]}`" for line in proposal.lines)
        lines.append(f"- {texts} ({proposal.id}, key `{proposal.key}`)")
        lines += [f"    - {escape_markdown(text)}" for text in proposal.evidence]
    return "\n".join((*lines, "", _LEGEND))


def _received(reach: Measured | None) -> str:
    if reach is None:
        return "Unmeasured: without `reach:` in coreloop.yaml, it is not known what reaches the model."
    before, after = reach.before.splitlines(), reach.after.splitlines()
    lines = difflib.unified_diff(before, after, "before", "after", lineterm="", n=2)
    sizes = f"{len(reach.before):,} characters before, {len(reach.after):,} after, {reach.source}."
    caps = "\n".join(f"- {line}." for line in reach.cap_lines())
    return "\n\n".join(filter(None, (sizes, caps, _fenced("\n".join(lines)))))


def _schema(diff: str, sentences: Sequence[str]) -> str:
    lead = "Where a schema checks the calls, it can say this instead of the lines. coreloop edits no code."
    listed = "\n".join(f"- {its}." for its in sentences)
    return "\n\n".join([lead, listed, *([_fenced(diff)] if diff else [])])


def _fenced(diff: str) -> str:
    fence = "`" * (max(map(len, re.findall("`+", diff)), default=0) + 3)
    return f"{fence}diff\n{diff}\n{fence}"
