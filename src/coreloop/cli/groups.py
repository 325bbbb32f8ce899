"""Command groups that suggest the closest name for a mistyped command."""

import difflib

import click


class SuggestingGroup(click.Group):
    """A group that suggests the closest command for an unknown name, or points to ``--help``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name in known or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"{ctx.command_path} --help lists them"
        raise click.UsageError(f"no command {name!r}; {hint}", ctx)
