"""Draw docs/terminal.svg from the output in docs/tutorial.md; with --check, exit 1 if it differs.

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
PICTURE: Final = ROOT / "docs" / "terminal.svg"
# rich's own format loads a font from the network
_FORMAT: Final = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "font-family: Fira Code, monospace", "font-family: ui-monospace, Menlo, Consolas, monospace"
)
_WIDTH: Final = 101
_STYLES: Final = {"$ ": "bold green", "+": "green", "-": "red", "@@": "cyan"}


def lines() -> Iterator[Text]:
    """Yield the statement of refine, then the diff and the reach of promote."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    yield from _block(page, "refine", "    difference")
    yield Text()
    yield from _block(page, "promote --tool book_room", "reach")
    yield Text()


def _block(page: str, command: str, last: str) -> Iterator[Text]:
    text = page[page.index(f"$ dartlab-coreloop {command}\n") :]
    for line in text.splitlines():
        if line.startswith(("left out", "base ")):
            continue
        style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
        yield Text(line, style="bold yellow" if line.startswith("    hours over") else style)
        if line.startswith(last):
            return


def picture() -> str:
    """Return the picture as SVG."""
    console = Console(
        record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    for line in lines():
        console.print(line, overflow="ellipsis", no_wrap=True)
    return console.export_svg(
        title="dartlab-coreloop", theme=MONOKAI, code_format=_FORMAT, unique_id="coreloop"
    )


def run() -> int:
    """Write or check the picture."""
    svg = picture()
    if "--check" not in sys.argv:
        PICTURE.write_text(svg, encoding="utf-8")
        return 0
    if PICTURE.read_text(encoding="utf-8") == svg:
        return 0
    print("docs/terminal.svg differs from docs/tutorial.md; run: uv run python scripts/terminal.py")
    return 1


if __name__ == "__main__":
    sys.exit(run())
