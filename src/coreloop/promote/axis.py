"""Phase A: propose a new axis from a long history of promotions (R and F), for a human to build.

A commit's trailers name the docstring, not the axis; the axis is read from the lines that it added.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from coreloop.base.errors import UsageError
from coreloop.base.files import read_file, write_public
from coreloop.base.git.promotions import Promotion, read_history
from coreloop.base.git.repository import Commit, Repository
from coreloop.base.git.slug import to_slug
from coreloop.base.git.trailers import read_promoted
from coreloop.base.project.settings import Settings, ToolSettings
from coreloop.base.project.tools import is_tool_name
from coreloop.base.project.workspace import Workspace
from coreloop.base.text import escape_markdown, printable
from coreloop.descriptions.own_lines import docstring_bullets, symbol_of
from coreloop.descriptions.texts import SUFFIXES
from coreloop.learn.line import AdvisedCall, parse_advice, parse_line

PROPOSALS_FOLDER: Final = PurePosixPath("docs/phase-a-proposals")
_MOST: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisRequest:
    """The request to ``propose-axis``.

    Attributes
    ----------
    engine : str
        A tool's name.
    axis : str or None
        A selector's value; None for the whole engine.
    phase_r_merges, phase_f_caveats, age_days : int
        Least figures of a history; all must be reached.
    """

    engine: str
    axis: str | None = None
    phase_r_merges: int = 3
    phase_f_caveats: int = 2
    age_days: int = 30


@dataclass(frozen=True, slots=True)
class AxisGate:
    """A threshold and the actual figure."""

    name: str
    figure: int
    needed: int

    @property
    def passed(self) -> bool:
        """Whether the figure reaches the threshold."""
        return self.figure >= self.needed


@dataclass(frozen=True, slots=True)
class PromotionEvidence:
    """A promotion of an engine, with its text.

    Attributes
    ----------
    metrics : str
        Its ``Evidence`` trailer.
    lines : tuple of str
        Lines that it added to the docstring; empty if a version of the file is unreadable.
    calls : tuple of AdvisedCall
        The calls in the lines.
    axes : tuple of str
        Selector values of the engine's last call with a selector, which is the call that a pattern documents.
    """

    promotion: Promotion
    metrics: str
    lines: tuple[str, ...]
    calls: tuple[AdvisedCall, ...]
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisCase:
    """The evidence for a proposal.

    Attributes
    ----------
    axis : str or None
        None for the whole engine.
    base, base_sha : str
        The branch that was read, and its commit.
    evidence : tuple of PromotionEvidence
        The evidence of this axis, in the order of merges; reverted promotions are included and do not count.
    first_merge : datetime or None
        When the first promotion of Phase R that is in effect was merged.
    axes : mapping of str to int
        Number of the whole engine's promotions in effect, by the selector values that they name.
    n_without_axis : int
        Promotions in effect without a declared value; they count for the whole engine only.
    engines : tuple of str
        Every engine with a promotion; empty if this engine has promotions.
    """

    engine: str
    axis: str | None
    base: str
    base_sha: str
    evidence: tuple[PromotionEvidence, ...]
    gates: tuple[AxisGate, ...]
    first_merge: datetime | None
    axes: Mapping[str, int]
    n_without_axis: int
    engines: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every gate is passed."""
        return all(gate.passed for gate in self.gates)

    @property
    def counted(self) -> tuple[PromotionEvidence, ...]:
        """The evidence of promotions in effect."""
        return tuple(item for item in self.evidence if not item.promotion.reverted)


def make_case(
    repository: Repository, workspace: Workspace, request: AxisRequest, *, now: datetime
) -> AxisCase:
    """Read and weigh the history of the base branch; nothing is fetched or written.

    Parameters
    ----------
    repository : Repository
        The project's.
    workspace : Workspace
        Has the base branch, the tools and the folder of targets.
    request : AxisRequest
        Engine, axis and least figures.
    now : datetime
        Aware.

    Raises
    ------
    UsageError
        The engine is not a tool name, or the axis is empty.
    GitError
        The clone is shallow or has no base branch.
    """
    engine, axis, settings = request.engine, _checked_axis(request), workspace.settings
    repository.require_history()
    base_sha = repository.base(settings.forge.base)
    history = read_history(repository, base_sha)
    commits = {commit.sha: commit for commit in history.commits}
    promotions = [its for its in history.promotions() if _is_inside(its.target)]
    folder = PurePosixPath(workspace.root.resolve().relative_to(repository.root.resolve()).as_posix())
    of_engine = [
        _evidence(repository, promotion, commits[promotion.sha], folder, engine)
        for promotion in promotions
        if engine in engines_of(promotion.target, settings.tools)
    ]
    evidence = tuple(item for item in of_engine if axis is None or axis in item.axes)
    counted = [item.promotion for item in evidence if not item.promotion.reverted]
    phases = Counter(its.phase for its in counted)
    merged = next((its for its in counted if its.phase == "R"), None)
    places = (merge.place for merge in history.merges if merge.promotion == merged)
    # when it came to the branch, whatever clocks said
    first = history.timestamp(next(places), now=now) if merged is not None else None
    age_days = (now - first).days if first is not None else 0
    in_effect = [item for item in of_engine if not item.promotion.reverted]
    every = {name for its in promotions for name in engines_of(its.target, settings.tools)}
    return AxisCase(
        engine=engine,
        axis=axis,
        base=settings.forge.base,
        base_sha=base_sha,
        evidence=evidence,
        gates=(
            AxisGate("Phase R merges", phases["R"], request.phase_r_merges),
            AxisGate("Phase F caveats", phases["F"], request.phase_f_caveats),
            AxisGate("days since the first merge", age_days, request.age_days),
        ),
        first_merge=first,
        axes=dict(Counter(axis for item in in_effect for axis in item.axes).most_common()),
        n_without_axis=sum(not item.axes for item in in_effect),
        engines=() if of_engine else tuple(sorted(every)),
    )


def _checked_axis(request: AxisRequest) -> str | None:
    """The axis of a valid request in NFC, since macOS decomposes Korean syllables."""
    if not is_tool_name(request.engine):
        raise UsageError(f"--engine {request.engine!r} is not a tool name")
    axis = _plain(request.axis) if request.axis is not None else None
    if axis == "":
        raise UsageError("--axis is empty; omit it to weigh the whole engine")
    return axis


def _plain(axis: str) -> str:
    return unicodedata.normalize("NFC", axis.strip('"')).strip()


def _is_inside(target: str) -> bool:
    """Whether a trailer's target is a docstring below the project's folder."""
    file, symbol = symbol_of(target)
    path = PurePosixPath(file)
    return bool(symbol) and path.suffix in SUFFIXES and not path.is_absolute() and ".." not in path.parts


def engines_of(target: str, tools: Mapping[str, ToolSettings]) -> set[str]:
    """Names of the tools that a docstring belongs to: those of coreloop.yaml, else its own name."""
    file, symbol = symbol_of(target)
    configured = {name: symbol_of(tool.target) for name, tool in tools.items() if tool.target}
    own = PurePosixPath(file), symbol.partition("[")[0]
    owners = {name for name, (path, its) in configured.items() if (PurePosixPath(path), its) == own}
    return owners or {own[1].rpartition(".")[2]}


def _evidence(
    repository: Repository, promotion: Promotion, commit: Commit, folder: PurePosixPath, engine: str
) -> PromotionEvidence:
    path = (folder / promotion.target.partition("::")[0]).as_posix()
    old = repository.read(commit.parents[0], path) if commit.parents else None
    new = repository.read(commit.sha, path)
    lines = docstring_bullets(new, promotion.target) - docstring_bullets(old, promotion.target)
    calls = tuple(call for line in lines.elements() for call in _calls(line, engine))
    own = [call for call in calls if call.name == engine and any(value for _, value in call.arguments)]
    axes = dict.fromkeys(map(_plain, own[-1].chosen()[0].values())) if own else ()
    groups = {group["Candidate-Key"]: group for group in read_promoted(commit.message)}
    metrics = groups[promotion.key].get("Evidence", "")
    return PromotionEvidence(promotion, metrics, tuple(lines.elements()), calls, tuple(axes))


def _calls(line: str, engine: str) -> tuple[AdvisedCall, ...]:
    """The calls that a line writes; a value that fails is the engine's own."""
    value, about = parse_line(line), parse_advice(line)
    if value is not None:
        return value.calls
    if about is None or about.form != "fails":
        return ()
    pairs = zip(about.items("argument"), about.items("value"), strict=True)
    return tuple(AdvisedCall(engine, (pair,)) for pair in pairs)


def run_propose_axis(
    workspace: Workspace, request: AxisRequest, *, now: datetime
) -> tuple[AxisCase, Path | None, bool]:
    """Weigh the history of an axis and, if every gate is passed, write the document.

    Parameters
    ----------
    workspace : Workspace
        The project.
    request : AxisRequest
        Engine, axis and least figures.
    now : datetime
        Aware; its day names the section.

    Raises
    ------
    UsageError
        The engine is not a tool name, or the axis is empty.
    GitError
        The repository is absent, the clone is shallow, or the base branch does not exist.
    WorkspaceError
        The document cannot be read or written.
    """
    case = make_case(Repository(workspace.root), workspace, request, now=now)
    if not case.passed:
        return case, None, False
    return case, *write_proposal(case, workspace, today=now.date())


def write_proposal(case: AxisCase, workspace: Workspace, *, today: date) -> tuple[Path, bool]:
    """Write the document, or add a section to an existing document.

    Parameters
    ----------
    case : AxisCase
        A case that passed every gate.
    workspace : Workspace
        Has the root, the slugs and the docstring sections.
    today : date
        Names the section; a document that has it is not changed.

    Returns
    -------
    tuple of Path and bool
        The document, and whether it was written.

    Raises
    ------
    WorkspaceError
        The document cannot be read or written.
    """
    axis = to_slug(case.axis, workspace.settings.axis_slugs)
    path = workspace.root / PROPOSALS_FOLDER / f"{to_slug(case.engine)}-{axis}.md"
    heading = f"## {today.isoformat()}: {_subject(case)}"
    old = read_file(path) if path.exists() else introduction(case, workspace.settings).encode()
    if heading.encode() in (line.rstrip() for line in old.splitlines()):
        return path, False
    gap = "\n" if old.endswith(b"\n") else "\n\n"
    write_public(path, old + f"{gap}{section(case, heading)}".encode())
    return path, True


def introduction(case: AxisCase, settings: Settings) -> str:
    """The head of the document: what it is, and what a human must do."""
    engine, sections = escape_markdown(case.engine), settings.docstring.sections
    override_key, task = (
        "its own override key",
        "choose which of the selector values below become functions or axes",
    )
    if case.axis is not None:
        axis = escape_markdown(case.axis)
        override_key, task = f"the override key of {axis}", f"make {axis} a documented axis of {engine}"
    file = next((item.promotion.target.partition("::")[0] for item in case.counted), "FILE")
    return (
        f"# Proposal: {_subject(case)}\n\n"
        f"`dartlab-coreloop propose-axis` wrote this document from the history of `{case.base}`. It made no "
        "code, branch or pull request. Each section below shows the history on the day in its heading.\n\n"
        "## What a human must do\n\n"
        f"- [ ] Decide whether {engine} should do this itself. The evidence shows what agents keep asking "
        "for and where calls keep failing, not that a feature is right.\n"
        f"- [ ] Override key: choose {override_key}, so that a caller can correct a wrong assumption.\n"
        f"- [ ] Axis: {task}.\n"
        f"- [ ] Docstring: write its {len(sections)} sections ({', '.join(sections)}); "
        f"`dartlab-coreloop docstring check {file}` lists missing sections.\n"
        "- [ ] Tests: one for each selector value below, one for each caveat.\n"
        "- [ ] Pull request: open it without coreloop's marks: no `[CORELOOP-…]` title, no `skill/` branch, "
        "no `coreloop` label, no trailers. With such a mark, the guard accepts docstring changes only.\n"
    )


def section(case: AxisCase, heading: str) -> str:
    """The section of a day."""
    gates = [f"| {gate.name} | {gate.figure} | {gate.needed} |" for gate in case.gates]
    parts = (
        heading,
        f"Read from `{case.base}` at `{case.base_sha[:12]}`.",
        "\n".join(("| gate | figure | needed |", "|---|---|---|", *gates)),
        f"### Evidence\n\n{_promotions(case)}",
        f"### Selector values\n\n{_selector_values(case)}",
    )
    return "\n\n".join(parts) + "\n"


def _subject(case: AxisCase) -> str:
    scope = "the whole engine" if case.axis is None else f"axis {escape_markdown(case.axis)}"
    return f"{escape_markdown(case.engine)}, {scope}"


def _promotions(case: AxisCase) -> str:
    """Every promotion, those that were reverted included, and the lines of the others."""
    rows, texts = ["| merged | phase | commit | proposal | evidence |", "|---|---|---|---|---|"], []
    for item in case.evidence:
        its = item.promotion
        commit, metrics = f"`{its.sha[:12]}`", escape_markdown(item.metrics)
        evidence = "reverted: does not count" if its.reverted else metrics
        day, id = f"{its.merged_at:%Y-%m-%d}", escape_markdown(its.candidate_id)
        rows.append(f"| {' | '.join((day, its.phase, commit, id, evidence))} |")
        if item.lines and not its.reverted:
            lines = "\n".join(f"    {printable(line)}" for line in item.lines)
            texts.append(f"{commit} added:\n\n{lines}")
    return "\n\n".join(("\n".join(rows), *texts))


def _selector_values(case: AxisCase) -> str:
    """How many promotions name each value."""
    counts = Counter[str]()
    for item in case.counted:
        own = [pair for call in item.calls if call.name == case.engine for pair in call.arguments]
        counts.update(sorted({f"{name}={_plain(value)}" for name, value in own if value is not None}))
    lines = [f"- {escape_markdown(name)}: {count}" for name, count in counts.most_common(_MOST)]
    return "\n".join(lines) or "None: no line names a selector value."
