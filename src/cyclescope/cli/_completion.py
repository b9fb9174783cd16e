"""`cyclescope completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from cyclescope.cli._common import OneOf

__all__ = ["completion"]

# \b keeps click from filling the lines that follow into a paragraph.
_HELP = """Print what a shell needs to complete commands, options and files.

To enable it in every new shell:

\b
  cyclescope completion bash >> ~/.bashrc
  cyclescope completion zsh >> ~/.zshrc
  cyclescope completion fish > ~/.config/fish/completions/cyclescope.fish
"""


@click.command(help=_HELP)
@click.argument("shell", type=OneOf(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what a shell needs to complete commands, options and files."""
    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(context.find_root().command, {}, "cyclescope", "_CYCLESCOPE_COMPLETE")
    # Not `source`, which runs the shell to ask for its version.
    click.echo(made.source_template % made.source_vars())
