"""Write docs/llms.txt, the list of pages for language models, from mkdocs.yml and each page's first sentence.

uv run python scripts/llms.py [--check]
"""

import re
import sys
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
FILE: Final = DOCS / "llms.txt"
_SENTENCE: Final = re.compile(r"^(.+?[.?!])(?:\s|$)")
_LINK: Final = re.compile(r"!?\[([^]]*)\]\([^)]*\)")  # [look](how-to/look.md)
_NO_TEXT: Final = re.compile(r"(?ms)^```.*?^```$|<!--.*?-->")  # code and comments


class _Loader(yaml.SafeLoader):
    """mkdocs.yml without the tags of Python objects."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def main(*, check: bool) -> int:
    text = render(yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=_Loader))
    if check and (not FILE.exists() or FILE.read_text(encoding="utf-8") != text):
        print("docs/llms.txt does not list the pages as they are; run: uv run python scripts/llms.py")
        return 1
    if not check:
        FILE.write_text(text, encoding="utf-8")
    return 0


def render(config: dict[str, Any]) -> str:
    """Pages in the order of the navigation, each with its title and first sentence (llmstxt.org)."""
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}"]
    for entry in config["nav"]:
        ((title, content),) = entry.items()
        pages = [content] if isinstance(content, str) else content
        lines += ["", f"## {title}", "", *map(_row, pages)]
    return "\n".join([*lines, ""])


def _row(page: str) -> str:
    text = _NO_TEXT.sub("", (DOCS / page).read_text(encoding="utf-8"))
    title, _, below = text.lstrip().partition("\n")
    paragraphs = (block.replace("\n", " ") for block in below.split("\n\n") if block.strip())
    first = next(block.strip() for block in paragraphs if not block.lstrip().startswith(("#", "|", "!")))
    first = _LINK.sub(r"\1", first)
    found = _SENTENCE.match(first)
    return f"- [{title.removeprefix('# ')}]({page}): {found[1] if found else first}"


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
