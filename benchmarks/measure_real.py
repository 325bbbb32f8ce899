"""What lines do to a real small model; opt-in.

    local_model serve --port 9001                     # or any OpenAI-compatible server
    uv run python benchmarks/measure_real.py --url http://127.0.0.1:9001/v1 [--contexts 40] [--folder DIR]

In the demos' projects (help desk and finance), lines of up to three kinds are measured in two wordings, on
the same contexts; harm is printed as it comes out. The folder has projects and replies: interrupted anywhere,
it prints the table so far, and goes on when it is run again. Each model needs a folder of its own.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from coreloop.base.errors import ModelError, RefusedError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.learn.proposals.advice import parse_advice
from coreloop.learn.statements.wordings import CONDITIONS, WORDINGS
from coreloop.promote.measure.arms import ToolText
from coreloop.promote.measure.contexts import CallContext
from coreloop.promote.measure.edits import LineEdit, proposed_lines
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.prepare import N_CONTROLS, N_FIRST, MeasureOptions, Prepared, prepare
from coreloop.promote.measure.run import measure
from coreloop.promote.run import PromoteRequest

N_KINDS = 3
N_WORDINGS = 2
N_NEEDED = 10
"""The fewest contexts that the command takes; with fewer, the figures are shown without a verdict."""
DEMOS = {"helpdesk": (), "finance": ("--korean",)}
COLUMNS = ("demo", "kind", "wording", "base", "gold", "line", "controls", "verdict")


@dataclass
class Report:
    """The rows so far, and what answering took."""

    rows: list[tuple[str, ...]] = field(default_factory=list)
    n_replies: int = 0
    asked_s: float = 0.0

    def show(self) -> None:
        """Print the table, and the seconds per reply."""
        for row in (COLUMNS, ("---",) * len(COLUMNS), *self.rows):
            print(f"| {' | '.join(row)} |")
        each = f", {self.asked_s / self.n_replies:.1f} s each" if self.n_replies else ""
        print(f"\n{self.n_replies} replies in {self.asked_s:.0f} s{each}", flush=True)


def make_project(folder: Path, name: str, url: str) -> Workspace:
    """A demo whose model is the server; an existing one goes on."""
    project = folder / name
    settings = project / "coreloop.yaml"
    if not settings.exists():
        made = (sys.executable, "-m", "coreloop", "demo", *DEMOS[name], "--out", str(project))
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    text = settings.read_text(encoding="utf-8").partition("measure: {timeout_s: 3600}\n")[0]
    text += "measure: {timeout_s: 3600}\n"
    settings.write_text(f'{text}endpoints: {{local: {{url: "{url}"}}}}\nmodel: local:m\n', encoding="utf-8")
    return open_workspace(project)


def kind_of_line(line: str) -> str:
    """The kind of a line about one tool; empty for other lines."""
    advice = parse_advice(line)
    if advice is None:
        return ""
    if advice.conditions:
        return CONDITIONS[advice.conditions[0].form].kind or "condition"
    return WORDINGS[advice.form].kind


def edits_of_kinds(workspace: Workspace, *, n_contexts: int) -> Iterator[tuple[str, list[LineEdit]]]:
    """A line of each kind that can be measured, in its wordings; why others are skipped is printed."""
    kinds = set[str]()
    for path in sorted((workspace.root / "data" / "audit").glob("c*/*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8")).get("statements", ()):
            kind = kind_of_line(entry["line"] or "")
            if not kind or kind in kinds or len(kinds) == N_KINDS:
                continue
            try:
                edit = proposed_lines(workspace, PromoteRequest(path=path, wanted=entry["id"]), wordings=True)
                reason = unavailable(workspace, edit, n_contexts)
            except RefusedError as error:  # for example, the tool's schema says this already
                reason = str(error)
            if reason:
                print(f"skipped {kind}, {entry['line']}: {reason}", flush=True)
                continue
            kinds.add(kind)
            yield kind, [replace(edit, others=()), *edit.others][:N_WORDINGS]


def unavailable(workspace: Workspace, edit: LineEdit, n_contexts: int) -> str:
    """Why a line cannot be measured; empty if it can."""
    options, now = MeasureOptions(n_about=max(n_contexts, N_NEEDED)), datetime.now(UTC)
    with prepare(workspace, replace(edit, others=()), options, environ=os.environ, now=now) as prepared:
        return str(prepared.why) if isinstance(prepared, Measurement) else ""


def measure_wording(
    workspace: Workspace, edit: LineEdit, report: Report, labels: Sequence[str], *, n_contexts: int
) -> None:
    """Measure one wording, and append its row, also if it is interrupted."""
    options, now = MeasureOptions(n_about=max(n_contexts, N_NEEDED)), datetime.now(UTC)
    with prepare(workspace, edit, options, environ=os.environ, now=now) as possible:
        if isinstance(possible, Measurement):
            report.rows.append((*labels, *("–",) * 4, possible.summary))
            return
        about, controls = possible.contexts.about[:n_contexts], possible.contexts.controls[:n_contexts]
        prepared = replace(possible, contexts=replace(possible.contexts, about=about, controls=controls))
        estimate = prepared.estimate()
        print(f"{', '.join(labels)}: {estimate.n_questions - estimate.n_known} questions at most", flush=True)
        started, verdict = time.monotonic(), "interrupted"
        try:
            verdict = measure(prepared, now=now, on_progress=lambda _: None).summary
            if len(about) < N_NEEDED:
                verdict = f"too few for a verdict: {len(about)} of {N_NEEDED} contexts ({verdict})"
        finally:
            report.asked_s += time.monotonic() - started
            report.n_replies += prepared.estimate().n_known - estimate.n_known
            report.rows.append((*labels, *shares(prepared), verdict))


def shares(prepared: Prepared) -> tuple[str, str, str, str]:
    """Base, gold, line and controls, of the replies that are kept: how many are right, of how many."""
    about, controls = prepared.contexts.about, prepared.contexts.controls
    base, edited = prepared.base, prepared.edited
    return (
        share(prepared, about, base),
        share(prepared, about[:N_FIRST], base, is_stated=True),
        share(prepared, about, edited),
        f"{share(prepared, controls, base)} → {share(prepared, controls, edited)}",
    )


def share(
    prepared: Prepared,
    contexts: Sequence[CallContext],
    tools: tuple[ToolText, ...],
    *,
    is_stated: bool = False,
) -> str:
    """How many of the kept replies are right."""
    right = list[bool]()
    for context in contexts:
        stated = context.reference if is_stated else None
        for turn in range(1 if is_stated else prepared.turns):
            if prepared.asker.is_known(context, tools, stated=stated, turn=turn):
                call = prepared.asker.next_call(context, tools, stated=stated, turn=turn)
                right.append(prepared.right(call, context))
    return f"{sum(right)} of {len(right)}"


def measure_demos(folder: Path, url: str, report: Report, *, n_contexts: int) -> None:
    """Measure all lines of all demos."""
    for name in DEMOS:
        workspace = make_project(folder, name, url)
        for kind, edits in edits_of_kinds(workspace, n_contexts=n_contexts):
            for edit in edits:
                labels = (name, kind, f"`{edit.lines[0].removeprefix('- ')}`")
                measure_wording(workspace, edit, report, labels, n_contexts=n_contexts)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True)
    parser.add_argument("--contexts", type=int, default=N_CONTROLS, help="of each line, and as many controls")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "coreloop-measure-real")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.contexts < N_NEEDED:
        print(f"{options.contexts} contexts are too few for verdicts, which take {N_NEEDED} or more")
    report = Report()
    try:
        measure_demos(options.folder.resolve(), options.url, report, n_contexts=options.contexts)
    except KeyboardInterrupt:
        print("interrupted; run it again, and it goes on", file=sys.stderr)
        return 130
    except ModelError as error:
        print(f"{error}; run it again, and it goes on", file=sys.stderr)
        return 5
    finally:
        report.show()
    return 0


if __name__ == "__main__":
    sys.exit(main())
