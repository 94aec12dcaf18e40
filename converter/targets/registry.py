"""The targets beside towers: what each is for, when it is chosen, and where its passes are.

The command line, the headers, the help and the engine ask here. `converter.choices.Target` holds the names for types.
Next to nothing is imported for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from converter.choices import Target as Name
    from converter.options import Options
    from converter.plan.decisions import Command
    from converter.syntax.script import Script
    from converter.targets.passes import Fit


class Target(NamedTuple):
    """One target.

    name: its value of --target.
    about: what trains on several GPUs then, as a part of a sentence.
    words: a regular expression for what a script mentions for which the target is chosen without being asked for: it
        saves reading any other script. "" for a target that must be asked for.
    lacking: what a script is told that the target is not for.
    unused: the fields of Options that mean nothing for it: refused on a command line (TMG287), left out where a
        configuration gives them for all scripts of a project.
    fit: looks at a script; None where the target is not for it. Imports what it needs when it is called.
    commands: the commands that use a converted file, by its path, the path of its source, and the number of GPUs; None
        for a target whose scripts are started as before.
    """

    name: Name
    about: str
    words: str
    lacking: str
    unused: tuple[str, ...]
    fit: Callable[[Script], Fit | None]
    commands: Callable[[str, str, int | None], tuple[Command, ...]] | None = None


def _mirrored(script: Script) -> Fit | None:
    from converter.targets.mirrored.passes import fit

    return fit(script)


def _ddp(script: Script) -> Fit | None:
    from converter.targets.ddp.passes import fit

    return fit(script)


def _cluster(script: Script) -> Fit | None:
    from converter.targets.cluster.passes import fit

    return fit(script)


def _torchrun(path: str, origin: str, gpus: int | None) -> tuple[Command, ...]:
    from converter.targets.ddp.passes import commands

    return commands(path, origin, gpus)


def _commands_of_cluster(path: str, source: str, gpus: int | None) -> tuple[Command, ...]:
    from converter.targets.cluster.passes import commands

    return commands(path, source, gpus)


# The first that is for a script is chosen.
TARGETS = (
    Target(
        name="mirrored",
        about="a distribution strategy for an Estimator or Keras",
        words=r"stimator|keras|\.compile\b",
        lacking="no Estimator and no Keras model trains here",
        unused=(
            *("variables", "scale_lr", "scale_steps", "eval_batch", "loss", "gpu_memory", "shared", "batch_axes"),
            *("traced", "helpers", "shard"),
        ),
        fit=_mirrored,
    ),
    Target(
        name="ddp",
        about="a process for each GPU where PyTorch trains",
        words=r"(?ms)^[ \t]*(?:import|from)[ \t]+(?:torch\b.*\.backward|(?:pytorch_)?lightning\b.*\.fit)\(",
        lacking="PyTorch takes no gradients here",
        unused=(
            *("variables", "scale_lr", "scale_steps", "eval_batch", "loss", "gpu_memory", "shared", "batch_axes"),
            *("traced", "helpers", "fewer_gpus", "shard"),
        ),
        fit=_ddp,
        commands=_torchrun,
    ),
    Target(
        name="cluster",
        about="one process for each GPU, on one machine or several",
        words="",
        lacking="no optimizer of tf.train and no Keras model trains here, nor in the files that the script imports",
        unused=(
            *("num_gpus", "variables", "scale_lr", "scale_steps", "eval_batch", "loss", "gpu_memory", "fewer_gpus"),
            *("traced", "line_length"),
        ),
        fit=_cluster,
        commands=_commands_of_cluster,
    ),
)


# The fields of Options that mean nothing for towers.
UNUSED_BY_TOWERS = ("shard",)
# What to do with an option without effect.
LEAVE_OUT = "leave {flag} out; in pyproject.toml it holds for those files alone on which it has an effect"
# The fields of Options that mean nothing for configurations of the Object Detection API.
UNUSED_IN_PIPELINES = (
    *("variables", "gpu_memory", "shared", "batch_axes", "loss", "fewer_gpus", "target", "helpers"),
    *("scale_steps", "eval_batch", "warnings", "line_length", "shard"),
)


def unused_by(name: str, options: Options) -> tuple[str, ...]:
    """The fields of Options that have no effect for a target, by its name; "auto": for towers."""
    unused = next((target.unused for target in TARGETS if target.name == name), UNUSED_BY_TOWERS)
    # Comments are wrapped, also where all other lines are the same for every script.
    return tuple(field for field in unused if field != "line_length" or options.warnings != "comment")


def unused_in(path: str, data: bytes, options: Options) -> tuple[str, ...]:
    """The fields of Options that have no effect for a file that was converted. options: of its header."""
    from converter.source import is_pipeline

    return UNUSED_IN_PIPELINES if is_pipeline(path, data) else unused_by(options.target, options)


def described() -> str:
    """The values of --target with their meaning, for the help."""
    others = "; ".join(f"{target.name}: {target.about}" for target in TARGETS)
    return f"towers: in the script's session; {others}"
