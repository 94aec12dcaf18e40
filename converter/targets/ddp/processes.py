"""The lines that start the processes and end them, and the helper functions that a script needs."""

from __future__ import annotations

import ast
import re

from converter.options import Options
from converter.syntax.changes import Change, lines_before, replaced
from converter.syntax.script import Script, method_name, nodes_of

START = "TMG176"
MARKER = "# tf-multigpu: helpers for training with a process for each GPU"
# Calls that may come before the processes know each other: they compute nothing on a GPU and draw nothing.
_EARLY = ("argparse.", "torch.device", "torch.cuda.is_available", "os.path.", "os.environ", "pathlib.", "logging.")
_EARLY_METHODS = ("add_argument", "parse_args", "ArgumentParser", "getenv", "get", "add_argument_group")

_HEAD = """\
if 'LOCAL_RANK' not in os.environ:
    raise SystemExit('start this script with: torchrun --nproc_per_node={gpus} %s' % sys.argv[0])
rank, world_size = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
"""
_START = '''\
def start_processes():
    """Joins this process to the others; each has a GPU of its own, and rank 0 prints."""
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ['LOCAL_RANK']))  # what 'cuda' means from here on
    backend = 'nccl' if torch.cuda.is_available() else 'gloo'
    dist.init_process_group(backend, timeout=datetime.timedelta(hours=6))  # rank 0 evaluates alone
    if rank > 0:
        sys.stdout = open(os.devnull, 'w')
    [seed] = from_rank_0(random.randrange(2 ** 31))  # a script without a seed: the same data everywhere
    torch.manual_seed(seed)
    random.seed(seed)
'''
_NUMPY = "    {numpy}.random.seed(seed)\n"
_FROM = '''\
def from_rank_0(*values):
    """The values that rank 0 has, in all processes."""
    values = list(values)
    dist.broadcast_object_list(values)
    return values
'''
_ON = '''\
def on_rank_0(function, *args, **kwargs):
    """The result of a function that rank 0 runs alone, while the others wait."""
    [result] = from_rank_0(function(*args, **kwargs) if rank == 0 else None)
    return result
'''
_MEAN = '''\
def mean_of_ranks(*sums):
    """The means of the processes' sums, each over a share of the examples."""
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    mean = torch.tensor([float(one) for one in sums], dtype=torch.float64, device=device)
    dist.all_reduce(mean)
    return (mean / world_size).tolist()
'''
_BATCH = '''\
def rank_batch(size):
    """This process's part of a batch."""
    if size % world_size:
        raise ValueError('%d processes cannot share a batch of %d' % (world_size, size))
    return size // world_size
'''
_LOADER = '''\
def rank_loader(dataset, batch_size=1, shuffle=False, **settings):
    """A DataLoader of this process's share of the examples."""
    sampler = DistributedSampler(dataset, shuffle=bool(shuffle))
    return torch.utils.data.DataLoader(dataset, batch_size, sampler=sampler, **settings)
'''
_ASKED = {"rank_loader": _LOADER, "on_rank_0": _ON, "mean_of_ranks": _MEAN, "rank_batch": _BATCH}
_NAMES = frozenset(
    (
        "rank world_size dist start_processes from_rank_0 on_rank_0 mean_of_ranks rank_batch rank_loader "
        "DistributedDataParallel DistributedSampler"
    ).split()
)


def process_changes(script: Script, options: Options, made: list[Change], wrapper: str) -> list[Change]:
    """Helpers below the imports, the start of the processes before the first work, their end behind the last.

    made: the other changes, which say what helpers are called. wrapper: the model's, where the module keeps it.

    The threads of gloo end with the last reference to the process group. Threads that go on while Python ends may abort
    the process: they drop tensors that Python knows, under its lock (PyTorch 2.13: ProcessGroupGloo::runLoop,
    TensorImpl::decref_pyobject). destroy_process_group() drops PyTorch's own references; the others are the wrapper's
    and, if the constructor of the wrapper is the first to import torch.distributed.nn, default arguments in it.
    """
    written = "\n".join(change.text for change in made)
    helpers = [_START, _FROM]
    helpers += [text for name, text in _ASKED.items() if re.search(rf"\b{name}(\(|$)", written, re.MULTILINE)]
    place = _below_imports(script)
    imported, names = _imports(script, place)
    numpy = _numpy(script, place)
    helpers[0] += _NUMPY.format(numpy=numpy) if numpy else ""
    if numpy == "numpy" and not _is_imported(script, "numpy", place):
        imported = f"import numpy\n{imported}"
    head = _HEAD.replace("{gpus}", str(options.num_gpus or "gpu"))
    block = "\n\n\n".join(text.rstrip("\n") for text in (f"{MARKER}\n{head}", *helpers))
    for name, alias in names.items():
        block = re.sub(rf"\b{name}\.", f"{alias}.", block)
    first, indentation = _first_work(script)
    begin = f"{indentation}start_processes(){script.newline}"
    release = f"{indentation}{wrapper} = None  # it would keep the process group{script.newline}" if wrapper else ""
    ended = f"{release}{indentation}dist.destroy_process_group(){script.newline}"
    begun = lines_before(script, first, (), START).begin
    return [
        Change(place, place, imported.replace("\n", script.newline), START),
        Change(place, place, f"\n{block}\n".replace("\n", script.newline), START),
        Change(begun, begun, begin, START),
        *_ending(script, script.block(first)[-1], ended),
    ]


def _ending(script: Script, last: ast.stmt, ended: str) -> list[Change]:
    """The end of the processes, behind the last statement, or before it leaves Python: sys.exit(main())."""
    end = script.line((last.end_lineno or 0) + 1)
    leaves = _leaves(script, last)
    if leaves is None:
        return [Change(end, end, ended, START)]
    status = leaves.args[0] if leaves.args else None
    if status is None or not any(nodes_of(ast.Call, status)):
        place = lines_before(script, last, (), START).begin
        return [Change(place, place, ended, START)]
    name = script.new("exit_status")
    (begin, whole), called = script.span(last), script.span(leaves.func)[1]
    first, behind = script.span(status)
    leave = f"{script.indentation(last)}{script.text[begin:called]}({name}){script.newline}"
    leaving = Change(end, end, f"{ended}{leave}", START)
    if last.lineno != last.end_lineno:  # the parentheses hold it together
        return [Change(begin, called, f"{name} = ", START), leaving]
    return [Change(begin, first, f"{name} = ", START), Change(behind, whole, "", START), leaving]


def _leaves(script: Script, stmt: ast.stmt) -> ast.Call | None:
    """The call by which a statement leaves Python: sys.exit(…), exit(…), raise SystemExit(…)."""
    value = stmt.value if isinstance(stmt, ast.Expr) else stmt.exc if isinstance(stmt, ast.Raise) else None
    if not isinstance(value, ast.Call) or len(value.args) > 1 or value.keywords:
        return None
    if value.args and script.text[script.span(value.args[0])[1] :].lstrip().startswith(","):
        return None
    name = script.name(value.func) or ast.unparse(value.func)
    leaving = ("SystemExit",) if isinstance(stmt, ast.Raise) else ("sys.exit", "exit", "quit")
    return value if name in leaving else None


def _imports(script: Script, place: int) -> tuple[str, dict[str, str]]:
    """The imports that the added lines need, and other names for modules whose names the script has already."""
    lines: list[str] = []
    names: dict[str, str] = {}
    for module in ("datetime", "os", "random", "sys"):
        bound = script.name(ast.Name(module, ast.Load()))
        if bound == module and _is_imported(script, module, place):
            continue
        if module in script.words and bound != module:
            names[module] = script.new(f"{module}_module")
        lines.append(f"import {module} as {names[module]}" if module in names else f"import {module}")
    if not _is_imported(script, "torch", place):
        lines.append("import torch")
    lines.append("import torch.distributed as dist")
    lines.append("import torch.distributed.nn  # if it was imported later, it would keep the process group")
    lines.append("from torch.nn.parallel import DistributedDataParallel")
    lines.append("from torch.utils.data.distributed import DistributedSampler")
    return "\n".join(lines) + "\n", names


def _numpy(script: Script, place: int) -> str:
    """The name of NumPy for the helpers: the script's own if it is bound above them, else an import."""
    for alias in _imported(script, place):
        if alias.name == "numpy" and alias.asname in (None, "np"):
            return alias.asname or "numpy"
    return "numpy" if script.names.imports("numpy") else ""


def _imported(script: Script, place: int) -> list[ast.alias]:
    """The modules that are imported above a place, at top level."""
    imports = (stmt for stmt in script.tree.body if isinstance(stmt, ast.Import))
    return [alias for stmt in imports if script.line(stmt.lineno) < place for alias in stmt.names]


def _is_imported(script: Script, module: str, place: int) -> bool:
    """Whether a module is imported by its own name above a place, at top level."""
    return any(one.name.partition(".")[0] == module and not one.asname for one in _imported(script, place))


def check_names(script: Script) -> None:
    """Refuse scripts that use a name of the added lines for something else."""
    for node in ast.walk(script.tree):
        name = node.id if isinstance(node, ast.Name) else getattr(node, "arg", getattr(node, "name", ""))
        named = isinstance(node, ast.Name | ast.arg | ast.FunctionDef | ast.ClassDef)
        if named and name in _NAMES:
            script.finding(node, "TMG299 name_taken", name=name)
            return
    if script.name(ast.Name("torch", ast.Load())) not in ("torch", ""):
        script.finding(script.tree.body[0], "TMG299 torch_renamed")


def _below_imports(script: Script) -> int:
    """The place below the last import before the first definition or work; else above these."""
    place = 0
    for stmt in script.tree.body:
        if isinstance(stmt, ast.Import | ast.ImportFrom):
            place = script.line((stmt.end_lineno or 0) + 1)
        elif isinstance(stmt, ast.FunctionDef | ast.ClassDef | ast.If) or not _is_early(script, stmt):
            break
    return place or lines_before(script, stmt, (), START).begin


def _first_work(script: Script) -> tuple[ast.stmt, str]:
    """The first statement that does more than define and read arguments, and its indentation."""
    body = script.tree.body
    for stmt in body:
        if isinstance(stmt, ast.If) and "__name__" in ast.unparse(stmt.test):
            return stmt.body[0], script.indentation(stmt.body[0])
        if not _is_early(script, stmt):
            return stmt, script.indentation(stmt)
    return body[-1], ""


def _is_early(script: Script, stmt: ast.stmt) -> bool:
    if isinstance(stmt, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
        return True
    if isinstance(stmt, ast.Try):
        return all(isinstance(one, ast.Import | ast.ImportFrom) for one in stmt.body)
    if not isinstance(stmt, ast.Assign | ast.Expr | ast.AnnAssign):
        return False
    calls = nodes_of(ast.Call, stmt)
    return all(script.name(call.func).startswith(_EARLY) or method_name(call) in _EARLY_METHODS for call in calls)


def device_changes(script: Script) -> list[Change]:
    """GPUs that are named by a number become the process's own; checkpoints are loaded to the CPU first."""
    changes = []
    for node in script.nodes(ast.Constant):
        if isinstance(node.value, str) and node.value.startswith("cuda:"):
            computed = isinstance(script.parent(node), ast.JoinedStr | ast.BinOp | ast.Compare)
            if node.value[5:].isdigit() and not computed:
                changes.append(replaced(script, node, "'cuda'", "TMG181"))
            else:
                script.finding(node, "TMG299 computed_gpu")
    for call in script.calls:
        name, given = script.name(call.func), {keyword.arg for keyword in call.keywords}
        by_number = bool(call.args) and method_name(call) == "cuda"
        if by_number or (name == "torch.device" and len(call.args) + len(call.keywords) > 1):
            script.finding(call, "TMG299 numbered_gpu")
        if name == "torch.load" and len(call.args) == 1 and given.isdisjoint(("map_location", None)):
            end = script.span(call)[1] - 1
            changes.append(Change(end, end, ", map_location='cpu'", "TMG181"))
    return changes
