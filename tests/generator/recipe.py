"""What a generated training script is made of: one choice in each of many dimensions, drawn from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace

from tests.generator.host import feeds_whole_batches

# The first option of each dimension is the plainest: a failure is shrunk by going back to it.
OPTIONS: dict[str, tuple[str, ...]] = {
    "structure": ("top", "function", "class", "main", "file", "class in file", "closure", "builder", "methods"),
    "inputs": (
        "fed",
        "fed fixed",
        "fed shapeless labels",
        "dataset",
        "dataset initializable",
        "dataset reinitializable",
        "dataset generator",
        "dataset handle",
        "queue",
        "queue many",
        "queue lines",
        "constant arrays",
        "dataset dict",
        "dataset records",
        "dataset examples",
    ),
    "loop": ("range", "epochs", "draws", "shuffled"),
    "size": ("constant", "literal", "flag", "attribute", "dict", "product", "alias", "module"),
    "flags": ("argparse", "app.flags", "choices"),
    "first": ("dense", "raw", "layers", "conv", "rnn", "zero_state", "embedding", "slim", "flag", "fed state"),
    "second": ("none", "dense", "raw", "layers", "slim"),
    "depth": ("none", "loop", "flag", "list", "dict", "objects", "dict of weights"),
    "activation": ("relu", "elif flag", "dict of functions", "conditional expression"),
    "dropout": ("none", "placeholder", "flag"),
    "norm": ("none", "update ops", "in place", "by hand", "contrib"),
    "loss": (
        "mean",
        "labels",
        "squares",
        "sum",
        "sum by size",
        "masked",
        "weighted",
        "losses module",
        "two lines",
        "elif flag",
        "list",
    ),
    "decay": (
        "none",
        "inline",
        "variables",
        "collection",
        "list add_n",
        "list sum",
        "flag",
        "own collection",
        "function",
    ),
    "optimizer": (
        "sgd",
        "adam",
        "momentum decay",
        "clipped",
        "tf.gradients",
        "two",
        "exponential decay",
        "elif flag",
        "dict",
        "two losses",
        "fed rate",
    ),
    "metrics": ("none", "accuracy", "print in run", "confusion", "streaming"),
    "summary": ("none", "scalars"),
    "evaluation": ("none", "whole", "batch", "each epoch", "batches"),
    "names": ("none", "scopes", "graph names"),
    "companion": ("none", "predict", "evaluate"),
    "host": (
        "slices",
        "next_batch",
        "iterations",
        "loader",
        "generator",
        "listed",
        "split",
        "get_batch",
        "appended",
        "offsets",
    ),
    "outputs": ("none", "list", "list by flag", "dict", "tuple"),
    "stop": ("none", "patience", "best", "steps"),
    "session": ("with", "plain", "interactive", "function", "monitored"),
    "devices": ("none", "growth", "visible", "visible list", "on gpu", "on cpu"),
}

# Options that leave the choice to a flag: the dimension, the option, the flag, what it may be beside its default.
FLAGS: tuple[tuple[str, ...], ...] = (
    ("activation", "elif flag", "--act", "tanh", "elu"),
    ("depth", "flag", "--layers", "3"),
    ("dropout", "flag", "--drop", "1"),
    ("decay", "flag", "--l2", "0.1"),
    ("decay", "function", "--l2", "0.1"),
    ("first", "flag", "--net", "conv", "raw"),
    ("loss", "elif flag", "--loss", "squares", "labels"),
    ("loss", "list", "--terms", "1", "3"),
    ("optimizer", "elif flag", "--opt", "adam", "momentum"),
    ("outputs", "list by flag", "--heads", "1", "4"),
)


@dataclass(frozen=True)
class Recipe:
    """One option of each dimension; OPTIONS says which there are."""

    structure: str = "top"
    inputs: str = "fed"
    loop: str = "range"
    size: str = "constant"
    flags: str = "argparse"
    first: str = "dense"
    second: str = "none"
    depth: str = "none"
    activation: str = "relu"
    dropout: str = "none"
    norm: str = "none"
    loss: str = "mean"
    decay: str = "none"
    optimizer: str = "sgd"
    metrics: str = "none"
    summary: str = "none"
    evaluation: str = "none"
    names: str = "none"
    companion: str = "none"
    host: str = "slices"
    outputs: str = "none"
    stop: str = "none"
    session: str = "with"
    devices: str = "none"

    def flag_choices(self) -> tuple[tuple[str, ...], ...]:
        """Sets of arguments: the defaults, each other choice of each flag, the last choice of all flags."""
        flags = [row for row in FLAGS if getattr(self, row[0]) == row[1]]
        single = [(flag, value) for _, _, flag, *others in flags for value in others]
        last = tuple(word for _, _, flag, *others in flags for word in (flag, others[-1]))
        return tuple(dict.fromkeys([(), *single, last]))

    @property
    def is_random(self) -> bool:
        """Whether its results depend on numbers that are drawn in the graph."""
        return self.dropout != "none"

    @property
    def is_exact_in_total(self) -> bool:
        """Whether N towers that share a batch end with the original's numbers: no statistics of a batch in it."""
        return self.norm == "none" and not self.is_random

    def is_exact_per_gpu(self, gpus: int) -> bool:
        """Whether N towers end with the numbers of the original at N times the batch size.

        What is divided by the batch size is no mean of fewer rows: towers that share the last batch of an epoch
        unevenly count by their rows.
        """
        return self.is_exact_in_total and self.loss != "sum" and (self.loss != "sum by size" or gpus == 2)

    def simpler(self) -> list[Recipe]:
        """Recipes with one dimension plainer: at its first option, or at an earlier one."""
        found = []
        for field in fields(self):
            options = OPTIONS[field.name]
            place = options.index(getattr(self, field.name))
            for earlier in dict.fromkeys((0, place - 1)) if place > 0 else ():
                found.append(replace(self, **{field.name: options[earlier]}))
        return [recipe for recipe in found if recipe == mended(recipe)]


def draw(seed: int) -> Recipe:
    """The recipe of a seed; half of the dimensions stay plain, so that a script can still be read."""
    source = random.Random(seed)
    chosen = {
        name: source.choice(options) if source.random() < 0.55 else options[0] for name, options in OPTIONS.items()
    }
    return mended(Recipe(**chosen))


def without_contrib(recipe: Recipe) -> Recipe:
    """The recipe for TensorFlow 2, which has no tf.contrib."""
    instead = {"slim": "layers", "contrib": "update ops"}
    changes = {name: instead[option] for name, option in vars(recipe).items() if option in instead}
    return mended(replace(recipe, **changes))


def mended(recipe: Recipe) -> Recipe:
    """The recipe with the options plain that do not go with the others."""
    changes: dict[str, str] = {}
    if recipe.first == "fed state":  # one scope holds model and session, and batches are of one size
        together = recipe.structure if recipe.structure in ("top", "main", "methods") else "builder"
        plain = dict.fromkeys(("evaluation", "names", "companion"), "none")
        metrics = recipe.metrics if recipe.metrics != "print in run" else "none"
        inputs = recipe.inputs if recipe.inputs in ("fed", "fed fixed") else "fed"
        recipe = replace(recipe, structure=together, inputs=inputs, loop="draws", metrics=metrics, **plain)
    in_graph = recipe.inputs.startswith(("dataset", "queue"))
    if in_graph or recipe.inputs == "constant arrays":
        changes["loop"] = "epochs" if in_graph else "range"
        changes["evaluation"] = "none"
        changes["first"] = recipe.first if recipe.first != "embedding" else "dense"
    if recipe.inputs == "constant arrays":
        changes["size"] = "constant"
    if recipe.inputs == "fed fixed":
        changes["evaluation"] = "none" if recipe.evaluation in ("whole", "each epoch") else recipe.evaluation
        changes["loop"] = "draws" if recipe.loop in ("range", "shuffled") else recipe.loop
    if recipe.structure not in ("file", "class in file"):
        changes["companion"] = "none"
    if recipe.optimizer == "two losses" and not recipe.inputs.startswith("fed"):
        changes["optimizer"] = "two"
    if recipe.first == "zero_state" and recipe.inputs != "fed fixed":
        changes["first"] = "rnn"
    if recipe.structure == "class in file" and recipe.first == "zero_state":
        changes["companion"] = "none"  # which builds the class for other numbers of rows
    if recipe.structure == "class in file" and recipe.loss == "sum by size":
        changes["loss"] = "squares"
    if recipe.loss in ("losses module",) and recipe.decay == "own collection":
        changes["decay"] = "none"
    if recipe.structure in ("class", "class in file") and recipe.names == "graph names":
        changes["names"] = "scopes"
    return _mended_host(replace(recipe, **changes))


def _mended_host(recipe: Recipe) -> Recipe:
    """The same for what the host does: its batches, when it stops, the session."""
    changes: dict[str, str] = {}
    fed = recipe.inputs.startswith("fed") and recipe.first != "fed state"
    if not fed or (recipe.inputs == "fed fixed" and not feeds_whole_batches(recipe.host)):
        changes["host"] = "slices"
    elif recipe.host != "slices":
        changes["loop"] = "range"
    in_epochs = fed and (recipe.host != "slices" or recipe.loop != "draws")
    if not in_epochs or recipe.inputs == "fed fixed" or recipe.host in ("iterations", "offsets"):
        changes["stop"] = "steps" if recipe.stop == "steps" else "none"
    if recipe.session == "monitored":
        changes["companion"] = "none"
        if not fed:
            changes["session"] = "with"
    return replace(recipe, **changes)
