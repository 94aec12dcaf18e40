"""How the script says the number of GPUs: a constant or a flag."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from dataclasses import replace

from converter.analysis.facts import Facts, FlagDefinition
from converter.analysis.values import Origin, Site
from converter.dataclass import dataclass
from converter.options import Options
from converter.plan import Insert
from converter.planner.batch_size.before_parsing import comes_before, is_early, is_parsed_by_imports
from converter.planner.questions.statements import IS_RUN, is_text
from converter.planner.writing.aliases import Aliases
from converter.planner.writing.context import WritingContext
from converter.planner.writing.free_names import TakenNames
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText
from converter.source.syntax import first_statement

# flags of scripts that say how many GPUs there are
OWN_FLAGS = ("num_gpus", "num_gpu", "n_gpus", "n_gpu", "ngpus", "ngpu", "gpus", "gpu_num", "gpu_count")
FLAG_HELP = "number of GPUs to train on"
FLAG_MODULE = (
    "tf.app.flags.DEFINE_integer('num_gpus', {0}, '{1}.')",
    "FLAGS = tf.app.flags.FLAGS",
    "training = False  # the script that trains on several GPUs sets it",
    "\n",
    "def towers():",
    "    return FLAGS.num_gpus if training else 1",
)


@dataclass(frozen=True)
class GpuCount:
    """The number of GPUs in the script: a constant, or a new flag beside the script's own.

    name: the constant, "" where a flag takes its place. names: those that are taken then.
    define: the statement that defines the number. module: the module that carries it, "" where the script does.
    module_is_shared: whether that module is the same for every script, so that each script has to tell it the number.
    counts: whether GPUs are counted when the script is run. above: the statement of the script above which the module
    is imported in any case, as the flag that it defines has to be known there.
    """

    name: str
    names: TakenNames
    module: str
    module_is_shared: bool
    counts: bool
    one_gpu: bool
    facts: Facts
    aliases: Aliases
    define: str = ""
    inserts: tuple[Insert, ...] = ()
    above: ast.stmt | None = None

    def at(self, path: str) -> str:
        """The expression for the number of GPUs in a file."""
        if self.module_is_shared and (path or self.one_gpu):
            return f"{self.module}.towers()"
        if self.one_gpu and self.module and not self.name:
            return f"{self.module}.towers()"
        if self.name:
            return f"{self.module}.{self.name}" if self.module else self.name
        return self.flag(path)

    def for_node(self, node: ast.AST) -> str:
        """The expression in the file of a node."""
        return self.at(self.facts.path_of(node))

    def flag(self, path: str) -> str:
        """The flag as a file reads it."""
        return f"{self.aliases.flags(path) or self.module + '.FLAGS'}.num_gpus"


def gpu_count(context: WritingContext, module: str, scaled: Iterable[Origin], own_elsewhere: bool) -> GpuCount:
    """Choose how the script defines the number of GPUs: by a flag beside its own, or by a constant.

    A flag of argparse would come too late for numbers that are scaled while the files are executed.
    own_elsewhere: scripts that share its files may have a flag of this name.
    """
    facts, options, text = context.facts, context.options, context.text
    module_is_shared = bool(module) and options.helpers != "inline"
    value = f"{called('count_gpus')}()" if options.num_gpus is None else str(options.num_gpus)
    flags = [f for f in facts.flags if f.name in OWN_FLAGS]
    definition = _neighbouring_flag(facts, bool(module) and not module_is_shared)
    in_flags = (
        definition is not None
        and definition.style == "flags"
        and not (flags or own_elsewhere)
        and bool((module and not module_is_shared) or context.aliases.flags(""))
        and not comes_before(facts, text, scaled)
    )
    name, names = ("num_gpus" if module and not in_flags else "", context.names)
    if not in_flags and not module:
        name, names = context.names.constant("num_gpus", "tower_count")
    count = GpuCount(
        name=name,
        names=names,
        module=module,
        module_is_shared=module_is_shared,
        counts=options.num_gpus is None,
        one_gpu=options.one_gpu,
        facts=facts,
        aliases=context.aliases,
    )
    if options.one_gpu and not module:
        value += f" if {IS_RUN} else 1"
    count = _defined(count, context, value, in_flags)
    if in_flags and (module_is_shared or not module) and definition is not None:
        inserts = [_flag_beside(count, definition, text, value)]
        return _with(count, inserts, define=count.define if module_is_shared else "")
    if not in_flags and (
        definition is not None
        and definition.style == "argparse"
        and not (flags or own_elsewhere)
        and can_bind_namespace(facts)
        and not is_early(facts, text, scaled, _bound_namespace(facts)[1])
    ):
        return _with(count, _argument_beside(count, definition, text), define=count.define)
    return count


def _with(count: GpuCount, inserts: Iterable[Insert], define: str) -> GpuCount:
    return replace(count, inserts=(*count.inserts, *inserts), define=define)


def _defined(count: GpuCount, context: WritingContext, value: str, in_flags: bool) -> GpuCount:
    """The same with the statement that defines the number, and lines that tell the module of it."""
    if count.module_is_shared:
        return _telling(count, value, context.text, context.options)
    if count.one_gpu and count.module:
        return _switched_on(count, in_flags, value, context.text)
    if in_flags and count.module:  # defined there, so that every script that imports the changed files has the flag
        help_text = f"{FLAG_HELP[0].upper() + FLAG_HELP[1:]}."
        define = f"tf.app.flags.DEFINE_integer('num_gpus', {value}, '{help_text}')\nFLAGS = tf.app.flags.FLAGS"
        return replace(count, define=define, above=_read_by_imports(count.facts))
    return replace(count, define=f"{count.name} = {value}")


def _telling(count: GpuCount, value: str, text: SourceText, options: Options) -> GpuCount:
    """Tells the module, before the script imports a file of its project: that may build the model."""
    number = value if count.name else f"lambda: {count.flag('')}"
    lines = [f"{count.module}.num_gpus = {number}"]
    if options.fewer_gpus == "allow":
        lines.append(f"{count.module}.fewer_gpus = 'allow'")
    if count.one_gpu:
        lines = ["\n    ".join((f"if {IS_RUN}:", *lines))]
    first = _local_import(count.facts)
    if first is None:
        return replace(count, define="\n".join(lines))
    first = _before_arguments(count.facts, first)
    why = "TMG127" if count.one_gpu else "TMG112"
    return _with(count, [Insert(text.anchor(first), tuple(lines), "before", why)], define="")


def _switched_on(count: GpuCount, in_flags: bool, value: str, text: SourceText) -> GpuCount:
    """Towers are built when the script itself is run; whoever else imports the changed files uses one GPU."""
    if in_flags:
        define = "\n".join(FLAG_MODULE).format(value, FLAG_HELP[0].upper() + FLAG_HELP[1:])
        line = f"{count.module}.training = True"
    else:
        define = f"{count.name} = 1  # the script that trains on several GPUs sets it"
        value = f"{count.module}.{value}" if count.counts else value
        line = f"{count.module}.{count.name} = {value}"
    lines = (f"if {IS_RUN}:\n    {line}",)
    first = _before_arguments(count.facts, _first_local_import(count.facts))
    insert = Insert(text.anchor(first), lines, "before", "TMG127")
    return _with(count, [insert], define=define)


def _read_by_imports(facts: Facts) -> ast.stmt | None:
    """The first import of the project's files, where one of them reads a flag: this parses the command line."""
    first = _local_import(facts)
    return _before_arguments(facts, first) if first is not None and is_parsed_by_imports(facts) else None


def _flag_beside(count: GpuCount, definition: FlagDefinition, text: SourceText, value: str) -> Insert:
    """The definition of a flag below one of the script's."""
    function = text.of(definition.call.func).rpartition(".")[0]
    quote = "'" if "'" in text.of(definition.call.args[0]) else '"'
    described = f"{quote}{FLAG_HELP[0].upper() + FLAG_HELP[1:]}.{quote}"
    line = f"{function}.DEFINE_integer({quote}num_gpus{quote}, {value}, {described})"
    return Insert(text.anchor(_executed_once(count.facts, definition)), (line,), "after", "TMG112")


def _argument_beside(count: GpuCount, definition: FlagDefinition, text: SourceText) -> list[Insert]:
    """An argument of argparse below one of the script's, and the assignment of its value to the constant."""
    facts = count.facts
    parser = text.of(definition.call.func)
    quote = "'" if text.of(definition.call.args[0]).startswith("'") else '"'
    default = count.for_node(definition.call)
    option = "--num-gpus" if _writes_dashes(facts) else "--num_gpus"
    line = f"{parser}({quote}{option}{quote}, type=int, default={default}, help={quote}{FLAG_HELP}{quote})"
    target, site, _ = _bound_namespace(facts)
    value = f"vars({target}).pop('num_gpus')" if _is_listed(facts) else f"{target}.num_gpus"
    here = f"{count.module}.{count.name}" if count.module_is_shared else count.for_node(site.stmt)
    inserts = [
        Insert(text.anchor(_executed_once(facts, definition)), (line,), "after", "TMG112"),
        Insert(text.anchor(_behind_guard(facts, target, site.stmt)), (f"{here} = {value}",), "after", "TMG112"),
    ]
    if not count.module and site.frame is not facts.module:
        first = first_statement(site.frame.node)
        inserts.append(Insert(text.anchor(first), (f"global {here}",), "top", "TMG112"))
    return inserts


def _executed_once(facts: Facts, definition: FlagDefinition) -> ast.stmt:
    """The statement that defines a flag, or the loop or condition around it: a flag is defined once, and in any case.

    A block that makes the parser, parses the arguments or leaves its function is entered for each parser.
    """
    parsed = {site.stmt for _, site in facts.namespaces}
    parser = ast.unparse(definition.call.func).rpartition(".")[0]
    stmt: ast.stmt = definition.site.stmt
    around: ast.AST | None = facts.parents.get(stmt)
    while isinstance(around, (ast.For, ast.While, ast.If)):
        inside = [*ast.walk(around)]
        makes = any(isinstance(node, ast.Assign) and parser in map(ast.unparse, node.targets) for node in inside)
        if makes or not parsed.isdisjoint(inside) or any(isinstance(node, ast.Return) for node in inside):
            break
        stmt, around = around, facts.parents.get(around)
    return stmt


def _writes_dashes(facts: Facts) -> bool:
    """True if the names of the script's options are written with dashes between their words, not underscores."""
    given = [arg.value for flag in facts.flags for arg in flag.call.args[:2] if isinstance(arg, ast.Constant)]
    options = [text[2:] for text in given if isinstance(text, str) and text.startswith("--")]
    return sum("-" in option for option in options) > sum("_" in option for option in options)


def _behind_guard(facts: Facts, name: str, stmt: ast.stmt) -> ast.stmt:
    """The statement that binds the parsed arguments, or the condition behind it for the case that they are None."""
    parent = facts.parents.get(stmt)
    blocks = (getattr(parent, field, []) for field in ("body", "orelse", "finalbody"))
    block = next((b for b in blocks if isinstance(b, list) and stmt in b), [stmt])
    behind = block[block.index(stmt) + 1 :]
    tests = (f"{name} is None", f"{name} == None", f"not {name}")
    guarded = behind and isinstance(behind[0], ast.If) and ast.unparse(behind[0].test) in tests
    return behind[0] if guarded else stmt


def _local_import(facts: Facts) -> ast.stmt | None:
    """The script's first top level statement that imports a file of its project."""
    imports = (ast.Import, ast.ImportFrom)
    for stmt in facts.tree.body:
        inside = ast.walk(stmt) if isinstance(stmt, (*imports, ast.Try, ast.If)) else ()
        if any(isinstance(node, imports) and _is_local(facts, node) for node in inside):
            return stmt
    return None


def _first_local_import(facts: Facts) -> ast.stmt:
    """The same, else the first statement behind the script's imports."""
    imports = (ast.Import, ast.ImportFrom)
    first = _local_import(facts)
    if first is not None:
        return first
    rest = [s for s in facts.tree.body if not isinstance(s, imports) and not is_text(s)]
    return rest[0] if rest else facts.tree.body[-1]


def _before_arguments(facts: Facts, stmt: ast.stmt) -> ast.stmt:
    """The statement, or an earlier one that parses the arguments: what the user gives there comes after the default."""
    parsed = {site.stmt for _, site in facts.namespaces} | {flag.site.stmt for flag in facts.flags}
    body = facts.tree.body
    early = (s for s in body[: body.index(stmt)] if not parsed.isdisjoint(ast.walk(s)))
    return next(early, stmt)


def _is_local(facts: Facts, stmt: ast.Import | ast.ImportFrom) -> bool:
    level = stmt.level if isinstance(stmt, ast.ImportFrom) else 0
    module = (stmt.module or "") if isinstance(stmt, ast.ImportFrom) else ""
    names = [".".join(filter(None, (module, alias.name))) for alias in stmt.names]
    here = os.path.abspath(facts.path)
    return any(facts.project.find(name, here, level) in facts.modules for name in (*filter(None, [module]), *names))


def _neighbouring_flag(facts: Facts, anywhere: bool) -> FlagDefinition | None:
    """The flag that the new one stands beside: the batch size's, else the last; of the parser that the script keeps."""
    own = [f for f in facts.flags if anywhere or f.call not in facts.foreign]
    chosen = next((f for f in own if "batch" in f.name), own[-1] if own else None)
    if chosen is None or chosen.style != "argparse" or not can_bind_namespace(facts):
        return chosen
    parser = facts.parsers.get(_bound_namespace(facts)[2])
    kept = [f for f in own if f.style == "argparse" and f.parser == parser]
    return next((f for f in kept if "batch" in f.name), kept[-1]) if kept else chosen


def _is_listed(facts: Facts) -> bool:
    """Whether a file goes through all parsed arguments, or hands them all to a function: `train(**vars(args))`.

    One more that it does not know would be an unexpected argument there.
    """
    for tree in facts.trees():
        called = (node.func for node in facts.nodes(ast.Call, tree) if node.args)
        if any(isinstance(func, ast.Name) and func.id == "vars" for func in called):
            return True
        if any(node.attr in ("__dict__", "_get_kwargs") for node in facts.nodes(ast.Attribute, tree)):
            return True
    return False


def _bound_namespace(facts: Facts) -> tuple[str, Site, int]:
    """The first name that the parsed arguments are bound to, where, and the arguments' number."""
    known = {namespace.uid for namespace, _ in facts.namespaces}
    for access in facts.accesses:
        if access.write and access.value.uid in known and access.place.kind == "name":
            return access.place.key, access.site, access.value.uid
    raise AssertionError("parsed arguments that are read have a name")


def can_bind_namespace(facts: Facts) -> bool:
    """True if the parsed arguments are kept under a name, so that further ones can be read."""
    known = {namespace.uid for namespace, _ in facts.namespaces}
    return any(a.write and a.value.uid in known and a.place.kind == "name" for a in facts.accesses)
