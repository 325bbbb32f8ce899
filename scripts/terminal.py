"""Draw the pictures of terminals in docs/ from output in the pages; with --check, exit 1 if they differ.

uv run python scripts/terminal.py
"""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
# rich's own format loads a font from the network
_FORMAT: Final = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "font-family: Fira Code, monospace", "font-family: ui-monospace, Menlo, Consolas, monospace"
)
_STYLES: Final = {
    "$ ": "bold green",
    "+": "green",
    "-": "red",
    "@@": "cyan",
    "iteration ": "bold",
    "…": "dim",
}


def promotion() -> Iterator[Text]:
    """Yield the statement of refine, then the diff and the reach of promote."""
    page = (DOCS / "tutorial-propose.md").read_text(encoding="utf-8")
    yield from _block(page, "refine", "    follows")
    yield Text()
    yield from _block(page, "promote --tool book_room", "reach")
    yield Text()


def driven_run() -> Iterator[Text]:
    """Yield the output of a driven run, which a model that calls itself done does not end."""
    page = (DOCS / "how-to" / "drive.md").read_text(encoding="utf-8")
    for line in _block(page, "runs start --max-iterations 30", " stopped (until)"):
        yield Text(line.plain, style="bold yellow") if "The task is complete" in line.plain else line


def repaired_answer() -> Iterator[Text]:
    """Yield a question whose first answer fails, and the answer after the repair."""
    page = (DOCS / "how-to" / "ask.md").read_text(encoding="utf-8")
    for line in _block(page, 'ask "Within how many working days', "1 repair;"):
        yield Text(line.plain, style="bold yellow") if line.plain.startswith("attempt") else line


def walked_iteration() -> Iterator[Text]:
    """Yield the block of an iteration of an agent, in which one of two findings is not confirmed."""
    page = (DOCS / "how-to" / "agent-reports.md").read_text(encoding="utf-8")
    for line in _block(page, "runs record --file report.json", "The next iteration"):
        yield Text(line.plain, style="bold yellow") if "does not stand in" in line.plain else line


def _block(page: str, command: str, last: str) -> Iterator[Text]:
    """Yield a command and its output up to a line, from the first block of the page that has both."""
    for found in re.finditer(rf"(?m)^\$ dartlab-coreloop {re.escape(command)}", page):
        lines = page[found.start() :].partition("\n```")[0].splitlines()
        ends = [
            n for n, line in enumerate(lines) if line.startswith(last) or (last[0] == " " and last in line)
        ]
        if ends:
            shown = lines[: ends[0] + 1]
            yield from (_styled(line) for line in shown if not line.startswith(("left out", "base ")))
            return
    raise SystemExit(f"no line begins with {last!r} after: {command}")


def _styled(line: str) -> Text:
    style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
    return Text(line, style="bold yellow" if line.startswith("    hours:") else style)


PICTURES: Final = {
    "terminal.svg": (promotion, 101),
    "drive.svg": (driven_run, 128),
    "repair.svg": (repaired_answer, 84),
    "walk.svg": (walked_iteration, 104),
}
"""What each picture shows, and its columns."""


def picture(lines: Iterator[Text], columns: int) -> str:
    """Return a picture as SVG."""
    console = Console(
        record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    for line in lines:
        console.print(line, overflow="ellipsis", no_wrap=True)
    return console.export_svg(
        title="dartlab-coreloop", theme=MONOKAI, code_format=_FORMAT, unique_id="coreloop"
    )


def run() -> int:
    """Write or check the pictures."""
    is_wrong = False
    for name, (lines, columns) in PICTURES.items():
        path, svg = DOCS / name, picture(lines(), columns)
        if "--check" not in sys.argv:
            path.write_text(svg, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != svg:
            print(f"docs/{name} differs from its page; run: uv run python scripts/terminal.py")
            is_wrong = True
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(run())
