"""What lines do to a real small model; opt-in.

    local_model serve --port 9001                     # or any OpenAI-compatible server
    uv run python benchmarks/measure_real.py --url http://127.0.0.1:9001/v1 --data ../shared/data
    uv run python benchmarks/measure_real.py          # the table of the replies so far; asks nothing

In the help desk's demo and in the shop of `examples/retail`, lines of three kinds are measured in two
wordings, on the same contexts; harm is printed as it comes out. All lines get their first contexts before any
gets its next ones, so that the table can be read at any time. The model is sent few of the tools, and is
asked with one description after the other: a server that keeps the prefixes of prompts then reads little but
the question.

The folder has projects and replies: interrupted anywhere, it goes on when it is run again. Each model needs a
folder of its own.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from coreloop.base.errors import ModelError, RefusedError
from coreloop.base.project.workspace import Workspace, open_workspace
from coreloop.learn.proposals.equal_wordings import wordings_of
from coreloop.learn.proposals.statement_lines import parse_advice
from coreloop.learn.statements.line_sentences import CONDITIONS, WORDINGS
from coreloop.promote.measure.contexts import CallContext, CallContexts, NextCall
from coreloop.promote.measure.measured_lines import LineEdit, proposed_lines
from coreloop.promote.measure.measurement import Measurement
from coreloop.promote.measure.prepare import N_CONTROLS, N_FIRST, MeasureOptions, Prepared, prepare
from coreloop.promote.measure.run import measure
from coreloop.promote.measure.with_and_without import ToolText
from coreloop.promote.run import PromoteRequest

N_KINDS: Final = 3
N_WORDINGS: Final = 2
N_NEEDED: Final = 10
"""The fewest contexts that the command takes; with fewer, the figures are shown without a verdict."""
STEP: Final = 2
"""Contexts of each line, and half as many controls, before the next line's turn."""
SHOP: Final = Path(__file__).parents[1] / "examples" / "retail"
TOOLS: Final = {
    "helpdesk": ("get_customer", "list_orders", "list_tickets", "refund_order", "update_ticket"),
    "retail": (
        "find_user_id_by_name_zip",
        "get_order_details",
        "cancel_pending_order",
        "modify_pending_order_items",
    ),
}
"""What a model is sent of each project, measured tools last; contexts of other tools are left out."""
UNPROPOSED: Final = {
    "retail": (
        "- Call get_order_details first (same order_id)",
        "- item_ids: from get_order_details().items[].item_id",
    )
}
"""Lines of further kinds about the tool that a project has a proposal about."""
FILTER: Final = (
    "import json, subprocess, sys; "
    "tools = json.loads(subprocess.check_output([sys.executable, '-m', sys.argv[1]])); "
    "named = {tool.get('function', tool)['name']: tool for tool in tools}; "
    "print(json.dumps([named[name] for name in sys.argv[2:]]))"
)
Question = tuple[CallContext, tuple[ToolText, ...], NextCall | None]
COLUMNS: Final = ("project", "kind", "wording", "contexts", "base", "gold", "line", "controls", "verdict")


@dataclass(frozen=True)
class Line:
    """A line in one or more wordings, which are measured on the same contexts."""

    project: str
    kind: str
    worded: tuple[Prepared, ...]

    def questions(self, start: int, n_contexts: int) -> Iterator[Question]:
        """What is asked about the contexts from one on, by description."""
        first = self.worded[0]
        about = first.contexts.about[start : min(start + STEP, n_contexts)]
        controls = first.contexts.controls[start // 2 : min(start + STEP, n_contexts) // 2]
        for context in (*about, *controls):
            yield context, first.base, None
        for context in about[: max(0, N_FIRST - start)]:
            yield context, first.base, context.reference
        for prepared in self.worded:
            for context in (*about, *controls):
                yield context, prepared.edited, None


def make_helpdesk(project: Path, _data: Path | None) -> None:
    """The demo."""
    run(project.parent, "demo", "--out", str(project))


def make_retail(project: Path, data: Path | None) -> None:
    """The example shop, with recorded requests, mined."""
    if data is None:
        raise SystemExit("--data is missing: the folder of the recorded requests of the shop")
    shutil.copytree(SHOP, project)
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "A shop")):
        author = ("-c", "user.name=shop", "-c", "user.email=shop@example.com")
        subprocess.run(("git", *author, *words), cwd=project, check=True)
    trajectories, times = data / "tau_retail_trajectories.jsonl.xz", data / "tau_retail_gpt4o_gpt41.jsonl"
    run(project, "import", "--from", "openai-chat", str(trajectories), "--times", str(times))
    run(project, "refine", "--since", "2025-08-01")


def run(folder: Path, *words: str) -> None:
    """Run a command."""
    command = (sys.executable, "-m", "coreloop", *words)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


PROJECTS: Final = {"helpdesk": make_helpdesk, "retail": make_retail}


def open_project(folder: Path, name: str, data: Path | None, url: str | None) -> Workspace:
    """A project whose model is the server; an existing one goes on."""
    project = folder / name
    if not (project / "coreloop.yaml").exists():
        PROJECTS[name](project, data)
    settings = project / "coreloop.yaml"
    text = settings.read_text(encoding="utf-8").partition("# measured\n")[0]
    if url is not None:
        lines = [line for line in text.splitlines() if not line.startswith("reach:")]
        command = json.dumps(["python", "-c", FILTER, f"{name}.schema", *TOOLS[name]])
        named = [tool for tool in open_workspace(project).settings.tools if tool not in TOOLS[name]]
        lines += [
            "# measured",
            f"reach: {{command: {command}}}",
            f"measure: {{timeout_s: 3600, never_ask: {json.dumps(named)}}}",
            f'endpoints: {{local: {{url: "{url}"}}}}',
            "model: local:m",
        ]
        settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return open_workspace(project)


def kind_of_line(line: str) -> str:
    """The kind of a line about one tool; empty for other lines."""
    advice = parse_advice(line)
    if advice is None:
        return ""
    if advice.conditions:
        return CONDITIONS[advice.conditions[0].form].kind or "condition"
    return WORDINGS[advice.form].kind


def edits_of(workspace: Workspace, project: str) -> Iterator[LineEdit]:
    """The lines of the proposals about the tools that a model is sent, then those that are not proposed."""
    edit = None
    for path in sorted((workspace.root / "data" / "audit").glob("c*/*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8")).get("statements", ()):
            if not entry["line"] or entry["tool"] not in TOOLS[project]:
                continue
            try:
                edit = proposed_lines(workspace, PromoteRequest(path=path, wanted=entry["id"]), wordings=True)
                yield edit
            except RefusedError as error:  # for example, the tool's schema says this already
                print(f"skipped {entry['line']}: {error}", file=sys.stderr)
    for line in UNPROPOSED.get(project, ()):
        if edit is not None:
            own, *others = (_instead(edit, wording) for wording in wordings_of(line))
            yield replace(own, others=tuple(others))


def _instead(edit: LineEdit, line: str) -> LineEdit:
    text = edit.with_lines.replace(edit.lines[0].encode(), line.encode())
    return replace(edit, keys=(), lines=(line,), with_lines=text, others=())


def lines_of(workspace: Workspace, project: str, n_contexts: int) -> Iterator[Line]:
    """A line of each kind that can be measured, in its wordings; why others are skipped is printed."""
    kinds, asker = set[str](), None
    for edit in edits_of(workspace, project):
        kind, worded = kind_of_line(edit.lines[0]), list[Prepared]()
        if not kind or kind in kinds or len(kinds) == N_KINDS:
            continue
        for wording in [replace(edit, others=()), *edit.others][:N_WORDINGS]:
            options, now = MeasureOptions(n_about=max(n_contexts, N_NEEDED)), datetime.now(UTC)
            with prepare(workspace, wording, options, environ=os.environ, now=now) as prepared:
                if isinstance(prepared, Measurement):
                    print(f"skipped {kind}, {wording.lines[0]}: {prepared.why}", file=sys.stderr)
                else:
                    asker = asker or prepared.asker
                    worded.append(replace(prepared, asker=asker))
        if worded:
            kinds.add(kind)
            yield Line(project, kind, tuple(worded))


def ask_all(lines: Sequence[Line], n_contexts: int) -> None:
    """Ask the first contexts of every line, then the next ones."""
    n_replies, started = 0, time.monotonic()
    for start in range(0, n_contexts, STEP):
        for line in lines:
            asker = line.worded[0].asker
            for context, tools, stated in line.questions(start, n_contexts):
                if not asker.is_known(context, tools, stated=stated):
                    asker.next_call(context, tools, stated=stated)
                    n_replies += 1
        elapsed = time.monotonic() - started
        print(f"{start + STEP} contexts: {n_replies} replies in {elapsed:.0f} s", file=sys.stderr, flush=True)


def answered(prepared: Prepared) -> Prepared:
    """The contexts of which every reply is kept."""

    def is_known(context: CallContext) -> bool:
        return all(prepared.asker.is_known(context, tools) for tools in (prepared.base, prepared.edited))

    about = [context for context in prepared.contexts.about if is_known(context)]
    is_told = [
        prepared.asker.is_known(context, prepared.base, stated=context.reference)
        for context in about[:N_FIRST]
    ]
    about = about[: is_told.index(False)] if False in is_told else about
    controls = tuple(context for context in prepared.contexts.controls if is_known(context))
    return replace(prepared, contexts=CallContexts(tuple(about), controls))


def row(line: Line, prepared: Prepared) -> tuple[str, ...]:
    """What came out, of the replies that are kept."""
    prepared, verdict = answered(prepared), "not reached"
    about, controls = prepared.contexts.about, prepared.contexts.controls
    base, edited = prepared.base, prepared.edited
    if about:
        verdict = measure(prepared, now=datetime.now(UTC), on_progress=lambda _: None).summary
    if len(about) < N_NEEDED:
        verdict = f"too few for a verdict: {len(about)} of {N_NEEDED} contexts ({verdict})"
    return (
        line.project,
        line.kind,
        f"`{prepared.subject.lines[0].removeprefix('- ')}`",
        str(len(about)),
        share(prepared, about, base),
        share(prepared, about[:N_FIRST], base, is_stated=True),
        share(prepared, about, edited),
        f"{share(prepared, controls, base)} → {share(prepared, controls, edited)}",
        verdict,
    )


def share(
    prepared: Prepared,
    contexts: Sequence[CallContext],
    tools: tuple[ToolText, ...],
    *,
    is_stated: bool = False,
) -> str:
    """How many of the kept replies are right."""
    right = 0
    for context in contexts:
        stated = context.reference if is_stated else None
        right += prepared.right(prepared.asker.next_call(context, tools, stated=stated), context)
    return f"{right} of {len(contexts)}"


def show(lines: Sequence[Line]) -> None:
    """Print the table."""
    rows = [row(line, prepared) for line in lines for prepared in line.worded]
    for cells in (COLUMNS, ("---",) * len(COLUMNS), *rows):
        print(f"| {' | '.join(cells)} |")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", help="without it, nothing is asked")
    parser.add_argument("--data", type=Path, help="folder of the shop's recorded requests; else no shop")
    parser.add_argument(
        "--contexts", type=int, default=N_CONTROLS, help="of each line, and half as many controls"
    )
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "coreloop-measure-real")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder, lines = options.folder.resolve(), list[Line]()
    try:
        for name in PROJECTS:
            if options.data is not None or name != "retail" or (folder / name).exists():
                workspace = open_project(folder, name, options.data, options.url)
                lines += lines_of(workspace, name, options.contexts)
        if options.url is not None:
            ask_all(lines, options.contexts)
    except KeyboardInterrupt:
        print("interrupted; run it again, and it goes on", file=sys.stderr)
        return 130
    except ModelError as error:
        print(f"{error}; run it again, and it goes on", file=sys.stderr)
        return 5
    finally:
        show(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
