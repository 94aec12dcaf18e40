"""Errors and warnings that point to a node of the script, as checks give them."""

from __future__ import annotations

import ast
import os

from converter.analysis.facts import Facts
from converter.diagnostics import Diagnostic, Severity
from converter.source.project.above import seen_from
from converter.source.project.users import User


def error(facts: Facts, node: ast.AST, code: str, message: str, hint: str) -> Diagnostic:
    """An error that points to a node of the script, or of the other file of the project that it is in."""
    return at_node(facts, node, code, message, hint, "error")


def warn(facts: Facts, node: ast.AST, code: str, message: str, hint: str) -> Diagnostic:
    """A warning that points to a node, as a refusal does."""
    return at_node(facts, node, code, message, hint, "warning")


def at_user(facts: Facts, user: User, code: str, message: str, hint: str, severity: Severity = "error") -> Diagnostic:
    """A finding about another script of the project, at its import of the files that change."""
    shown = shown_path(facts, user.path)
    column = 1 if user.line else 0
    return Diagnostic(
        code=code, path=shown, line=user.line, column=column, message=message, hint=hint, severity=severity
    )


def shown_path(facts: Facts, path: str) -> str:
    """The absolute path of another file of the project, as the user would write it."""
    return seen_from(os.path.dirname(facts.path), path)


def line_seen_from(facts: Facts, node: ast.AST, other: ast.AST) -> str:
    """Where another node stands, for a finding at a node: "line 5", or "model.py:5" if that is another file."""
    apart = facts.path_of(other) != facts.path_of(node)
    line = getattr(other, "lineno", 0)
    return f"{os.path.basename(facts.shown(other))}:{line}" if apart else f"line {line}"


def at_node(facts: Facts, node: ast.AST, code: str, message: str, hint: str, severity: Severity) -> Diagnostic:
    """A finding that points to a node of the script, or of the other file of the project that it is in."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0) + 1
    return Diagnostic(
        code=code, path=facts.shown(node), line=line, column=column, message=message, hint=hint, severity=severity
    )
