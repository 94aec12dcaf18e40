"""Executes the converted text on stand-ins, as the analysis executed the original."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import replace

from converter.analysis.facts import Facts
from converter.analysis.inputs.decided import decided
from converter.analysis.python.run import evaluate, run
from converter.analysis.values import Value
from converter.analysis.walk import Known, Walk
from converter.conversion.review.added_lines import AddedLines
from converter.conversion.review.alignment import Alignment, align
from converter.conversion.review.towers import TowerRecords
from converter.dataclass import dataclass
from converter.options import Options
from converter.parsing import parse_text
from converter.source.text import split_lines

BEGIN, END = "# tf-multigpu: helpers for training on several GPUs", "# tf-multigpu: end of helpers"


@dataclass(frozen=True)
class ConvertedFile:
    """A converted file: where the analysis knows the original from ("" for the script), and both texts."""

    path: str
    before: str
    after: str


@dataclass(frozen=True)
class AddedNames:
    """The names that a conversion used in the lines that it added.

    helpers: the names under which helpers were written -> their own. numbers: the expressions for the number of towers.
    """

    helpers: Mapping[str, str]
    numbers: frozenset[str]
    options: Options


@dataclass(frozen=True)
class ConvertedWalk:
    """The facts of the converted text, with the statements of the original that its statements stand for.

    changed: the paths of the files that were converted.
    """

    facts: Facts
    changed: tuple[str, ...]
    towers: TowerRecords
    alignment: Alignment


def walk_again(facts: Facts, texts: list[ConvertedFile], written: AddedNames) -> ConvertedWalk:
    """Execute converted files on stand-ins, and pair their statements with the original's."""
    known = facts.project
    project = replace(known, trees=dict(known.trees), paths=list(known.paths))
    whole = Alignment()
    trees = {}
    for text in texts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse_text(_without_helpers(text.after))
        part = align(facts.tree_of(text.path), text.before, tree, text.after)
        whole.statements.update(part.statements)
        whole.nodes.update(part.nodes)
        whole.added += part.added
        whole.lost += part.lost
        trees[text.path] = tree
        if text.path:
            project.trees[text.path] = facts.modules[text.path].data, tree
    own = AddedLines(trees.values(), whole.added, dict(written.helpers), written.numbers)
    back = {old: new for new, old in whole.nodes.items()}
    back.update({old: new for new, old in whole.statements.items()})
    decisions = {back.get(node, node): axis for node, axis in facts.decisions.items()}
    data = {(back.get(node, node), name): axis for (node, name), axis in facts.data_axes.items()}

    def value_of(walk: Walk, node: ast.expr) -> Value:
        hook = own.hook_of(node)
        return decided(walk, hook(walk, node), node) if hook is not None else evaluate(walk, node)

    within = frozenset(back.get(node, node) for node in facts.within)
    before = Known(
        decisions,
        data=data,
        statements=own.statements,
        open=facts.open,
        within=within,
        defined=frozenset(written.helpers),
    )
    walk = Walk(facts.path, trees.get("", facts.tree), project, before, value_of)
    walk.python2 = True  # what tells Python 2 from Python 3 was read for the original: this walk does not begin anew
    return ConvertedWalk(run(walk), tuple(trees), own.towers, whole)


def _without_helpers(text: str) -> str:
    """A text with blank lines in place of the helpers' definitions: what they do is known."""
    lines = split_lines(text)
    begin = next((i for i, line in enumerate(lines) if line.startswith(BEGIN)), len(lines))
    end = next((i for i, line in enumerate(lines) if line.startswith(END)), begin)
    inside = False
    for number in range(begin, end):
        line = lines[number]
        if line.strip() and line[0] not in " \t)":
            inside = line.startswith(("def ", "class ", "@"))
        if inside:
            lines[number] = ""
    return "\n".join(lines)


__all__ = ["ConvertedWalk", "ConvertedFile", "AddedNames", "walk_again"]
