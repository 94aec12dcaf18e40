"""`tf-multigpu rules`."""

from __future__ import annotations

import sys

from converter.cli.terminal import marked
from converter.rule import all_rules


def rules_command(*, json: bool) -> int:
    """Prints every rule and diagnostic with its code and title, or all that is known of them as JSON."""
    if json:
        from converter.report import data

        print(data.rules(all_rules()))
    else:
        from converter.report.explain import table

        print(marked(table(all_rules()), sys.stdout))
    return 0
