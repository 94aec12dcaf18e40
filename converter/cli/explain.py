"""`tf-multigpu explain CODE`."""

from __future__ import annotations

from typing import Annotated

import typer

from converter.report.explain import explain
from converter.rule import all_rules

TAKES_TEXT = True
EPILOG = "Example: [bold]tf-multigpu explain TMG004[/bold]"


def explain_command(
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code as in diagnostics, such as TMG004.")],
) -> None:
    """Explain a rule or a diagnostic: what it does, why, and an example before and after."""
    rules = {rule.code: rule for rule in all_rules()}
    rule = rules.get(code.upper())
    if rule is None:
        raise typer.BadParameter(f"no rule {code}; `tf-multigpu rules` lists them all", param_hint="CODE")
    typer.echo(explain(rule))
