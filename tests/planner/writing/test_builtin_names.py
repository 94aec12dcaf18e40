"""Scripts that bind the names of Python's builtins, and of modules that the helpers import, to something else."""

from __future__ import annotations

import ast
import re

import pytest

from converter.analysis import read_facts
from converter.options import Options
from converter.planner.writing.builtin_names import BUILTINS, taken_modules
from converter.planner.writing.helper_names import read_by_helpers
from converter.runtime.catalog import catalog
from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, converted

USED, MODULES = read_by_helpers((name, name) for name in catalog())
NORM = MODEL.replace("X, 1", "tf.layers.batch_normalization(X, training=True), 1")


def helpers(text: str) -> str:
    return text.partition("# tf-multigpu: end of helpers\n")[0]


def read(text: str) -> set[str]:
    """The names that a text reads as they stand."""
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


@pytest.mark.parametrize("name", sorted(USED & BUILTINS))
def test_helpers_reach_a_builtin_whose_name_is_taken(name: str) -> None:
    binding = f"{name} = 'mine'\n"
    text = INPUTS + "w = tf.Variable(1.)\n" + NORM.replace("X,", "X * w,") + binding + STEP + TRAINING
    own = helpers(converted(text, num_gpus=None))
    assert name not in read(own)
    assert own.count("    import __builtin__ as builtins\nexcept ImportError:\n    import builtins\n") <= 1


@pytest.mark.parametrize(
    "binding",
    [
        "zip = [1]",
        "for zip in 'ab': pass",
        "def zip(*a): pass",
        "class zip(object): pass",
        "import gzip as zip",
        "from shutil import zip",
        "with open('f') as zip: pass",
        "try: pass\nexcept KeyError as zip: pass",
        "if X is None:\n    zip = 1",
        "n = [zip for zip in 'ab']",
        "def f():\n    global zip\n    zip = 1",
    ],
)
def test_ways_to_take_a_name(binding: str) -> None:
    text = converted(INPUTS + binding + "\n" + MODEL + STEP + TRAINING)
    assert "in builtins.zip(*tower_grads)" in text and "for gpu in range(num_gpus)" in text
    assert f"\n{binding}\n" in text


@pytest.mark.parametrize(
    "binding",
    [
        "def f(zip):\n    zip = 1",
        "class C(object):\n    zip = 1",
        "h = lambda zip: zip",
        "def f():\n    global zip",
        "from os import *",
        "from six.moves import zip",
        "from six.moves import range, zip",
        "from builtins import zip",
        "C.zip = 1",
        "try:\n    range = xrange\nexcept NameError:\n    pass",
        "f(zip=1)",
        "print(zip)",
    ],
)
def test_what_takes_no_name_of_the_module(binding: str) -> None:
    text = converted(INPUTS + binding + "\n" + MODEL + STEP + TRAINING)
    assert "\nfor gpu in range(num_gpus):\n" in text
    assert "# tf-multigpu: helpers for training on several GPUs\nimport os\nnum_gpus = 2\n" in text  # no builtins
    assert "        variables = zip(*tower_grads)" in text or " in zip(*tower_grads)" in text


def test_the_loop_reaches_range() -> None:
    assert "\nfor gpu in builtins.range(num_gpus):\n" in converted(INPUTS + "range = 3\n" + MODEL + STEP + TRAINING)


def test_the_loop_reaches_range_where_its_function_takes_the_name() -> None:
    model = "def train(range):\n" + "".join(f"    {line}\n" for line in (MODEL + STEP + TRAINING).splitlines())
    text = converted(INPUTS + model + "train(3)\n")
    assert "    for gpu in builtins.range(num_gpus):\n" in text and "in zip(*tower_grads)" in text


def test_the_names_of_tensorflow_itself() -> None:
    text = converted("from tensorflow import *\n" + SCRIPT)
    assert "\nfor gpu in builtins.range(num_gpus):\n" in text and "in zip(*tower_grads)" in text


def test_the_names_of_numpy() -> None:
    table = "rows = tf.gather(tf.get_variable('rows', [3, 2]), [0, 1])\n"
    text = converted("from numpy import *\n" + INPUTS + table + NORM + STEP + TRAINING)
    assert "builtins.all(isinstance(" in text and "for gpu in range(" in text
    dense = converted("from numpy import *\n" + INPUTS + NORM + STEP + TRAINING)
    assert re.findall(r"builtins\.(\w+)\(", dense) == ["min", "any"]  # dense gradients need no look at their type


def test_the_list_that_the_towers_begin_with() -> None:
    model = """\
terms = [tf.nn.l2_loss(tf.get_variable('a', [3]))]
print('model')
def model(x):
    terms.append(tf.reduce_mean(x))
    return tf.layers.dense(x, 1)
prediction = model(X)
loss = tf.reduce_mean(tf.square(prediction - Y)) + tf.add_n(terms)
"""
    assert "= X, Y, builtins.list(terms)\n" in converted(INPUTS + "list = 3\n" + model + STEP + TRAINING)


def test_a_name_for_the_builtins_that_is_free() -> None:
    text = converted(INPUTS + "range = builtins = 3\n" + MODEL + STEP + TRAINING)
    assert "    import builtins as python_builtins\n" in text and "in python_builtins.range(" in text


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_whose_name_is_taken_has_another(name: str) -> None:
    text = helpers(converted(f"import sys as {name}\n" + INPUTS + NORM + STEP + TRAINING, num_gpus=None))
    taken = f"import {name} as python_{name}\n" in text
    assert name not in read(text) and f"\nimport {name}\n" not in text
    assert taken == (name != "re")  # no helper of this script reads re


@pytest.mark.parametrize(
    ("script", "taken"),
    [
        ("import os", set()),
        ("import os.path", set()),
        ("import sys as os", {"os"}),
        ("from sys import path as os", {"os"}),
        ("os = 1", {"os"}),
        ("import os as o", set()),
        ("def f():\n    os = 1", set()),
        ("def f():\n    global os\n    os = 1", {"os"}),
    ],
)
def test_modules_whose_names_are_taken(script: str, taken: set[str]) -> None:
    facts = read_facts("train.py", ast.parse(script), Options())
    assert taken_modules(facts, {"os"}) == taken


def test_a_module_that_the_script_imports_further_down() -> None:
    text = converted(INPUTS + NORM + STEP + TRAINING + "import contextlib\n")
    assert helpers(text).count("\nimport contextlib\n") == 1
