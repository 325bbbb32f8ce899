"""Edit each description in folders of source, and take the edit out: how many are found, refused, broken.

uv run python benchmarks/descriptions.py FOLDER…     # a folder is a checkout of a project that has tools
"""

import re
import sys
from collections import Counter
from pathlib import Path

from coreloop.base.project.python_source import UnprovenError
from coreloop.base.project.settings import Settings
from coreloop.base.project.workspace import Workspace
from coreloop.descriptions.find_tools import project_texts
from coreloop.descriptions.place import Wanted
from coreloop.descriptions.texts import ToolText, find_texts, put_lines, remove_lines

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
    found = [find_texts(path.name, its, (text.symbol,)) for its in (raw, edited)]
    before, after = ([(its.name, its.value) for its in texts if its.start != text.start] for texts in found)
    new = [its for its in found[1] if its.start == text.start and LINE in its.value]
    if len(new) != 1 or before != after:
        return "broken: another text changed"
    again = remove_lines(path.name, edited, new[0], [LINE]).source
    return "edited" if again == raw else "broken: not as before"


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
