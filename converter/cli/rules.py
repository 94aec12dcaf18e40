"""`tf-multigpu rules`."""

from __future__ import annotations

from converter.rule import all_rules


def rules_command(*, json: bool) -> int:
    """Prints every rule and diagnostic with its code and title, or all that is known of them as JSON."""
    if json:
        from converter.report import data

        print(data.rules(all_rules()))
    else:
        from converter.report.explain import table

        print(table(all_rules()))
    return 0
