"""Every message of the code, read from its source: the keys that the Korean catalogue may have."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import click

from coreloop.cli import main
from coreloop.cli.main import help_paragraphs

SOURCE = Path(main.__file__).parents[1]
FIELD = re.compile(r"\{[^}]*\}")
LETTERS = re.compile("[a-z]")


@cache
def messages(folder: str = "") -> set[str]:
    """The literal messages of a folder of the source: said, raised, or the noun of a number."""
    return {text for path in paths(folder) for text in _said(path) if LETTERS.search(FIELD.sub("", text))}


@cache
def _said(path: Path) -> frozenset[str]:
    return frozenset(said(nodes(path)))


def said(among: Iterable[ast.AST]) -> Iterator[str]:
    for node in among:
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        literals = [text for argument in node.args for text in literal(argument)]
        if name == "number_of" and len(node.args) > 1:
            yield from (f"{{n}} {noun}" for noun in literal(node.args[1]))
        elif name in {"say", "tell", "Phrase", "file_errors"}:
            yield from (text for text in literals[:2] if node.args and text in set(literal(node.args[0])))
        elif name in {"Diagnosis", "Alarm", "Unsupported", "wrong_field", "Problem"}:
            yield from (text for text in literals if " " in text)
        elif name.endswith("Error") and node.args:
            yield from (text for text in literal(node.args[0]) if " " in text)


def literal(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*literal(node.body), *literal(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


@cache
def help_texts() -> set[str]:
    """The paragraphs of all commands' help and options, and the list of the commands."""
    texts = set(main.GROUPS) | set(main.COMMANDS.values())
    for path in [(), *main.command_paths()]:
        command: click.Command = main.main
        for name in path:
            assert isinstance(command, click.Group)
            inner = command.get_command(click.Context(command), name)
            assert inner is not None
            command = inner
        texts |= set(help_paragraphs(command.help or ""))
        options = [option for option in command.params if isinstance(option, click.Option)]
        texts |= {option.help for option in options if option.help}
    return texts - {""}


@cache
def constants() -> set[str]:
    """Every literal text of the source, and of click, with whose words our help is printed."""
    files = [*paths(""), *Path(click.__file__).parent.glob("*.py")]
    return {
        node.value
        for file in files
        for node in nodes(file)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def paths(folder: str) -> list[Path]:
    """The files of a folder of the source, without the projects that are copied for a demo."""
    return [path for path in sorted((SOURCE / folder).rglob("*.py")) if "projects" not in path.parts]


@cache
def parsed(path: Path) -> ast.Module:
    """A file of the source, parsed by the first test that asks."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a file, in no order."""
    return tuple(ast.walk(parsed(path)))
