"""Programs that the package `keras` trains: its `multi_gpu_model` copies the model to each GPU.

The model of the program stays what it is, and the copies use its weights: fit() and its like train the copies, while it
predicts, is evaluated, saved and seen by callbacks as before. Seen of keras 2.3.1 and 2.2.4 on TensorFlow 1.15.5 with
two and three copies: a batch of any size gives the weights of one GPU with that batch to 1e-6, and a penalty on weights
counts once. Averages of batch normalisation follow the last copy, whose part of a batch is never empty. Copies are made
when training begins, so that they train the layers that the model trains then: also where two models share layers of
which one does not train them, as a generator's does with its discriminator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from converter.analysis.traits import Trait, has
from converter.parsing import parse_text
from converter.plan.decisions import Decision
from converter.runtime.catalog import source_of
from converter.syntax.changes import Change, lines_before, replaced
from converter.syntax.known import is_known, last_name
from converter.syntax.script import Script, all_arguments, argument, called_name, is_on, nodes_of, returns_in
from converter.targets.mirrored.batch_makers import (
    Maker,
    grown_makers,
    inside_makers,
    is_of_arrays,
    makers_of,
    reads_of,
)
from converter.targets.mirrored.counts import (
    COUNTED,
    batch_counts,
    check_count,
    check_part,
    divisions,
    is_batch_size,
    warn_of_count,
)
from converter.targets.mirrored.elsewhere import definition, module_beside
from converter.targets.mirrored.keras import DEFAULT_BATCH, compiles, grown_fits
from converter.targets.mirrored.losses import keras_losses
from converter.targets.mirrored.program import Program, last
from converter.targets.mirrored.replicated import keras_code, reachable
from converter.targets.mirrored.rows_of_batches import Rows, grown_rows, rows_of
from converter.targets.passes import Case

COPIED, BATCH = "TMG159", "TMG154"
_PACKAGE = "keras"
_HELPER, _INNER = "train_on_copies", "copies_of"
_REDUCTIONS = [kind + what for kind in ("", "reduce_") for what in ("sum", "mean", "max", "min", "std", "var", "prod")]
Call = tuple[Script, ast.Call]
Function = tuple[Script, ast.FunctionDef | ast.Lambda]


def is_of_package(program: Program) -> bool:
    """True if a file of the program imports the package `keras`, and none minimises a loss itself."""
    if any(has(last_name(file, call.func), Trait.TRAINS) for file, call in program.calls()):
        return False
    return any(imports_package(file) for file in program.files)


def imports_package(script: Script) -> bool:
    """True if a file imports the package `keras`."""
    modules = (alias.name for node in script.nodes(ast.Import) for alias in node.names)
    sources = (node.module or "" for node in script.nodes(ast.ImportFrom) if not node.level)
    return any(name.partition(".")[0] == _PACKAGE for name in (*modules, *sources))


def obstacle(program: Program, total: bool) -> str:
    """Why the models of a program are not copied to several GPUs, as the end of a sentence; "" where they are."""
    trained = program.trainings
    for why in (
        *(_of_training(program, *call) for call in trained),
        *(_of_compile(program, file, call) for file in program.files for call in compiles(file)),
        *(_of_layer(file, call) for file, call in program.calls()),
        *(_of_loss(program, file) for file in program.files),
        _of_phases(program),
        "" if total else _of_sizes(program, trained),
    ):
        if why:
            return why
    return ""


def _of_training(program: Program, file: Script, call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    model = call.func.value
    if not last(model):
        return "as a model without a name is trained"
    stmt = file.statement(call)
    if file.text[file.line(stmt.lineno) : file.span(stmt)[0]].strip():
        return "as the training shares its line with another statement"
    return _of_makers(program, file, model)


def _of_compile(program: Program, file: Script, call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    if not program.runs(file, call):
        return ""
    if any(k.arg == "target_tensors" for k in call.keywords):
        return "as compile() is given the tensors of its targets"
    if not last(call.func.value):
        return "as a model without a name is compiled"
    return _of_makers(program, file, call.func.value)


def _of_makers(program: Program, file: Script, model: ast.expr) -> str:
    """Why it is not known what a model holds: all that makes it is a package other than keras, or a file."""
    makers = [value.func for value in file.bound(model) if isinstance(value, ast.Call)]
    unseen = [one for one in makers if _is_unseen(program, file, one)]
    others = [one for one in makers if one not in unseen]
    read = others and all(has(file.name(one), Trait.READS_MODEL) for one in unseen)
    return "" if not unseen or read else f"as it is not seen how {ast.unparse(unseen[0])} makes the model"


def _is_unseen(program: Program, script: Script, maker: ast.expr) -> bool:
    """True for what makes a model in a package other than keras, and for a model that is read from a file."""
    if definition(script, maker, program.folder) is not None:
        return False
    name = script.name(maker)
    if not name and isinstance(maker, ast.Name):
        starred = (module_beside(script, module, program.folder) for module in _star_modules(script))
        files = (script, *filter(None, starred))
        classes = (node.name for file in files for node in file.nodes(ast.ClassDef))
        modules = (module for file in files for module in _star_modules(file))
        return maker.id not in classes and not any(_PACKAGE in module.split(".") for module in modules)
    if not name:
        return False
    if name.partition(".")[0] == _PACKAGE:
        return has(name, Trait.READS_MODEL)
    parts = name.split(".")  # also a method of a class in a module: nets.Builder.build
    modules = (".".join(parts[:number]) for number in range(1, len(parts) + 1))
    return not any(module_beside(script, module, program.folder) for module in modules)


def _star_modules(file: Script) -> Iterator[str]:
    """The modules from which a file imports all names."""
    for node in file.nodes(ast.ImportFrom):
        if any(alias.name == "*" for alias in node.names):
            yield "." * node.level + (node.module or "")


def _called(script: Script, call: ast.Call) -> str:
    """The called name without its modules; a name imported by `*` is returned as it is written."""
    return last_name(script, call.func) or getattr(call.func, "id", "")


def _of_layer(script: Script, call: ast.Call) -> str:
    told = {k.arg for k in call.keywords if k.arg and is_on(k.value) and not _hands_on(k)}
    if "stateful" in told:
        return "as a stateful layer hands its state on to the next batch"
    if told & {"batch_input_shape", "batch_shape"}:
        return "as the model is built for one size of batch"
    if "activity_regularizer" in told or _called(script, call) == "add_loss":
        return "as each copy would add its loss of what a layer gives"
    if _called(script, call) == "Lambda" and (reduced := _reduced_in(script, argument(call, 0, "function"))):
        return f"as a layer computes with all examples of a batch at once ({reduced})"
    return ""


def _reduced_in(script: Script, function: ast.expr | None) -> str:
    """Where the function of a layer reduces the axis of the examples, as `file:line`; "" where it does not."""
    found = definition(script, function) if function is not None else None
    file, code = found if found is not None else (script, function)
    for call in nodes_of(ast.Call, code) if isinstance(code, ast.Lambda | ast.FunctionDef) else ():
        if _called(file, call) in _REDUCTIONS and _is_library(file, call):
            axis = argument(call, 1, "axis")
            if axis is None or (isinstance(axis, ast.Constant) and axis.value in (0, None)):
                return f"{file.path}:{call.lineno}"
    return ""


def _hands_on(given: ast.keyword) -> bool:
    """Whether a keyword is given what a parameter or an attribute of its name holds: other calls say what that is."""
    value = given.value
    if isinstance(value, ast.Call) and ast.unparse(value.func).startswith("regularizers.") and len(value.args) == 1:
        value = value.args[0]
    return last(value) == given.arg


def _is_library(file: Script, call: ast.Call) -> bool:
    """Whether a call is one of a library: also of K of keras.backend that is imported by *, but no method."""
    return bool(file.name(call.func)) or ast.unparse(call.func).startswith("K.") or isinstance(call.func, ast.Name)


def _of_loss(program: Program, script: Script) -> str:
    """Losses that compute with tensors of the model itself, which the copies do not feed, or with a size of batches."""
    for loss in keras_losses(script):
        given = script.value(loss)
        held = [given, *(all_arguments(given) if isinstance(given, ast.Call) else ())]
        read = next((one for one in held if _is_layers(script.bindings.get(ast.unparse(one), []))), None)
        if read is not None:
            return f"as a loss reads {ast.unparse(read)}, a tensor of the model, beside what the copies give"
        functions = _functions_of(program, script, given)
        reasons = (_of_name(file, node, one) for file, one in functions for node in ast.walk(one))
        if why := next(filter(None, reasons), ""):
            return why
    return ""


def _functions_of(program: Program, file: Script, loss: ast.expr) -> Iterator[Function]:
    """The functions that a loss names, wherever they are defined, that make it, or that are written there."""
    for node in ast.walk(loss):
        if isinstance(node, ast.Lambda):
            yield file, node
        elif isinstance(node, ast.Name | ast.Attribute):
            found = program.definition(file, node)
            yield from [found] if found is not None else ((file, one) for one in file.functions.get(last(node), []))


def _of_name(script: Script, node: ast.AST, function: ast.FunctionDef | ast.Lambda) -> str:
    """Why a name in a loss keeps copies from training: a tensor of the model, or the size of one GPU's batch."""
    if isinstance(node, ast.Call) and _called(script, node) == "gradients":
        return "as a loss takes gradients of what the model gives, which the copies give in parts"
    if not isinstance(node, ast.Name | ast.Attribute):
        return ""
    own = {one.arg for one in nodes_of(ast.arg, function)}
    values = script.bindings.get(ast.unparse(node), [])
    if ast.unparse(node) in own or any(function in script.above(value) for value in values):
        return ""
    if isinstance(node, ast.Name) and _is_layers(values):
        return f"as a loss reads {node.id}, a tensor of the model, beside what the copies give"
    if is_batch_size(node) and "size" in last(node).lower():
        return f"as a loss computes with {ast.unparse(node)}, and it is that of all GPUs' batches"
    return ""


def _is_layers(values: list[ast.expr]) -> bool:
    """Whether a name is bound to what a layer gives: `Dense(2)(h)`."""
    return any(isinstance(value, ast.Call) and isinstance(value.func, ast.Call) for value in values)


def _of_phases(program: Program) -> str:
    """Refuse several calls of set_learning_phase: copies are made later than the model and could get another phase."""
    said = [call for file, call in program.calls() if _called(file, call) == "set_learning_phase"]
    return "as the learning phase is set at several places" if len(said) > 1 else ""


def _of_sizes(program: Program, trained: list[Call]) -> str:
    """Batches whose size is not seen are shared by the GPUs: batch normalisation would see a part of them."""
    if _sizes_seen(program, trained) is not None or next(_norms(program), None) is None:
        return ""
    why = "as the size of its batches is not seen, and batch normalisation would have the statistics of a part of them"
    return f"{why} (--batch total trains so all the same)"


def _sizes_seen(program: Program, trained: list[Call]) -> tuple[list[Maker], list[Rows]] | None:
    """The generators and row counts that set all trainings' batch sizes; None if one size cannot be found."""
    makers: list[Maker] = []
    by_hand = [call for call in trained if called_name(call[1]) == "train_on_batch"]
    for file, call in trained:
        if (file, call) in by_hand or is_of_arrays(call):
            continue
        found = makers_of(program, file, call)
        if found is None:
            return None
        makers += found
    rows = rows_of(program, by_hand)
    joined = [(one.file, model) for one in rows or () for model in one.joined]
    if any(_has_norm(program, *model) for model in joined):
        return None
    if rows is None or (rows and len(by_hand) < len(trained)):  # one number may stand behind both kinds of batches
        return None
    return makers, rows


def _has_norm(program: Program, file: Script, model: ast.expr) -> bool:
    """Whether a model may have batch normalisation: unless a function is seen that makes it without."""
    for made in file.bound(model):
        found = program.definition(file, made.func) if isinstance(made, ast.Call) else None
        if found is None or any(_is_norm(found[0], n) for n in reachable(*found) if isinstance(n, ast.Call)):
            return True
    return not file.bound(model)


def _is_norm(file: Script, call: ast.Call) -> bool:
    called = _called(file, call)
    ready_made = file.name(call.func).startswith(f"{_PACKAGE}.applications.") and called[:1].isupper()
    return called == "BatchNormalization" or (ready_made and not called.startswith("VGG"))  # which has none


def _norms(program: Program) -> Iterator[Call]:
    """Where batch normalisation comes in: a layer, or a model of the package that has it."""
    return ((file, call) for file, call in program.calls() if _is_norm(file, call))


def copied(program: Program, case: Case) -> Case:
    """Copies of each model of a program are trained in its place; case: of its script."""
    script, options = case.script, case.options
    trained = program.trainings
    if options.num_gpus is None or options.num_gpus < 2 or options.fewer_gpus != "refuse":
        flag = "--fewer-gpus allow" if options.fewer_gpus != "refuse" else f"--num-gpus {options.num_gpus or 'auto'}"
        script.finding(_in(script, trained[0]), "TMG287", flag=flag)
        return case
    seen = _sizes_seen(program, trained)
    total = options.batch == "total" or seen is None
    if total and options.batch == "per-gpu":
        _say_not_found(program, trained)
    _check(program, case, total)
    changes = list(_trained_by_copies(trained, options.num_gpus))
    if not total and seen is not None:
        changes += _sizes(program, case, trained, *seen)
    for file in program.files[1:]:
        script.findings.extend(finding for finding in file.findings if finding not in script.findings)
    mine = tuple(change for file, change in changes if file is script)
    others = tuple((file, change) for file, change in changes if file is not script)
    decisions = tuple(_decisions(case, trained, total))
    return replace(case, changes=(*case.changes, *mine), others=others, decisions=decisions)


def _in(script: Script, call: Call) -> ast.AST:
    """A call, if it stands in the script; else the first statement of that."""
    return call[1] if call[0] is script else script.tree.body[0]


def _say_not_found(program: Program, trained: list[Call]) -> None:
    file, call = next(
        (file, call) for file, call in trained if not is_of_arrays(call) and makers_of(program, file, call) is None
    )
    file.finding(call, "TMG303 keras_generator")


def _check(program: Program, case: Case, total: bool) -> None:
    """Refuse what copies would compute otherwise, and warn of what they take from a part of the batch."""
    for file in program.files:
        for loss in () if total else keras_losses(file):
            if _adds_up(program, file, loss):
                file.finding(loss, "TMG288 copies_add_up")
        if total:
            check_part(file, keras_code(file))
    norm = next(_norms(program), None)
    if norm is not None:
        norm[0].finding(norm[1], "TMG381 last_copy")


def _adds_up(program: Program, script: Script, loss: ast.expr) -> bool:
    """True for a loss in which the examples of a batch are added up, by `K.sum` without an axis or `reduction`."""
    given = script.value(loss)
    told = (k.value for call in nodes_of(ast.Call, given) for k in call.keywords if k.arg == "reduction")
    if any(ast.unparse(one).strip("'\"").lower().rpartition(".")[2] == "sum" for one in told):
        return True
    functions = _functions_of(program, script, given)
    return any(_is_sum(file, value) for file, function in functions for value in returns_in(function))


def _is_sum(file: Script, node: ast.expr) -> bool:
    """Whether an expression is a sum over all examples, also a multiple of one; a ratio of two sums is none."""
    if isinstance(node, ast.UnaryOp):
        return _is_sum(file, node.operand)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Div):
            return not any(nodes_of(ast.Call, node.right)) and _is_sum(file, node.left)
        return _is_sum(file, node.left) or _is_sum(file, node.right)
    if isinstance(node, ast.Name):
        value = file.value(node)
        return value is not node and not isinstance(value, ast.Name) and _is_sum(file, value)
    if not isinstance(node, ast.Call):
        return False
    adds = is_known(file, node.func, Trait.ADDS_UP) or _called(file, node) == "sum"
    return adds and argument(node, 1, "axis") is None


def _trained_by_copies(trained: list[Call], gpus: int) -> Iterator[tuple[Script, Change]]:
    """A call of the helper in front of the first training of each model, and the helper below the imports."""
    names: dict[int, str] = {}
    done: list[tuple[Script, str, ast.stmt]] = []
    for file, call in trained:
        assert isinstance(call.func, ast.Attribute)
        model = ast.unparse(call.func.value)
        if any(_leads_to(file, place, call, model) for where, name, place in done if where is file and name == model):
            continue
        place = _in_front_of_loops(file, call, model)
        done.append((file, model, place))
        if id(file) not in names:
            names[id(file)] = file.new(_HELPER)
            yield file, _helper(file, names[id(file)])
        yield file, lines_before(file, place, [f"{names[id(file)]}({model}, gpus={gpus})"], COPIED)


def _leads_to(file: Script, place: ast.stmt, call: ast.Call, model: str) -> bool:
    """Whether each run of a training comes from a place in the same function, and the model stays the same between."""
    block = file.block(place)
    after = block[block.index(place) :]
    if file.function(place) is not file.function(call) or not any(one in after for one in file.above(call)):
        return False
    return not any(node.lineno <= call.lineno for node in _bound_places(model, *after))


def _in_front_of_loops(file: Script, call: ast.Call, model: str) -> ast.stmt:
    """The statement that trains, or the outermost loop around it in which the model stays the same."""
    place = file.statement(call)
    for outer in file.above(place):
        if isinstance(outer, ast.FunctionDef | ast.ClassDef | ast.Module):
            break
        if isinstance(outer, ast.For | ast.While):
            if any(_bound_places(model, outer)) or _bound_by_calls(file, outer, model):
                break
            place = outer
    return place


def _bound_places(model: str, *nodes: ast.AST) -> Iterator[ast.expr]:
    """The places in pieces of code that bind a model, or the name that its dotted name begins with."""
    first = model.partition(".")[0]
    yield from (one for one in nodes_of(ast.Name, *nodes) if isinstance(one.ctx, ast.Store) and one.id == first)
    attributes = (one for one in nodes_of(ast.Attribute, *nodes) if isinstance(one.ctx, ast.Store))
    yield from (one for one in attributes if ast.unparse(one) == model)


def _bound_by_calls(file: Script, loop: ast.AST, model: str) -> bool:
    """Whether a function that a loop calls binds the model, as a global name or an attribute."""
    for function in (one for call in nodes_of(ast.Call, loop) for one in file.functions.get(called_name(call), ())):
        declared: list[ast.Global | ast.Nonlocal] = [*nodes_of(ast.Global, function), *nodes_of(ast.Nonlocal, function)]
        shared = "." in model or any(model in one.names for one in declared)
        if shared and any(_bound_places(model, function)):
            return True
    return False


def _helper(script: Script, name: str) -> Change:
    """The functions that train by copies, below the imports of the script; name: of the one that it calls."""
    text, inner = source_of("copies"), script.new(_INNER)
    lines = text.splitlines()
    functions = [stmt for stmt in parse_text(text).body if isinstance(stmt, ast.FunctionDef)]
    blocks = [["", *lines[one.lineno - 1 : one.end_lineno], ""] for one in functions]
    written = [_indented_by(line, script.unit) for block in blocks for line in block]
    written = [line.replace(_HELPER, name).replace(f"{_INNER}(", f"{inner}(") for line in written]
    imports = [stmt for stmt in script.tree.body if isinstance(stmt, ast.Import | ast.ImportFrom)]
    rest = script.tree.body[script.tree.body.index(imports[-1]) + 1 if imports else 0 :]
    return lines_before(script, rest[0], [*written, ""], COPIED)


def _indented_by(line: str, unit: str) -> str:
    depth = (len(line) - len(line.lstrip(" "))) // 4
    return unit * depth + line.lstrip(" ")


def _sizes(
    program: Program, case: Case, trained: list[Call], makers: list[Maker], rows: list[Rows]
) -> Iterator[tuple[Script, Change]]:
    """Batches of fit(), of generators and of loops grow, and what counts them follows."""
    times = str(case.options.num_gpus)
    yield from grown_makers(makers, times, case.width, BATCH)
    yield from grown_rows(rows, times, BATCH)
    read = {(id(file), begin, end) for file, begin, end in reads_of(makers)}
    for file in program.files:
        mine = [call for where, call in trained if where is file]
        if not mine and not any(maker.file is file for maker in makers):
            continue
        arrays = [call for call in mine if is_of_arrays(call)]
        yield from ((file, change) for change in grown_fits(replace(case, script=file), times, BATCH, arrays))
        grown = {(begin, end) for where, begin, end in read if where == id(file)}
        grown |= set(inside_makers(program, file, makers)) | {span for one in rows for span in one.uses_in(file)}
        code = keras_code(file)
        counted = [c for c in batch_counts(file, case.options, code) if (c.begin, c.end) not in grown]
        yield from ((file, change) for change in counted)
        known = {(change.begin, change.end) for change in counted} | grown
        yield from ((file, change) for change in _written_out(file, mine, makers, times, known))
        _check_validations(file, mine, makers)


def _check_validations(file: Script, trained: list[ast.Call], makers: list[Maker]) -> None:
    """Warn of batches of a validation that grow with those of the training, as one call makes both (TMG384)."""
    for call in trained:
        data, steps = argument(call, -1, "validation_data"), argument(call, -1, "validation_steps")
        if data is not None and steps is not None and any(m.call in file.bound(data) for m in makers):
            warn_of_count(file, steps)


def _written_out(
    script: Script, trained: list[ast.Call], makers: list[Maker], times: str, known: set[tuple[int, int]]
) -> Iterator[Change]:
    """Numbers of steps that are divided by a size which is written out, as `len(x) // 32`."""
    sizes = {ast.unparse(m.size) if m.size is not None else str(DEFAULT_BATCH) for m in makers}
    for call in trained:
        place = {"fit": 12, "fit_generator": 1}.get(called_name(call))
        steps = argument(call, place, "steps_per_epoch") if place is not None else None
        if steps is None:
            continue
        divisors = [division.right for division in divisions(script.value(steps))]
        written = [one for one in divisors if script.span(one) not in known and ast.unparse(one) in sizes]
        if not written:
            check_count(script, steps)
        yield from (replaced(script, one, f"({script.of(one)} * {times})", COUNTED) for one in written[:1])


def _decisions(case: Case, trained: list[Call], total: bool) -> Iterator[Decision]:
    number = case.options.num_gpus
    names = (ast.unparse(call.func.value) for _, call in trained if isinstance(call.func, ast.Attribute))
    models = ", ".join(dict.fromkeys(names))
    files = dict.fromkeys(file.path for file, _ in trained if file is not case.script)
    where = f"in {', '.join(files)}" if files else "here"
    brief = "multi_gpu_model, as the package keras trains"
    yield Decision("target", f"mirrored: the package keras trains {where}", brief)
    size = "the script's, shared by the GPUs" if total else "the script's for each GPU"
    yield Decision("batch size", size, f"batch size {size}")
    yield Decision("loss", "computed once, on the batch of all GPUs")
    yield Decision("copies", f"{number} of {models}, by keras.utils.multi_gpu_model (keras 2.2 and 2.3)")
    yield Decision("saved", f"{models}, as for one GPU")
