"""The least that a rewrite of one file with LibCST does: what the tool's own time is held against.

Imports black and LibCST, parses the file, resolves scopes, qualified names and positions, generates the code.
"""

import sys
from pathlib import Path

import black  # noqa: F401
import libcst
from libcst.metadata import MetadataWrapper, PositionProvider, QualifiedNameProvider, ScopeProvider

wrapper = MetadataWrapper(libcst.parse_module(Path(sys.argv[1]).read_bytes()), unsafe_skip_copy=True)
wrapper.resolve_many([ScopeProvider, QualifiedNameProvider, PositionProvider])
assert wrapper.module.code
