"""`tf-multigpu explain CODE`."""

from __future__ import annotations

import sys

from converter.cli.command_line.table import UsageError
from converter.cli.terminal import marked
from converter.report.explain import explain
from converter.rule import find_rule


def explain_command(*, code: str) -> int:
    """Prints the page of a rule or a diagnostic."""
    rule = find_rule(code.upper())
    if rule is None:
        raise UsageError(f"no rule {code}; `tf-multigpu rules` lists them all", "CODE")
    print(marked(explain(rule), sys.stdout))
    return 0
