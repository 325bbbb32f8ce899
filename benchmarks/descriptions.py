"""Edit each description in folders of source, and take the edit out again: how many are found, refused, broken.

uv run python benchmarks/descriptions.py FOLDER…     # a folder is a checkout of a project that has tools
"""

import re
import sys
from collections import Counter
from pathlib import Path

from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.find_tools import project_texts
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.source import UnprovenError
from coreloop.descriptions.texts import ToolText, find_text, find_texts, put_lines, remove_lines

LINE = "- date: as YYYY-MM-DD"
_NAMES = re.compile(r"(?<=shared by ).*|(?<=the name ).*")


def tried(path: Path, text: ToolText) -> str:
    """What becomes of one text: ``edited``, ``broken``, or why it is refused."""
    if text.refused:
        return f"refused: {_NAMES.sub('…', text.refused)}"
    raw = path.read_bytes()
    try:
        edited = put_lines(path.name, raw, text, Wanted((LINE,))).source
    except UnprovenError as error:
        return f"refused: {error}"
    before = [(one.name, one.value) for one in find_texts(path.name, raw) if one.start != text.start]
    after = find_texts(path.name, edited)
    again = [one for one in after if one.name == text.name and one.value != text.value and LINE in one.value]
    if len(again) != 1 or [(its.name, its.value) for its in after if its is not again[0]] != before:
        return "broken: another text changed"
    return (
        "edited"
        if remove_lines(path.name, edited, again[0], [LINE]).source == raw
        else "broken: not as before"
    )


def main(folders: list[str]) -> None:
    for folder in map(Path, folders):
        texts, unread = project_texts(Workspace(folder, Settings()), [folder])
        counts = Counter(tried(folder / file, text) for file, own in texts.items() for text in own)
        tools = {(file, text.tool) for file, own in texts.items() for text in own}
        print(f"{folder.name}: {len(tools)} tools, {counts.total()} texts, {len(unread)} files not read")
        for outcome, number in counts.most_common():
            print(f"  {number:5} {outcome}")


if __name__ == "__main__":
    main(sys.argv[1:])
