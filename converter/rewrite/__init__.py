"""Applies a plan to a script's text with LibCST; nothing is decided here."""

from converter.rewrite import nodes as nodes  # first: it imports LibCST for all
from converter.rewrite.apply import Rewritten, apply
from converter.rewrite.deep_expressions import DepthError
from converter.rewrite.helper_text import BEGIN, helper_module_text
from converter.rewrite.outline import LossError
from converter.runtime.whole import whole_module

__all__ = ["BEGIN", "DepthError", "LossError", "Rewritten", "apply", "helper_module_text", "whole_module"]
