"""Groups of commands that answer a mistyped name with the nearest one."""

import difflib

import click


class SuggestingGroup(click.Group):
    """A group that answers an unknown command with the nearest one, or with where they are listed."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        wanted, names = args[0], self.list_commands(ctx)
        if wanted in names or wanted.startswith("-"):
            return super().resolve_command(ctx, args)
        near = difflib.get_close_matches(wanted.lower(), names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"{ctx.command_path} --help lists them"
        raise click.UsageError(f"no command {wanted!r}; {hint}", ctx)
