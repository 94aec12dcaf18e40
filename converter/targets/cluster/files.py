"""--shard files: each worker reads its own part of the files that the script trains on."""

from __future__ import annotations

import ast

from converter.analysis.traits import Trait
from converter.syntax.changes import Change
from converter.syntax.known import is_known
from converter.syntax.script import Script, all_arguments, argument, nodes_of

WORKER = "TMG158"
_NAMES = ("filenames", "string_tensor", "file_pattern")


def own_files(script: Script, cluster: str) -> list[Change]:
    """The call that names the files of the training gets each worker's part of them; refused where that is not sure."""
    calls = [call for call in script.calls if is_known(script, call.func, Trait.READS_FILES)]
    calls = [call for call in calls if not _reads_what_is_listed(script, call)]
    if not calls:
        return script.refused(None, "TMG259 no_files")
    for other in calls[1:]:
        script.finding(other, "TMG259 several_calls")
    call = calls[0]
    for function in (one for one in script.above(call) if isinstance(one, ast.FunctionDef)):
        methods = [node for node in script.nodes(ast.Attribute) if node.attr == function.name]
        if len(methods) + len(script.reads(function.name)) > 1:
            script.finding(call, "TMG259 used_more_than_once", name=function.name)
    given = next((found for name in _NAMES if (found := argument(call, 0, name)) is not None), None)
    if given is None or isinstance(given, ast.Starred):
        return script.refused(call, "TMG259 files_not_seen")
    listed = call if is_known(script, call.func, Trait.LISTS_FILES) else given
    begin, end = script.span(listed)
    return [Change(begin, begin, f"{cluster}.part_of(", WORKER), Change(end, end, ")", WORKER)]


def _reads_what_is_listed(script: Script, call: ast.Call) -> bool:
    """True for a call whose files are an argument of a lambda or a function around it: another call has listed them."""
    named = {node.id for node in nodes_of(ast.Name, *all_arguments(call))}
    around = (one for one in script.above(call) if isinstance(one, ast.Lambda))
    return any(named & {argument.arg for argument in one.args.args} for one in around)
