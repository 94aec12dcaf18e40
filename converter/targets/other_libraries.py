"""Scripts that a library trains which no target is for; the library's own way to several GPUs is told."""

from __future__ import annotations

import ast

from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.syntax.script import Script
from converter.targets.keras_package import imports_keras, trained_by_keras
from converter.targets.lightning import imports_lightning, trained_by_lightning


def may_train_elsewhere(text: str) -> bool:
    """Whether such a library may train a script, by its words."""
    return imports_lightning(text) or imports_keras(text)


def trained_elsewhere(path: str, text: str, tree: ast.Module, options: Options) -> Diagnostic | None:
    """The refusal of a script that PyTorch Lightning or the package `keras` trains; None for others."""
    script = Script(path, text, tree)
    found = trained_by_lightning(script, options) if imports_lightning(text) else None
    return found or (trained_by_keras(script, options) if imports_keras(text) else None)
