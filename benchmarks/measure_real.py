"""What lines do to a real small model, by the command itself; opt-in.

    local_model serve --port 9001                     # or any OpenAI-compatible server
    uv run python benchmarks/measure_real.py --url http://127.0.0.1:9001/v1 [--contexts 40] [--folder DIR]

In the demos' projects (help desk and finance), up to three lines of different kinds are measured, each with
its wordings; harm is printed as it comes out. The folder has projects and replies: it goes on with them.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from coreloop.learn.proposals.advice import parse_advice
from coreloop.learn.statements.wordings import CONDITIONS, WORDINGS

N_KINDS = 3
DEMOS = {"helpdesk": (), "finance": ("--korean",)}
COMMAND = (sys.executable, "-m", "coreloop")


def make_project(folder: Path, name: str, url: str) -> Path:
    """A demo whose model is the server; an existing one goes on."""
    project = folder / name
    if not project.exists():
        made = (*COMMAND, "demo", *DEMOS[name], "--out", str(project))
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    settings = project / "coreloop.yaml"
    text = settings.read_text(encoding="utf-8").partition("endpoints:")[0]
    timeout = "measure: {timeout_s: 3600}\n"
    text = text.replace(timeout, "") + timeout
    settings.write_text(f'{text}endpoints: {{local: {{url: "{url}"}}}}\nmodel: local:m\n', encoding="utf-8")
    return project


def kind_of_line(line: str) -> str:
    """The kind of a line about one tool; empty for other lines."""
    advice = parse_advice(line)
    if advice is None:
        return ""
    if advice.conditions:
        return CONDITIONS[advice.conditions[0].form].kind or "condition"
    return WORDINGS[advice.form].kind


def lines_of_kinds(project: Path) -> list[tuple[str, Path, str]]:
    """A line of each kind: kind, file and id."""
    chosen = dict[str, tuple[str, Path, str]]()
    for path in sorted((project / "data" / "audit").glob("c*/*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8")).get("statements", ()):
            kind = kind_of_line(entry["line"] or "")
            if kind and entry.get("target", True):
                chosen.setdefault(kind, (kind, path, entry["id"]))
    return list(chosen.values())[:N_KINDS]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True)
    parser.add_argument("--contexts", default="40")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "coreloop-measure-real")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in DEMOS:
        project = make_project(options.folder, name, options.url)
        for kind, path, wanted in lines_of_kinds(project):
            print(f"\n{name}, {kind}, {wanted}", flush=True)
            line = ("--candidate", str(path), "--id", wanted, "--contexts", options.contexts, "--wordings")
            done = subprocess.run((*COMMAND, "measure", *line), cwd=project, check=False)
            failed += done.returncode not in {0, 1}  # 1 is a line that hurts
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
