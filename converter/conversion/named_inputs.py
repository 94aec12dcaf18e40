"""Options and comments about inputs (`shared`, `batch-axis`), and whether the named inputs and axes exist."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from converter.diagnostics import Diagnostic, Refusal
from converter.options import Options
from converter.source import from_bytes
from converter.source.pragmas import Pragma, misread, pragmas_in

if TYPE_CHECKING:
    from converter.analysis.facts import Facts
    from converter.source import Source

Marks = Mapping[str, tuple[Pragma, ...]]  # by the paths of files as facts have them, "" for the script itself


def marks_of(source: Source, facts: Facts) -> Marks:
    """The pragmas of a script and of the files of its project that it imports."""
    found = {"": pragmas_in(source.text)}
    for path, module in facts.modules.items():
        if b"tf-multigpu:" in module.data:
            try:
                found[path] = pragmas_in(from_bytes(path, module.data).text)
            except Refusal:  # then its syntax tree was not read from this text either
                continue
    return {path: pragmas for path, pragmas in found.items() if pragmas}


def before_the_project(options: Options, facts: Facts, marks: Marks) -> Options:
    """Options without those settings of the project's configuration that a comment in the script overrides."""
    over = {
        label
        for pragma, label, _ in _marked(facts, marks)
        if label in options.of_project and _says_otherwise(options, pragma, label)
    }
    if not over:
        return options
    shared = tuple(name for name in options.shared if name not in over)
    return replace(options, shared=shared, batch_axes=tuple(one for one in options.batch_axes if one[0] not in over))


def _says_otherwise(options: Options, pragma: Pragma, label: str) -> bool:
    """True if an option contradicts a comment about the same input."""
    axis = dict(options.batch_axes).get(label)
    if pragma.name == "shared":
        return axis is not None
    return label in options.shared or axis not in (None, pragma.axis)


def with_marks(options: Options, facts: Facts, marks: Marks) -> Options:
    """Options completed by the script's comments about inputs; options take precedence.

    Raises:
        Refusal: TMG027, the comments contradict each other.
    """
    shared, axes = list(options.shared), dict(options.batch_axes)
    for pragma, label, node in _marked(facts, marks):
        if _says_otherwise(options, pragma, label):
            continue
        if pragma.name == "shared":
            shared += [] if label in shared else [label]
        elif axes.setdefault(label, pragma.axis) != pragma.axis:
            raise _contradiction(facts, node, pragma, label)
        if label in shared and label in axes:
            raise _contradiction(facts, node, pragma, label)
    return replace(options, shared=tuple(shared), batch_axes=tuple(axes.items()))


def unused_marks(options: Options, facts: Facts, marks: Marks) -> list[Diagnostic]:
    """TMG027 for comments that stand beside no input, have no meaning, or are overruled by an option."""
    marked = [(facts.path_of(node), pragma, label) for pragma, label, node in _marked(facts, marks)]
    used = {(path, pragma) for path, pragma, _ in marked}
    overruled = {(path, p): label for path, p, label in marked if _says_otherwise(options, p, label)}
    found: list[Diagnostic] = []
    for path, pragmas in marks.items():
        shown = facts.shown(facts.tree_of(path).body[0]) if path and facts.tree_of(path).body else facts.path
        found += misread(shown, pragmas)
        for pragma in pragmas:
            if pragma.name in ("shared", "batch-axis") and (path, pragma) not in used:
                message = f"`{pragma.text}` stands beside no input"
                hint = "put it behind the placeholder, or whatever makes the input, on one of its lines"
                found.append(
                    Diagnostic(
                        "TMG027", shown, pragma.line, pragma.column, message=message, hint=hint, severity="warning"
                    )
                )
            if (path, pragma) in overruled:
                message = f"`{pragma.text}` has no effect: an option says otherwise of {overruled[path, pragma]}"
                hint = "remove one of the two"
                found.append(
                    Diagnostic(
                        "TMG027", shown, pragma.line, pragma.column, message=message, hint=hint, severity="warning"
                    )
                )
    return found


def unknown_names(options: Options, facts: Facts) -> list[Diagnostic]:
    """TMG022 for names of options that no input has: warnings, as another script of the run may have them.

    TMG035 for names that the project's configuration gives for all of its scripts.
    """
    labels = sorted({value.label for value in facts.inputs if value.label})
    asked = [("--shared", name) for name in options.shared] + [("--batch-axis", name) for name, _ in options.batch_axes]
    found = []
    for option, name in asked:
        if name in labels:
            continue
        import difflib

        near = difflib.get_close_matches(name, labels, 1)
        known = f"{near[0]} is meant?" if near else "no input is seen"
        if labels and not near:
            known = f"the inputs are {', '.join(labels)}"
        message = f"{option}: no input is called {name}"
        if name in options.of_project:
            known += "; where it is another script's: name that one's file in [[tool.tf-multigpu.overrides]]"
            message = f"the configuration's {option[2:]}: no input is called {name}"
        code = "TMG035" if name in options.of_project else "TMG022"
        found.append(Diagnostic(code, facts.path, 0, 0, message=message, hint=known, severity="warning"))
    return found


def axes_beyond_rank(options: Options, facts: Facts) -> tuple[Diagnostic, ...]:
    """TMG037 for batch axes, of options or comments, that the shape of the input does not have."""
    axes, found = dict(options.batch_axes), []
    for value in facts.inputs:
        axis, rank = axes.get(value.label), value.rank
        if axis is None or rank is None or axis < rank or value.node is None:
            continue
        message = f"{value.label} has no axis {axis}, which batch-axis names: its shape is of rank {rank}"
        hint = f"its last axis is {rank - 1}" if rank else "it is a scalar: every tower gets it whole"
        if value.label in options.of_project:
            hint += "; if the configuration means another script: name that file in [[tool.tf-multigpu.overrides]]"
        line, column = getattr(value.node, "lineno", 0), getattr(value.node, "col_offset", 0) + 1
        found.append(Diagnostic("TMG037", facts.shown(value.node), line, column, message=message, hint=hint))
    return tuple(found)


def _marked(facts: Facts, marks: Marks) -> Iterator[tuple[Pragma, str, ast.AST]]:
    """Pragmas about inputs, each with the input on its line: the input's name and the call that creates it."""
    for value in facts.inputs if marks else ():
        node = value.node
        if node is None or not value.label:
            continue
        lines = range(getattr(node, "lineno", 0), (getattr(node, "end_lineno", 0) or 0) + 1)
        for pragma in marks.get(facts.path_of(node), ()):
            if pragma.name in ("shared", "batch-axis") and pragma.line in lines:
                yield pragma, value.label, node


def _contradiction(facts: Facts, node: ast.AST, pragma: Pragma, label: str) -> Refusal:
    message = f"`{pragma.text}` contradicts what another comment or option says of {label}"
    path = os.path.normpath(facts.shown(node))
    return Refusal(Diagnostic("TMG027", path, pragma.line, pragma.column, message=message, hint="keep one of the two"))
