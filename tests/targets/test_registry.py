"""The register of targets: types, help, refusals and options follow from it."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from converter.choices import Target as Name
from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from converter.source.header import flag_of, from_flags
from converter.targets.registry import TARGETS, Target
from tests.trees import nodes_of

ROOT = Path(__file__).resolve().parent.parent.parent
# What the engine does with any target: it chooses, and writes header, warnings and lines.
OF_THE_ENGINE = {"target", "warnings"}
# What a conversion notes, and from where an option comes.
OF_NO_USER = {"asked_batch", "one_gpu", "flag_elsewhere", "merge_all", "of_project", "configured"}
SESSION = "import tensorflow as tf\nwith tf.Session() as s:\n    s.run(tf.no_op())\n"
KERAS = """\
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile('sgd', 'mse')
model.fit(x, y)
"""
GIVEN = {
    "variables": "balanced",
    "scale_lr": "linear",
    "scale_steps": "divide",
    "eval_batch": "script",
    "loss": "global",
    "gpu_memory": "all",
    "shared": "x",
    "batch_axes": "x=1",
    "traced": "1:2=host",
    "helpers": "package",
    "shard": "files",
}


def test_each_name_is_a_value_of_the_option_and_no_other_is() -> None:
    assert get_args(Name) == ("auto", "towers", *(target.name for target in TARGETS))


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_each_option_is_read_or_refused(target: Target) -> None:
    folder = ROOT / "converter/targets" / target.name
    read = {
        node.attr
        for path in folder.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).rpartition(".")[2] == "options"
    }
    names = {node.id for path in folder.rglob("*.py") for node in nodes_of(path) if isinstance(node, ast.Name)}
    if "width" in names:
        read.add("line_length")  # the engine gives it as the width of lines
    options = {field.name for field in fields(Options)} - OF_THE_ENGINE - OF_NO_USER
    assert set(target.unused) == options - read


@pytest.mark.parametrize("name", next(target for target in TARGETS if target.name == "mirrored").unused)
def test_an_option_without_meaning_is_refused_at_what_trains(name: str) -> None:
    done = convert(from_bytes("train.py", KERAS.encode()), from_flags([_flag(name), GIVEN[name]]))
    about = f"{flag_of(name)} has no effect for the target mirrored, a distribution strategy for an Estimator or Keras"
    found = [(finding.code, finding.line, finding.message) for finding in done.diagnostics]
    assert (done.status, found) == ("refused", [("TMG287", 4, about)])


def _flag(name: str) -> str:
    """The flag in a header; users give --trace, which stands there as what was traced."""
    return "--traced" if name == "traced" else flag_of(name)


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_a_target_that_is_asked_for_in_vain_is_a_refusal(target: Target) -> None:
    done = convert(from_bytes("train.py", SESSION.encode()), from_flags(["--target", target.name]))
    assert [(f.code, f.message) for f in done.diagnostics] == [("TMG280", target.lacking)]


@pytest.mark.parametrize(("script", "name"), [(KERAS, "mirrored"), (SESSION + "# keras\n", "auto")])
def test_the_target_is_chosen_by_what_trains(script: str, name: str) -> None:
    done = convert(from_bytes("train.py", script.encode()), Options())
    assert (f"--target {name}" in (done.text or "")) == (name != "auto")


def test_towers_are_not_left_where_they_are_asked_for() -> None:
    done = convert(from_bytes("train.py", KERAS.encode()), Options(target="towers"))
    assert [finding.code for finding in done.diagnostics] == ["TMG220"]
