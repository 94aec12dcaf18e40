"""One name for the global batch size where a training loop computes it again and again."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import replace

from converter.analysis.facts import Facts
from converter.plan import Insert, Replace
from converter.planner.questions.statements import suites
from converter.planner.writing.free_names import TakenNames
from converter.planner.writing.source_text import SourceText

LEAST = 3  # products in one function that a name is made for
NAME = "global_batch_size"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def named_products(
    facts: Facts,
    products: Mapping[ast.AST, Replace],
    behind: Container[ast.AST],
    text: SourceText,
    names: TakenNames,
    name: str = NAME,
) -> tuple[list[Replace], list[Insert], TakenNames]:
    """Replacements of numbers by products, with one name for a product that occurs often; and the names taken then.

    behind: the numbers that are read after the graph is built, and are the same in all that follows. Only they get a
        name, and only in loops: what is read there stands in no statement that is moved, and no expression that is
        written elsewhere once more.
    """
    edits = dict(products)
    groups: dict[tuple[ast.AST, str], list[ast.AST]] = defaultdict(list)
    chains: dict[ast.AST, list[ast.stmt]] = {}
    for node, edit in products.items():
        function, chain = _statements(node, text)
        if function is not None and node in behind and _in_loop(chain):
            chains[node] = chain
            groups[function, _bare(edit.text)].append(node)
    inserts = []
    where = suites(*facts.trees())
    for (_, product), nodes in groups.items():
        first = _first_of_block([chains[node] for node in nodes], where, text) if len(nodes) >= LEAST else None
        if first is not None:
            taken, names = names.fresh(name)
            inserts.append(Insert(text.anchor(first), (f"{taken} = {product}",), "before", edits[nodes[0]].why))
            edits.update((node, replace(edits[node], text=taken)) for node in nodes)
    return list(edits.values()), inserts, names


def _bare(product: str) -> str:
    return product[1:-1] if product.startswith("(") and product.endswith(")") else product


def _statements(node: ast.AST, text: SourceText) -> tuple[ast.AST | None, list[ast.stmt]]:
    """The function or module that executes an expression, None where it cannot be told; the statements around it."""
    chain: list[ast.stmt] = []
    below, above = node, text.parent(node)
    while above is not None:
        if isinstance(below, ast.stmt):
            chain.append(below)
        if isinstance(above, (*_FUNCTIONS, ast.Module)):
            return (above if below in above.body else None), chain
        if isinstance(above, (ast.Lambda, ast.ClassDef)):
            return None, chain
        below, above = above, text.parent(above)
    return None, chain


def _in_loop(chain: list[ast.stmt]) -> bool:
    return any(isinstance(stmt, _LOOPS) for stmt in chain)


def _first_of_block(
    chains: list[list[ast.stmt]], where: Mapping[ast.stmt, list[ast.stmt]], text: SourceText
) -> ast.stmt | None:
    """In the innermost block that holds all statements, the first that holds one; None where none can come before."""
    for stmt in chains[0]:
        block = where.get(stmt, [])
        holders = [next((s for s in chain if s in block), None) for chain in chains]
        if all(holder is not None for holder in holders):
            first = min((holder for holder in holders if holder is not None), key=block.index)
            at = text.start(first)
            line = text.lines(at.path)[at.line - 1]
            return None if line[at.column :].startswith("elif") else first
    return None
