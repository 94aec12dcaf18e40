"""What is known of calls: which write files, which are the same in every process, which are not to run N times."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.syntax.script import Script, argument, is_on, method_name, plain_name

# What several processes may do at the same time: it computes, or reads.
_COMPUTES = frozenset(
    (
        "torch torchvision torchaudio torchtext numpy math time random os sys argparse collections itertools "
        "functools sklearn pandas copy datetime json pickle PIL tqdm string re pathlib warnings typing dataclasses "
        "scipy cv2 operator glob platform logging enum gzip struct csv io contextlib types pprint abc matplotlib yaml "
        "__future__ textwrap statistics heapq bisect inspect"
    ).split()
)
_WRITES = tuple(
    (
        "torch.save torch.jit.save torch.onnx.export torchvision.utils.save_image numpy.save numpy.savez "
        "numpy.savetxt matplotlib. torch.utils.tensorboard. json.dump pickle.dump os.makedirs os.mkdir os.remove "
        "os.rename os.replace os.unlink csv.writer csv.DictWriter logging.FileHandler yaml.dump"
    ).split()
)
_ONLY_READS = ("json.dumps", "pickle.dumps")
_METHODS = frozenset(
    (
        "add_scalar add_scalars add_graph add_image add_images add_histogram add_figure add_text add_embedding "
        "add_hparams savefig to_csv to_json to_pickle write writelines writerow writerows mkdir unlink write_text "
        "write_bytes touch rmdir"
    ).split()
)
# Several processes, or a way to several GPUs, that the script takes itself.
_SEVERAL = tuple(
    (
        "torch.nn.DataParallel torch.nn.parallel. torch.distributed. torch.utils.data.distributed. "
        "torch.multiprocessing. torch.cuda.set_device torch.cuda.device"
    ).split()
)
_WITHOUT = "convert the script as it was for one GPU: without it"
# Packages that train on several GPUs by themselves, with how they are told to.
_LIGHTNING = "give its Trainer accelerator='gpu', devices=N, strategy='ddp'"
_ALREADY = {
    **dict.fromkeys(("pytorch_lightning", "lightning"), _LIGHTNING),
    "accelerate": "start the script by: accelerate launch --num_processes N",
    "horovod": "start the script by: horovodrun -np N python",
    "deepspeed": "start the script by: deepspeed --num_gpus N",
    **dict.fromkeys(("ignite", "fairscale", "apex", "ray"), _WITHOUT),
}
_UNKNOWN = tuple(
    (
        "torch.compile torch.autograd.grad torch.autograd.backward torch.func. torch.set_default_device "
        "torch.jit.script os.system os.popen os.fork os._exit os.chdir"
    ).split()
)


def writes(script: Script, call: ast.Call) -> bool:
    """Whether a call writes a file, or makes what writes one."""
    name = script.name(call.func)
    if name == "logging.basicConfig":
        return any(keyword.arg == "filename" for keyword in call.keywords)
    if name:
        return name.startswith(_WRITES) and name not in _ONLY_READS
    if plain_name(call) == "open":
        mode = argument(call, 1, "mode")
        return mode is not None and not (isinstance(mode, ast.Constant) and str(mode.value).startswith("r"))
    if plain_name(call) == "print":
        return any(keyword.arg == "file" for keyword in call.keywords)
    return method_name(call) in _METHODS


def downloads(call: ast.Call) -> bool:
    """Whether a call may load data from the network to the disk."""
    return is_on(argument(call, -1, "download"))


def _is_one_of(name: str, known: tuple[str, ...]) -> bool:
    """Whether a name is one of these, or below one that ends with a dot."""
    return any(name.startswith(one) if one.endswith(".") else name == one for one in known)


def check_calls(script: Script, models: frozenset[str], refused: frozenset[str] = frozenset()) -> None:
    """Refuse what N processes must not do, or do not do as one does.

    models: classes of other files that may be called. refused: other files whose import is refused already.
    """
    for call in script.calls:
        name = script.name(call.func)
        package = name.partition(".")[0]
        if _is_one_of(name, _SEVERAL) or package in _ALREADY:
            hint = _ALREADY.get(package, _WITHOUT)
            script.say(call, "TMG216", f"the script uses several GPUs or processes already: {name}", hint)
        elif name in models or package in refused:
            continue
        elif _is_one_of(name, _UNKNOWN) or (name and package not in _COMPUTES):
            script.finding(call, "TMG299 unknown_call", name=name)
        elif (called := plain_name(call)) in ("input", "exec", "eval"):
            script.finding(call, "TMG299 not_followed", name=called)
    for node in script.nodes(ast.Constant):
        if node.value == "CUDA_VISIBLE_DEVICES":
            script.finding(node, "TMG216 visible_gpus")


def check_import(script: Script, node: ast.Import | ast.ImportFrom, local: frozenset[str]) -> Iterator[str]:
    """Refuse libraries that train in their own way; gives the modules that are files of the project.

    local: modules beside the script.
    """
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for module in modules:
        package = module.partition(".")[0]
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        if package in _ALREADY:
            message = f"the script trains by {package}, which has its own way to several GPUs"
            script.say(node, "TMG216", message, _ALREADY[package])
        elif package in local or relative:
            yield module or "."
        elif package == "tensorflow":
            script.finding(node, "TMG299 tensorflow")
