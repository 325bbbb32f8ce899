"""Command groups that suggest the closest name for a mistyped command."""

import difflib

import click

from coreloop.base.messages import Phrase, say


class SuggestingGroup(click.Group):
    """A group that suggests the closest command for an unknown name, or points to ``--help``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name in known or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = difflib.get_close_matches(name.lower(), known, n=1)
        hint = (
            say("did you mean {close}?", close=close[0])
            if close
            else say("{command_path} --help lists them", command_path=ctx.command_path)
        )
        raise click.UsageError(Phrase("no command {name!r}; {hint}", name=name, hint=hint), ctx)
