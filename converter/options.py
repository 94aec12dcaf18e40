"""The choices that a conversion can be asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from converter.choices import (
    BatchMode,
    EvalBatch,
    FewerGpus,
    Helpers,
    LossMode,
    ScaleLr,
    ScaleSteps,
    Shard,
    Target,
    Variables,
    Warnings,
)
from converter.dataclass import dataclass


@dataclass(frozen=True)
class Options:
    """Everything that changes the converted text, and nothing else.

    num_gpus: towers to build; None counts the visible GPUs when the script runs (`auto`).
    batch: whether the script's batch size is each tower's (`per-gpu`) or the sum of all (`total`).
    variables: the device that holds the variables; "balanced" spreads whole ones over the GPUs, "partitioned" cuts
        large ones into a slice for each GPU.
    gpu_memory: "growth", "all", or the fraction (0, 1] of each GPU's memory to take.
    shared, batch_axes: inputs, by the name they are bound to, that every tower gets whole, or
        whose batch axis is not the first.
    eval_batch: whether evaluations are fed batches as large as training's ("grow"), or keep the script's batch size
        where they read it apart from training ("script").
    scale_steps: whether numbers of training steps stay ("keep"), or are divided by the number of towers ("divide").
    line_length: of the lines the tool writes; None reads the project's own setting.
    one_gpu: whether scripts that import the changed files without being converted go on building the model for
        one GPU; a conversion decides that by looking for such scripts.
    flag_elsewhere: whether one of these scripts may have an option --num_gpus of its own; decided in the same way.
    merge_all: whether attributes that the towers set and nothing in the script reads are merged like the others, as
        other scripts of the project may read them; decided in the same way.
    fewer_gpus: whether a converted script ends where it finds fewer GPUs than towers ("refuse"), or lets
        them share these ("allow").
    target: "towers" in a session of the script, or one of converter.targets.registry; "auto" takes what fits.
    asked_batch: what was asked for where the script allows only `batch`; None where that is what was asked for.
    traced: what calls that are not followed gave in a run of the script, by the place of their closing
        parenthesis; see converter.analysis.inputs.seen_in_a_run.
    loss: whether a loss that is not a mean over the examples is each tower's, averaged ("towers"), or is computed
        once from the towers' merged results ("global"); with `--batch total` it is always computed once.
    helpers: where a script's helpers are: in it, or where several files change in a module that has just these
        ("inline"), in a module beside it that has all there are ("module"), in an installed one ("package").
    shard: whether each worker of a cluster prepares all batches, of which it takes its part ("rows"), or reads its own
        part of the files ("files").
    warnings: whether warnings are only reported ("report"), or stand above their lines in the text, too ("comment").
    of_project: the inputs among `shared` and `batch_axes` that the project's configuration names, for all of its
        scripts: comments in a script go before these, and a script need not have them.
    configured: the fields that the project's configuration gives, for all of its scripts: see `fitting`.
    """

    num_gpus: int | None = 2
    batch: BatchMode = "per-gpu"
    variables: Variables = "cpu"
    scale_lr: ScaleLr = "none"
    scale_steps: ScaleSteps = "keep"
    eval_batch: EvalBatch = "grow"
    gpu_memory: str | float = "growth"
    shared: tuple[str, ...] = ()
    batch_axes: tuple[tuple[str, int], ...] = ()
    line_length: int | None = None
    one_gpu: bool = False
    flag_elsewhere: bool = False
    merge_all: bool = False
    fewer_gpus: FewerGpus = "refuse"
    asked_batch: BatchMode | None = None
    traced: tuple[tuple[str, str], ...] = ()
    loss: LossMode = "towers"
    target: Target = "auto"
    helpers: Helpers = "inline"
    warnings: Warnings = "report"
    shard: Shard = "rows"
    of_project: tuple[str, ...] = ()
    configured: tuple[str, ...] = ()


def fitting(options: Options, unused: Collection[str]) -> Options:
    """Options for a script for which some fields have no effect: those that a configuration gives have their defaults.

    They are meant for other scripts of the project. What the command line gives stays, and is refused later.
    """
    usual = Options()
    left_out = {name: getattr(usual, name) for name in options.configured if name in unused}
    return replace(options, **left_out)
