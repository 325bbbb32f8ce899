"""The help of commands and options in the reader's language."""

import inspect

import click

from coreloop.base.messages import say, spoken


def in_readers_language(command: click.Command) -> click.Command:
    """Return the command with its help, and that of its options and subcommands, as `say` says it."""
    if spoken() == "en":
        return command
    for named in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
        named.help = "\n\n".join(map(say, help_paragraphs(named.help or "")))
        for option in named.params:
            if isinstance(option, click.Option) and option.help:
                option.help = say(option.help)
    return command


def help_paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text, each on one line: the keys of the catalogue."""
    return [
        paragraph if paragraph.startswith("\b") else " ".join(paragraph.split())
        for paragraph in inspect.cleandoc(text).split("\n\n")
    ]
