"""The YAML at the head of a Markdown file, as nodes that know their lines and keep scalars as written."""

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from coreloop.records import encodable

_FENCE = "---"


@dataclass(frozen=True, slots=True)
class Malformed:
    """A file whose front matter cannot be read: where and why."""

    line: int
    reason: str


class FrontMatterError(Exception):
    """A value of the wrong kind, at a line of the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.malformed = Malformed(line, reason)


def read_front_matter(text: str) -> Mapping[str, yaml.Node] | Malformed | None:
    """Find the front matter of a Markdown text.

    Parameters
    ----------
    text : str
        The whole file, with any line ends.

    Returns
    -------
    mapping of str to yaml.Node, Malformed or None
        The nodes by key; what is wrong with it; None when the text does not begin with ``---``. Lines of the
        nodes count from 0 at the opening ``---``, so `line_of` gives lines of the file.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return None
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in {_FENCE, "..."}), None)
    if end is None:
        return Malformed(1, "the front matter has no closing ---")
    whole = "\n".join(["", *lines[1:end]])
    try:
        # Nodes and not values: 035720 would be an octal number, and 2026-13-45 an exception.
        node = yaml.compose(whole, Loader=yaml.BaseLoader)
        return entries(node, "the front matter") if node is not None else {}
    except FrontMatterError as error:
        return error.malformed
    except RecursionError:
        return Malformed(1, "the front matter is nested too deeply")
    except yaml.reader.ReaderError as error:
        return Malformed(whole[: error.position].count("\n") + 1, "a character that YAML does not allow")
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return Malformed(line, f"is not YAML: {error.problem}")


def entries(node: yaml.Node, what: str) -> dict[str, yaml.Node]:
    """The values of a mapping by key.

    Raises
    ------
    FrontMatterError
        It is no mapping, or a key stands twice or is no text.
    """
    if is_null(node):
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise FrontMatterError(f"{what} must be keys with values", line_of(node))
    found: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in found:
            raise FrontMatterError(f"a key of {what} stands twice or is no text", line_of(key))
        found[encodable(key.value)] = value
    return found


def scalar(node: yaml.Node | None, what: str) -> str:
    """A single value as it is written, "" where there is none.

    Raises
    ------
    FrontMatterError
        It is a list or a mapping.
    """
    if node is None or is_null(node):
        return ""
    if not isinstance(node, yaml.ScalarNode):
        raise FrontMatterError(f"{what} must be one text", line_of(node))
    return " ".join(encodable(node.value).split())


def scalars(node: yaml.Node | None, what: str) -> tuple[str, ...]:
    """A list of single values; one value is a list of one.

    Raises
    ------
    FrontMatterError
        It is a mapping, or holds a list or a mapping.
    """
    if node is None:
        return ()
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return tuple(text for text in (scalar(item, f"an entry of {what}") for item in items) if text)


def is_null(node: yaml.Node) -> bool:
    """Whether a plain scalar stands for nothing."""
    is_plain = isinstance(node, yaml.ScalarNode) and node.style is None
    return is_plain and node.value in {"", "~", "null", "Null", "NULL"}


def line_of(node: yaml.Node) -> int:
    """The line of the file at which a node begins, from 1."""
    return int(node.start_mark.line) + 1
