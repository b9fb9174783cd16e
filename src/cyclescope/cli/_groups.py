"""A group of commands that suggests one where a word is none of them."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from cyclescope.cli._kinds import kind_of

__all__ = ["Group"]


class Group(click.Group):
    """As click's; a word that is no command is answered with what may be meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, but for the answer."""
        word = args[0]
        known = self.list_commands(ctx)
        if word not in known and not word.startswith("-"):
            near = difflib.get_close_matches(word, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            kind = kind_of(Path(word))
            if kind is not None and kind.verbs:
                hint = f"the command comes first: cyclescope {kind.verbs[0]} {word}"
            elif Path(word).suffix:
                hint = f"the command comes first: {ctx.command_path} COMMAND {word}"
            ctx.fail(f"no command {word}; {hint}")
        return super().resolve_command(ctx, args)
