"""The YAML front matter of a Markdown file, as nodes with line numbers and unconverted scalars."""

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from coreloop.base.records import encodable

_FENCE = "---"


@dataclass(frozen=True, slots=True)
class Malformed:
    """Unreadable front matter: the line and the reason."""

    line: int
    reason: str


class FrontMatterError(Exception):
    """A value of the wrong type, with its line in the file."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.malformed = Malformed(line, reason)


def read_front_matter(text: str) -> Mapping[str, yaml.Node] | Malformed | None:
    """Parse the front matter of a Markdown text.

    Parameters
    ----------
    text : str
        Content of the file, with any line endings.

    Returns
    -------
    mapping of str to yaml.Node, Malformed or None
        The nodes by key, the error, or None if the text does not begin with ``---``. Node lines count from 0
        at the opening ``---``, so `line_of` returns lines of the file.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return None
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in {_FENCE, "..."}), None)
    if end is None:
        return Malformed(1, "the front matter has no closing ---")
    document = "\n".join(["", *lines[1:end]])
    try:
        # Nodes, not values: 035720 would be an octal number, and 2026-13-45 an exception.
        node = yaml.compose(document, Loader=yaml.BaseLoader)
        return entries(node, "the front matter") if node is not None else {}
    except FrontMatterError as error:
        return error.malformed
    except RecursionError:
        return Malformed(1, "the front matter is nested too deeply")
    except yaml.reader.ReaderError as error:
        return Malformed(document[: error.position].count("\n") + 1, "a character that YAML does not allow")
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return Malformed(line, f"is not YAML: {error.problem}")


def entries(node: yaml.Node, name: str) -> dict[str, yaml.Node]:
    """Return the values of a mapping by key.

    Raises
    ------
    FrontMatterError
        The node is not a mapping, or a key is duplicate or not text.
    """
    if is_null(node):
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise FrontMatterError(f"{name} must be a mapping", line_of(node))
    values: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in values:
            raise FrontMatterError(f"a key of {name} is duplicate or not text", line_of(key))
        values[encodable(key.value)] = value
    return values


def scalar(node: yaml.Node | None, name: str) -> str:
    """Return a scalar as written, or "" if absent.

    Raises
    ------
    FrontMatterError
        The node is a list or a mapping.
    """
    if node is None or is_null(node):
        return ""
    if not isinstance(node, yaml.ScalarNode):
        raise FrontMatterError(f"{name} must be a single value", line_of(node))
    return " ".join(encodable(node.value).split())


def scalars(node: yaml.Node | None, name: str) -> tuple[str, ...]:
    """Return a list of scalars; a scalar counts as a list with one item.

    Raises
    ------
    FrontMatterError
        The node is a mapping, or contains a list or a mapping.
    """
    if node is None:
        return ()
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return tuple(text for text in (scalar(item, f"an entry of {name}") for item in items) if text)


def is_null(node: yaml.Node) -> bool:
    """Whether a node is a null scalar."""
    is_plain = isinstance(node, yaml.ScalarNode) and node.style is None
    return is_plain and node.value in {"", "~", "null", "Null", "NULL"}


def line_of(node: yaml.Node) -> int:
    """The first line of a node in the file, from 1."""
    return int(node.start_mark.line) + 1
