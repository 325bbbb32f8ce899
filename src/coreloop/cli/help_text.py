"""The help of commands and options in the reader's language."""

import inspect
from copy import copy

import click

from coreloop.base.messages import say, spoken


def in_readers_language(command: click.Command) -> click.Command:
    """Return the command with its help, and that of its options and subcommands, as `say` says it.

    The command itself stays English: another reader in this process may speak another language.
    """
    if spoken() == "en":
        return command
    shown = copy(command)
    shown.help = "\n\n".join(map(say, help_paragraphs(command.help or "")))
    shown.params = [_in_readers_language(param) for param in command.params]
    if isinstance(shown, click.Group):
        shown.commands = {name: in_readers_language(inner) for name, inner in shown.commands.items()}
    return shown


def _in_readers_language(param: click.Parameter) -> click.Parameter:
    if not isinstance(param, click.Option) or not param.help:
        return param
    shown = copy(param)
    shown.help = say(param.help)
    return shown


def help_paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text, each on one line: the keys of the catalogue."""
    return [
        paragraph if paragraph.startswith("\b") else " ".join(paragraph.split())
        for paragraph in inspect.cleandoc(text).split("\n\n")
    ]
