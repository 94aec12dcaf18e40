"""Errors and warnings that point to a node of the script, as checks give them."""

from __future__ import annotations

import ast
import os

from converter.analysis.facts import Facts
from converter.diagnostics import Diagnostic, Severity
from converter.source.users import User


def error(facts: Facts, node: ast.AST, code: str, message: str, hint: str) -> Diagnostic:
    """An error that points to a node of the script, or of the other file of the project that it is in."""
    return at_node(facts, node, code, message, hint, "error")


def warn(facts: Facts, node: ast.AST, code: str, message: str, hint: str) -> Diagnostic:
    """A warning that points to a node, as a refusal does."""
    return at_node(facts, node, code, message, hint, "warning")


def at_user(
    facts: Facts, user: User, code: str, message: str, hint: str, severity: Severity = "error"
) -> Diagnostic:
    """A finding about another script of the project, at its import of the files that change."""
    return at_place(facts, user.path, user.line, 1 if user.line else 0, code, message, hint, severity)


def at_place(
    facts: Facts, path: str, line: int, column: int, code: str, message: str, hint: str, severity: Severity
) -> Diagnostic:
    """A finding at a place of another file; path: absolute. line, column: 0 where they are not known."""
    here = os.path.dirname(facts.path)
    shown = os.path.join(here, os.path.relpath(path, os.path.abspath(here)))  # as the user would write it
    return Diagnostic(
        code=code, path=shown, line=line, column=column, message=message, hint=hint, severity=severity
    )


def at_node(facts: Facts, node: ast.AST, code: str, message: str, hint: str, severity: Severity) -> Diagnostic:
    """A finding that points to a node of the script, or of the other file of the project that it is in."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0) + 1
    return Diagnostic(
        code=code, path=facts.shown(node), line=line, column=column, message=message, hint=hint, severity=severity
    )
