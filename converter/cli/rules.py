"""`tf-multigpu rules`."""

from __future__ import annotations

from typing import Annotated

import typer

from converter.rule import all_rules

TAKES_TEXT = True


def rules_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print all that is known of them as JSON.")] = False,
) -> None:
    """List every rule and diagnostic with its code and title."""
    if as_json:
        from converter.report import data

        typer.echo(data.rules(all_rules()))
    else:
        from converter.report.explain import table

        typer.echo(table(all_rules()))
