"""New names never take the place of the script's own, and follow its manner."""

from __future__ import annotations

import ast
import re

import pytest

from converter.analysis.nodes import Nodes
from converter.planner.writing.free_names import TakenNames, names_in
from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, body, converted

NEW = [
    "num_gpus",
    "gpu",
    "X_batch",
    "Y_batch",
    "tower_loss",
    "tower_grads",
    "rows",
    "weight",
    "optimizer",
    "config",
]
NEW += ["tower_device", "shard", "sum_gradients"]


def bound(text: str) -> list[str]:
    """Names that a script binds anywhere, once for each time; what the helpers bind in themselves aside."""
    found = []
    helpers = text[: text.find("# tf-multigpu: end of helpers")].count("\n")
    for stmt in ast.parse(text).body:
        inner = (
            [stmt] if stmt.lineno <= helpers and isinstance(stmt, (ast.FunctionDef, ast.ClassDef)) else ast.walk(stmt)
        )
        for node in inner:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.append(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.append(node.name)
    return found


@pytest.mark.parametrize("name", NEW)
def test_new_names_are_used_where_they_are_free(name: str) -> None:
    assert name in bound(converted(SCRIPT))


@pytest.mark.parametrize("name", NEW)
def test_a_name_of_the_script_is_left_alone(name: str) -> None:
    text = INPUTS + f"{name} = 'mine'\n" + MODEL + STEP + TRAINING + f"print({name})\n"
    lines = converted(text).splitlines()
    assert bound("\n".join(lines)).count(name) == 1
    assert f"{name} = 'mine'" in lines and f"print({name})" in lines


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize(
    "use",
    [
        "def helper({0}):\n    return {0}\n",
        "def {0}():\n    return 1\n",
        "import os as {0}\n",
        "for {0} in range(3):\n    pass\n",
        "values = [{0} for {0} in range(3)]\n",
        "def {0}(*args, **kwargs):\n    pass\n",
        "class {0}(object):\n    pass\n",
        "with open('x') as {0}:\n    pass\n",
    ],
    ids=["argument", "function", "import", "loop", "comprehension", "variadic", "class", "with"],
)
def test_a_name_that_the_script_binds_otherwise_is_left_alone(name: str, use: str) -> None:
    lines = converted(INPUTS + use.format(name) + MODEL + STEP + TRAINING)
    before = bound(INPUTS + use.format(name) + MODEL + STEP + TRAINING).count(name)
    assert bound(lines).count(name) == before


def test_attributes_do_not_take_names() -> None:
    text = INPUTS + "holder = object()\nholder.optimizer = 1\n" + MODEL + STEP + TRAINING
    assert "optimizer = tf.train.GradientDescentOptimizer(0.1)" in body(text)


def test_the_name_of_the_script_for_tensorflow_is_used() -> None:
    text = converted(SCRIPT.replace("import tensorflow as tf", "import tensorflow").replace("tf.", "tensorflow."))
    assert "tensorflow.add_n(" in text
    assert [line for line in text.splitlines() if "import " in line] == ["import tensorflow", "import os"]
    assert set(re.findall(r"\b(?:tf|tensorflow)(?=\.)", text)) == {"tensorflow"}


def test_a_script_without_a_name_for_tensorflow_gets_one() -> None:
    text = converted(
        SCRIPT.replace(
            "import tensorflow as tf",
            "from tensorflow import *\nfrom tensorflow import "
            "placeholder, float32, layers, reduce_mean, square, train, Session, global_variables_initializer",
        ).replace("tf.", "")
    )
    assert "import tensorflow as tf\n" in text
    ast.parse(text)


@pytest.mark.parametrize(
    ("definitions", "name"),
    [
        ("batch_size = 32", "num_gpus"),
        ("BATCH_SIZE = 32", "NUM_GPUS"),
        ("BATCH_SIZE = 32\nEPOCHS = 3\nrate = 0.1", "NUM_GPUS"),
        ("BATCH_SIZE = 32\nepochs = 3\nrate = 0.1", "num_gpus"),
        ("N = 3\nbatch_size = 32", "num_gpus"),
        ("class C(object):\n    BATCH_SIZE = 32", "num_gpus"),
        ("X = Y = 3", "num_gpus"),
        ("", "num_gpus"),
    ],
)
def test_a_constant_in_the_scripts_manner(definitions: str, name: str) -> None:
    assert names_in(Nodes(ast.parse(definitions))).constant("num_gpus")[0] == name


@pytest.mark.parametrize(
    ("script", "candidates", "name"),
    [
        ("", ("gpu",), "gpu"),
        ("gpu = 1", ("gpu", "tower"), "tower"),
        ("gpu = tower = 1", ("gpu", "tower"), "gpu_2"),
        ("gpu = tower = gpu_2 = 1", ("gpu", "tower"), "gpu_3"),
        ("a.gpu = 1", ("gpu",), "gpu"),
        ("print(gpu=1)", ("gpu",), "gpu"),
        ("'gpu'", ("gpu",), "gpu"),
        ("# gpu", ("gpu",), "gpu"),
        ("f(lambda gpu: 1)", ("gpu", "tower"), "tower"),
        ("import gpu.x", ("gpu", "tower"), "tower"),
        ("import x as gpu", ("gpu", "tower"), "tower"),
        ("from x import gpu", ("gpu", "tower"), "tower"),
        pytest.param("global gpu", ("gpu", "tower"), "tower"),
        pytest.param("try:\n    pass\nexcept E as gpu:\n    pass", ("gpu", "tower"), "tower"),
        pytest.param("async def gpu():\n    pass", ("gpu", "tower"), "tower"),
        ("", ("list", "items"), "items"),
        ("", ("with", "scope"), "scope"),
    ],
)
def test_fresh_names(script: str, candidates: tuple[str, ...], name: str) -> None:
    assert names_in(Nodes(ast.parse(script))).fresh(*candidates)[0] == name


def test_a_name_is_given_out_once() -> None:
    first, names = TakenNames().fresh("gpu")
    second, names = names.fresh("gpu")
    assert (first, second, names.unused("gpu")) == ("gpu", "gpu_2", "gpu_3")


def test_who_takes_a_name_leaves_the_names_as_they_were() -> None:
    before = TakenNames(script=frozenset({"tf"}))
    name, after = before.fresh("tf", "tensorflow")
    assert (name, before) == ("tensorflow", TakenNames(script=frozenset({"tf"})))
    assert after == TakenNames(script=frozenset({"tf"}), given=frozenset({"tensorflow"}))


@pytest.mark.parametrize(("own", "name"), [(set(), "part"), ({"part"}, "tower_part")])
def test_a_name_for_several_places_is_not_taken(own: set[str], name: str) -> None:
    names = TakenNames(frozenset(own))
    assert names.again("part", "tower_part") == (name, names)
