"""Branches of the script that take single examples, `if slow: batch_size = 1`: they get one tower.

The script is read as if the batch size were never 1: towers share its batches. Where the branch is taken one tower
takes each example, which is what the original does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.values import Site
from converter.planner.questions.conditions import Branch, Conditions, branches_around


def settings_of_one(facts: Facts) -> list[Access]:
    """Where a branch sets a batch size to 1, if the script was read as if it did not."""
    targets = {target for stmt in facts.single for target in stmt.targets}
    return [access for access in facts.accesses if access.write and access.node in targets] if targets else []


def single_branches(facts: Facts) -> list[Branch]:
    """The branches that take single examples, each from its first statement on."""
    branches = (branch for access in settings_of_one(facts) for branch in branches_around(access.site))
    own = (b for b in branches if not facts.single.isdisjoint(b.stmt.body if b.side else b.stmt.orelse))
    return list(dict.fromkeys(own))


def stand_in_branches(facts: Facts, branches: Iterable[Branch]) -> bool:
    """Whether each statement that sets a batch size to 1 stands in one of the branches, of a function called once.

    Another call of the function may take the other branch, and would find one tower.
    """
    held: set[ast.stmt] = set()
    for branch in branches:
        frames = facts.frames_by_node.get(branch.frame.node, {}).keys() - {branch.frame}
        if all(frame.call_site is not None and frame.call_site.leaves_out(branch.sides) for frame in frames):
            held.update(branch.stmt.body if branch.side else branch.stmt.orelse)
    return facts.single <= held


def only_of_single_examples(facts: Facts, site: Site) -> bool:
    """Whether a statement is only executed where single examples are taken."""
    return any(Conditions(facts).only_where(site, branch) for branch in single_branches(facts))
