"""`cyclescope help`: what a command does and takes."""

from __future__ import annotations

import click

__all__ = ["help_"]


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND...]")
@click.pass_context
def help_(context: click.Context, words: tuple[str, ...]) -> None:
    """Show a command's help, as COMMAND --help does; without one, list all commands."""
    above = context.find_root()
    command = above.command
    for word in words:
        if not isinstance(command, click.Group):
            raise click.UsageError(f"{above.command_path} has no commands in it, so no {word}")
        _, inner, _ = command.resolve_command(above, [word])
        assert inner is not None
        above = click.Context(inner, info_name=word, parent=above)
        command = inner
    click.echo(command.get_help(above))
