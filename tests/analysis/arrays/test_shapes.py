"""The shapes of arrays and lists, as far as a script shows them: a table."""

from __future__ import annotations

import ast

import pytest

from converter.analysis import read_facts
from converter.analysis.arrays.shapes import rows_from, shape_of
from converter.analysis.values import Host
from converter.options import Options

HEAD = """\
import math
import numpy as np
from sklearn import datasets
from elsewhere import load

a = np.random.rand(30, 4)
v = np.linspace(0, 1, 30)
rng = np.random.RandomState(0)
unknown = load()
table = []
for i in range(1000):
    table.append([np.random.normal(0, 1), i])
"""


def found(expression: str) -> object:
    script = f"{HEAD}value = {expression}\n"
    return read_facts("train.py", ast.parse(script), Options()).module.locals["value"]


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("a", (30, 4)),
        ("v", (30,)),
        ("3.5", ()),
        ("-np.inf", ()),
        ("-a", (30, 4)),
        ("~(v > 0)", (30,)),
        ("-unknown", None),
        ("[1, 2, 3]", (3,)),
        ("[[1., 2.], [3., 4.], [5., 6.]]", (3, 2)),
        ("[[1., 2.], [3.]]", None),
        ("[]", None),
        ("[row[0] for row in table]", (None,)),
        ("table", (None, 2)),
        ("a.argmax(1)", (30,)),
        ("a[:, :2].sum(axis=-1)", (30,)),
        ("np.mean(a, 0)", (4,)),
        ("np.max(a, axis=1)", (30,)),
        ("np.max(a, axis=1, keepdims=True)", None),
        ("a.mean(2)", None),
        ("a.mean(unknown)", None),
        ("a.argmax(None)", ()),
        ("np.argmin(a)", ()),
        ("np.clip(a, 0., 1.)", (30, 4)),
        ("np.clip(v[3], a_min=0., a_max=None)", ()),
        ("np.clip(v[3], 0., v)", (30,)),
        ("np.clip(a, unknown, 1.)", None),
        ("np.eye(3, dtype='float32')[a[:, :3].argmax(1)]", (30, 3)),
        ("unknown", None),
        ("unknown[0]", None),
        ("a.astype(np.float32)", (30, 4)),
        ("np.float32(a)", (30, 4)),
        ("np.pi", ()),
        ("2 * np.pi * a", (30, 4)),
        ("a * math.log(2 * math.pi)", (30, 4)),
        ("np.log(2 * np.pi)", ()),
        ("math.modf(2.5)", None),
        ("np.rows", None),
        ("load.pi", None),
        ("a.T", (4, 30)),
        ("a.reshape(-1, 2)", (None, 2)),
        ("unknown.reshape((-1, 2))", (None, 2)),
        ("unknown.reshape(-1)", (None,)),
        ("v[:, np.newaxis]", (30, 1)),
        ("v[:, None]", (30, 1)),
        ("a[:, 0]", (30,)),
        ("a[0]", (4,)),
        ("a[:10]", (None, 4)),
        ("a[unknown]", None),
        ("a * 2 + 1", (30, 4)),
        ("a + unknown", None),
        ("a * [1., 2., 3., 4.]", (30, 4)),
        ("v[:, None] * v", (30, 30)),
        ("np.square(v) + rng.normal(0, 0.1, v.shape)", (30,)),
        ("np.random.normal(0, 1)", ()),
        ("np.random.normal(0, 1, size=[7, 2])", (7, 2)),
        ("rng.randint(0, 3, 7)", (7,)),
        ("np.random.uniform(size=7)", (7,)),
        ("np.zeros((7, 2))", (7, 2)),
        ("np.arange(9)", (9,)),
        ("np.arange(0, 9, 0.1)", (None,)),
        ("np.array([[1, 2], [3, 4]])", (2, 2)),
        ("np.dot([0.1, 0.2], np.random.rand(2, 100))", (100,)),
        ("np.dot(a, unknown)", None),
        ("a.mean()", ()),
        ("np.mean(a)", ()),
        ("a.mean(0)", (4,)),
        ("np.mean(a, axis=0)", (4,)),
        ("a.shape[0]", ()),
        ("a.size", ()),
        ("np.concatenate([a, a])", None),
        ("np.eye(5)", (5, 5)),
        ("np.eye(5)[rng.randint(0, 5, 30)]", (30, 5)),
        ("datasets.load_iris().data", (150, 4)),
        ("datasets.load_iris()['target']", (150,)),
        ("datasets.load_iris(return_X_y=True)", None),
        ("datasets.load_iris().feature_names", None),
        ("datasets.load_digits().images", (1797, 8, 8)),
        ("datasets.fetch_openml('mnist_784').data", None),
    ],
)
def test_shapes(expression: str, shape: object) -> None:
    assert shape_of(found(expression)) == shape


@pytest.mark.parametrize(
    ("expression", "by_row"),
    [
        ("a * 2", True),
        ("a - a", True),
        ("a * [1., 2., 3., 4.]", False),
        ("v[:, None] * v", False),
        ("a.astype('float32')", True),
        ("np.square(a)", True),
        ("a[:, 0]", True),
        ("v[:, None]", True),
        ("a[:]", True),
        ("a[1:]", False),
        ("a[0]", False),
        ("a.reshape(-1, 2)", False),
        ("a.T", False),
        ("np.dot(a, a)", False),
        ("np.sort(a)", False),
        ("rng.normal(0, 1, a.shape)", False),
    ],
)
def test_what_makes_a_row_of_each_row(expression: str, by_row: bool) -> None:
    value = found(expression)
    assert isinstance(value, Host)
    assert bool(rows_from(value)) is by_row
