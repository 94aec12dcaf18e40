"""Scripts trained by a library that no target is for: the refusal names the library's own way to several GPUs."""

from __future__ import annotations

import ast

from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.syntax.script import Script
from converter.targets.keras_package import trained_by_keras
from converter.targets.lightning import trained_by_lightning


def trained_elsewhere(path: str, text: str, tree: ast.Module, options: Options) -> Diagnostic | None:
    """The refusal of a script that PyTorch Lightning or the package `keras` trains; None for others."""
    script = Script(path, text, tree)
    return trained_by_lightning(script, options) or trained_by_keras(script, options)
