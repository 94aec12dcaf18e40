"""Refusals and warnings that point to a node of the script."""

from __future__ import annotations

import ast

from converter.analysis.facts import Facts
from converter.diagnostics import Diagnostic, Refusal, Severity


def refuse(facts: Facts, node: ast.AST, code: str, message: str, hint: str) -> Refusal:
    """A refusal that points to a node of the script, or of the other file of the project that it is in."""
    return Refusal(_finding(facts, node, code, message, hint, "error"))


def warn(facts: Facts, node: ast.AST, code: str, message: str, hint: str) -> Diagnostic:
    """A warning that points to a node, as a refusal does."""
    return _finding(facts, node, code, message, hint, "warning")


def _finding(facts: Facts, node: ast.AST, code: str, message: str, hint: str, severity: Severity) -> Diagnostic:
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0) + 1
    return Diagnostic(code, facts.shown(node), line, column, message, hint, severity)
