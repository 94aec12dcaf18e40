"""The helpers that converted scripts carry, as they are written there, on a real TensorFlow."""

from __future__ import annotations

import collections
import contextlib
import os
import re
import subprocess
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from converter.runtime.catalog import catalog

Helpers = Callable[..., SimpleNamespace]

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.tf2]


@pytest.fixture(scope="module")
def tf() -> Any:
    """TensorFlow's first API; the switches that its import leaves in the environment are taken back."""
    environment = dict(os.environ)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    os.environ.clear()
    os.environ.update(environment)
    return tf


@pytest.fixture
def helpers(tf: Any) -> Helpers:
    """Makes all helpers for a number of GPUs, from the text that goes into scripts, and a new graph."""

    def make(num_gpus: int) -> SimpleNamespace:
        tf.reset_default_graph()
        text = "\n\n".join(helper.source for helper in catalog().values())
        names = {"tf": tf, "NUM_GPUS": num_gpus, "os": os, "re": re, "subprocess": subprocess, "contextlib": contextlib}
        exec(compile(text, "helpers.py", "exec"), names)
        return SimpleNamespace(**names)

    return make


def session(tf: Any) -> Any:
    """A session with a CPU device for every tower that asks for a GPU."""
    made = tf.Session(config=tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": 2}))
    made.run(tf.global_variables_initializer())
    return made


# -- what towers hand on -------------------------------------------------------------------------------


def test_each_tower_is_given_its_own_list(helpers: Helpers) -> None:
    h = helpers(2)
    first, second = [1], [2]
    kept = h.hand_on([first, second])
    assert h.part_of_tower(kept, 0) is first and h.part_of_tower(kept, 1) is second
    assert h.hand_on([first]) is first and h.part_of_tower(first, 0) is first


# -- shards ------------------------------------------------------------------------------------------


@pytest.mark.tf2
@pytest.mark.parametrize("towers", range(1, 13))
def test_shards_of_all_sizes(tf: Any, helpers: Helpers, towers: int) -> None:
    made = helpers(towers)
    batch, labels = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
    parts = [made.shard([batch, labels], gpu) for gpu in range(towers)]
    losses = [tf.reduce_mean(shards[0]) * weight for shards, _, weight in parts]
    with session(tf) as sess:
        for total in range(1, 13):
            values = [[row, row + 0.5] for row in range(total)]
            feed = {batch: values, labels: range(total)}
            done = sess.run(parts, feed)
            rows = [int(count) for _, count, _ in done]
            assert sum(rows) == total and max(rows) - min(rows) <= 1 and rows[0] > 0
            assert [label for shards, count, _ in done for label in shards[1][:count]] == list(range(total))
            assert all(len(x) == len(y) == max(count, 1) for (x, y), count, _ in done)
            assert [float(weight) for _, _, weight in done] == pytest.approx([count / total for count in rows])
            assert [max(count, 1) for count in rows] == [made.shard_size(total, gpu) for gpu in range(towers)]
            assert [(n, n / total) for n in rows] == [made.shard_drawn(total, gpu) for gpu in range(towers)]
            mean = sum(sum(pair) for pair in values) / (2 * total)
            assert sum(map(float, sess.run(losses, feed))) == pytest.approx(mean, rel=1e-5)  # and no NaN


@pytest.mark.tf2
def test_shards_know_the_batch_that_they_are_cut_from(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)
    batch = tf.constant([3, 1, 4])
    for gpu in range(2):
        with tf.name_scope("model"), tf.name_scope(f"tower_{gpu}"):
            (part,), _, _ = made.shard([batch], gpu)
            assert made.whole_batch(part) is batch
            assert made.whole_batch(part[:1]).op.type == "StridedSlice"  # a part of a shard is its own
            alike = [made.whole_batch(part + 1), made.whole_batch(tf.cast(part, tf.int64) - 1)]
            moved = part + part
            assert made.whole_batch(moved) is moved
            with tf.Session() as sess:
                assert [list(rows) for rows in sess.run(alike)] == [[4, 2, 5], [2, 0, 3]]
    assert made.whole_batch(batch) is batch


@pytest.mark.tf2
def test_parts_of_different_lengths_are_padded(tf: Any, helpers: Helpers) -> None:
    concat_steps = helpers(2).concat_steps
    made = concat_steps([tf.ones([2, 1, 3]), tf.ones([1, 2, 3])], 0)
    assert made.shape.as_list()[2] == 3
    with session(tf) as sess:
        value = sess.run(made)
    assert value.shape == (3, 2, 3)
    assert value[:, 1].sum(1).tolist() == [0, 0, 3]


@pytest.mark.tf2
@pytest.mark.parametrize("by", ["lengths", "itself", "beam search"])
def test_what_a_decoder_gives_is_padded_where_it_is_told_the_lengths(tf: Any, helpers: Helpers, by: str) -> None:
    """A beam search has no helper; one decoder in the same function of a script may train, and another one infer."""
    pad_steps, outputs = helpers(2).pad_steps, collections.namedtuple("outputs", "ids")

    def decode(decoder: Any, output_time_major: bool) -> Any:
        return outputs(tf.placeholder_with_default(tf.ones([2, 3]), [2, None])), "state", "lengths"

    helper = SimpleNamespace(_sequence_length=tf.constant([5, 2])) if by == "lengths" else SimpleNamespace()
    decoder = SimpleNamespace() if by == "beam search" else SimpleNamespace(_helper=helper)
    made, state, lengths = pad_steps(decode)(decoder)
    with session(tf) as sess:
        steps = sess.run(made.ids).shape[1]
    assert (steps, state, lengths) == (5 if by == "lengths" else 3, "state", "lengths")


@pytest.mark.tf2
@pytest.mark.parametrize(("total", "towers"), [(1, 1), (5, 2), (6, 3), (2, 4), (12, 5)])
def test_shards_along_other_axes(tf: Any, helpers: Helpers, total: int, towers: int) -> None:
    made = helpers(towers)
    series, labels = tf.placeholder(tf.float32, [3, None, 2]), tf.placeholder(tf.int64, [None])
    parts = [made.shard_along([series, labels], [1, 0], gpu) for gpu in range(towers)]
    with session(tf) as sess:
        steps = [[[row, step] for row in range(total)] for step in range(3)]
        done = sess.run(parts, {series: steps, labels: range(total)})
    assert [y for (_, labels), count, _ in done for y in labels[:count]] == list(range(total))
    assert [x[0] for (series, _), count, _ in done for x in series[2][:count]] == list(range(total))
    assert all(series.shape[0] == 3 for (series, _), _, _ in done)
    assert sum(float(weight) for _, _, weight in done) == pytest.approx(1)


@pytest.mark.tf2
@pytest.mark.parametrize(("total", "towers"), [(1, 1), (5, 2), (6, 3), (2, 4), (12, 5)])
@pytest.mark.parametrize("shape", [None, [None, 3], [None, None]])
def test_shards_of_sparse_batches(tf: Any, helpers: Helpers, total: int, towers: int, shape: Any) -> None:
    made = helpers(towers)
    sparse, labels = tf.sparse_placeholder(tf.int64, shape), tf.placeholder(tf.int64, [None])
    leads = [made.shard_sparse([sparse, labels], gpu) for gpu in range(towers)]
    after = [made.shard_sparse([labels, sparse], gpu) for gpu in range(towers)]
    dense = np.array([[row + 1, 0, row % 2] for row in range(total)])  # a row may be empty but for one entry
    dense[total // 2] = 0  # or altogether
    places = np.argwhere(dense)
    feed = {sparse: (places, dense[places[:, 0], places[:, 1]], dense.shape), labels: range(total)}
    assert shape is None or leads[0][0][0].get_shape().ndims == 2
    with session(tf) as sess:
        for (shards, count, weight), ((rows, other), same, _) in zip(*sess.run([leads, after], feed), strict=True):
            part = np.zeros(shards[0].dense_shape, np.int64)
            part[tuple(shards[0].indices.T)] = shards[0].values
            begin, end = shards[1][0], shards[1][0] + max(count, 1)
            assert part.tolist() == dense[begin:end].tolist() and shards[1].tolist() == list(range(begin, end))
            assert rows.tolist() == shards[1].tolist() and other.indices.tolist() == shards[0].indices.tolist()
            assert weight == pytest.approx(count / total) and same == count
        assert [x for s, count, _ in sess.run(leads, feed) for x in s[1][:count]] == list(range(total))


@pytest.mark.tf2
@pytest.mark.parametrize(("total", "towers"), [(1, 1), (4, 4), (5, 2), (7, 3), (12, 5)])
def test_shards_of_a_fixed_size(tf: Any, helpers: Helpers, total: int, towers: int) -> None:
    made = helpers(towers)
    batch, series = tf.placeholder(tf.float32, [total, 2]), tf.placeholder(tf.float32, [3, total])
    rows = []
    for gpu in range(towers):
        (part,), count, weight = made.shard_static([batch], gpu)
        assert part.get_shape().as_list() == [count, 2] and count == made.shard_size(total, gpu)
        (along, other), same, _ = made.shard_static_along([series, batch], [1, 0], gpu)
        assert (along.get_shape().as_list(), other.get_shape().as_list(), same) == ([3, count], [count, 2], count)
        assert weight == pytest.approx(count / total)
        rows.append(count)
    assert sum(rows) == total and max(rows) - min(rows) <= 1


@pytest.mark.tf2
@pytest.mark.parametrize(("total", "towers"), [(1, 2), (3, 4), (0, 1)])
def test_a_fixed_size_that_leaves_a_tower_empty(tf: Any, helpers: Helpers, total: int, towers: int) -> None:
    made = helpers(towers)
    batch = tf.placeholder(tf.float32, [total, 2])
    for cut in (lambda gpu: made.shard_static([batch], gpu), lambda gpu: made.shard_static_along([batch], [0], gpu)):
        with pytest.raises(ValueError, match=f"a batch of {total} cannot be shared by {towers} GPUs"):
            [cut(gpu) for gpu in range(towers)]


@pytest.mark.tf2
@pytest.mark.parametrize(("total", "towers"), [(1, 1), (4, 4), (5, 2), (7, 3), (12, 5), (2, 4), (1, 3)])
def test_shards_of_data_in_the_graph(tf: Any, helpers: Helpers, total: int, towers: int) -> None:
    made = helpers(towers)
    array = np.arange(2 * total).reshape(total, 2)
    listed, constant = list(range(total)), tf.constant(array, name="data")
    rows, seen, weights = [], [], []
    for gpu in range(towers):
        (one, two, three), count, weight = made.shard_data([array, listed, constant], gpu)
        (columns, also), same, _ = made.shard_data_along([array.T, array.T.tolist()], [1, 1], gpu)
        assert isinstance(two, list) and one.dtype == array.dtype
        assert three.get_shape().as_list() == list(one.shape) == [max(count, 1), 2] and same == count
        assert columns.T.tolist() == np.transpose(also).tolist() == one.tolist()
        assert [row[0] // 2 for row in one] == two
        rows.append(count)
        seen += two[:count]
        weights.append(weight)
    assert seen == listed and max(rows) - min(rows) <= 1
    assert weights == pytest.approx([count / total for count in rows])


@pytest.mark.tf2
def test_data_of_different_lengths_is_not_cut(helpers: Helpers) -> None:
    made = helpers(2)
    with pytest.raises(ValueError, match=r"data of \[3, 4\] rows cannot be cut together"):
        made.shard_data([[1, 2, 3], np.zeros(4)], 0)
    with pytest.raises(ValueError, match=r"data of \[4, 3\] examples cannot be cut together"):
        made.shard_data_along([np.zeros((3, 4)), [1, 2, 3]], [1, 0], 0)


def test_structures_keep_their_form(tf: Any, helpers: Helpers) -> None:
    State = collections.namedtuple("State", "c h")
    made = helpers(2)
    one = {"a": (1, [2, 3]), "b": State(4, 5)}
    assert made.map_structure(lambda v: -v, one) == {"a": (-1, [-2, -3]), "b": State(-4, -5)}
    both = made.map_structure(lambda *v: v, one, one)
    assert both == {"a": ((1, 1), [(2, 2), (3, 3)]), "b": State((4, 4), (5, 5))}
    assert isinstance(both["b"], State)


@pytest.mark.parametrize("rows", [1, 2, 5, 6, 8])
@pytest.mark.parametrize("gpus", [1, 2, 4])
def test_a_value_of_the_towers_is_fed_to_each_of_them(tf: Any, helpers: Helpers, gpus: int, rows: int) -> None:
    made = helpers(gpus)
    x_batch = tf.placeholder(tf.float32, [None, 3])
    tower_z, tower_out, tower_mean = [], [], []
    for gpu in range(gpus):
        (x,), count, weight = made.shard([x_batch], gpu)
        z = x * 2.0
        out = z + 1.0
        tower_z.append((z, count, weight))
        tower_out.append(out[:count])
        tower_mean.append(tf.reduce_mean(out) * weight)
    z, out, mean = made.merge_fed(tower_z, name="z"), tf.concat(tower_out, 0), tf.add_n(tower_mean)
    above = z * 10.0
    values = np.random.RandomState(0).rand(rows, 3).astype("float32")
    with session(tf) as sess:
        got = sess.run([z, out, mean, above], made.feed_towers({z: values}))
        for given, wanted in zip(got, [values, values + 1, np.mean(values + 1), values * 10], strict=True):
            np.testing.assert_allclose(given, wanted, rtol=1e-6)
        np.testing.assert_allclose(sess.run(out, made.feed_towers({x_batch: values})), values * 2 + 1, rtol=1e-6)
        both = sess.run([out, x_batch], made.feed_towers({x_batch: values, z: values}))
        np.testing.assert_allclose(both[0], values + 1, rtol=1e-6)
    assert z.op.name == "z"


@pytest.mark.parametrize("rows", [5, 8])
@pytest.mark.parametrize("gpus", [1, 2, 3])
def test_what_is_only_shown_is_merged_by_its_form(tf: Any, helpers: Helpers, gpus: int, rows: int) -> None:
    made = helpers(gpus)
    values = np.random.RandomState(0).rand(rows, 3).astype("float32")
    static, fed = tf.constant(values), tf.placeholder(tf.float32, [None, 3])
    towers: dict[str, list[Any]] = {"rows": [], "unknown rows": [], "number": [], "whole number": [], "other": []}
    for gpu in range(gpus):
        (x,), count, weight = made.shard_static([static], gpu)
        (z,), counted, share = made.shard([fed], gpu)
        towers["rows"].append((x, count, weight))
        towers["unknown rows"].append((z, counted, share))
        towers["number"].append((tf.reduce_mean(x), count, weight))
        towers["whole number"].append((tf.shape(x)[0], count, weight))
        towers["other"].append((tf.reduce_max(x, 0), count, weight))
    merged = {name: made.merge_shown(parts, name="shown") for name, parts in towers.items()}
    with session(tf) as sess:
        found = sess.run(merged, {fed: values})
    first = values[: -(-rows // gpus)]
    assert found["rows"].shape == values.shape and len(found["unknown rows"]) == len(first)
    np.testing.assert_allclose(found["number"], values.mean(), rtol=1e-6)
    np.testing.assert_allclose(found["other"], first.max(0), rtol=1e-6)
    assert found["whole number"] == len(first)
    assert merged["rows"].op.name == "shown" and merged["rows"].only_shown


@pytest.mark.parametrize("gpus", [1, 2])
def test_each_tensor_of_a_structure_that_is_only_shown_is_merged(tf: Any, helpers: Helpers, gpus: int) -> None:
    made = helpers(gpus)
    values = np.random.RandomState(0).rand(8, 3).astype("float32")
    static = tf.constant(values)
    towers: list[Any] = []
    for gpu in range(gpus):
        with tf.name_scope(f"tower_{gpu}"):
            (x,), count, weight = made.shard_static([static], gpu)
            mean = tf.reduce_mean(x, name="mean")
            towers.append(({"rows": [x, None], "pair": (mean, 7)}, count, weight))
    merged = made.merge_shown(towers, name=made.plain_name)
    assert merged["rows"][1] is None and merged["pair"][1] == 7
    assert merged["pair"][0].op.name == "mean"
    with session(tf) as sess:
        rows, number = sess.run([merged["rows"][0], merged["pair"][0]])
    np.testing.assert_allclose(rows, values, rtol=1e-6)
    np.testing.assert_allclose(number, values.mean(), rtol=1e-6)


# -- gradients ---------------------------------------------------------------------------------------


@pytest.mark.tf2
@pytest.mark.parametrize(
    ("grads", "expected"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], [4.0, 6.0]),
        ([[1.0, 2.0], None], [1.0, 2.0]),
        ([None, None], None),
        ([{0: 1.0}, {0: 2.0}], [3.0, 0.0]),
        ([{0: 1.0}, {1: 2.0}], [1.0, 2.0]),
        ([{0: 1.0}, None], [1.0, 0.0]),
        ([{1: 1.0}, [1.0, 1.0]], [1.0, 2.0]),
    ],
    ids=["dense", "one missing", "all missing", "sparse, same row", "sparse", "sparse, one missing", "mixed"],
)
def test_average(tf: Any, helpers: Helpers, grads: list[Any], expected: list[float] | None) -> None:
    made = helpers(2)
    variable = tf.get_variable("v", [2])

    def tensor(grad: Any) -> Any:
        if isinstance(grad, dict):
            return tf.IndexedSlices(tf.constant(list(grad.values())), tf.constant(list(grad)), tf.constant([2]))
        return grad if grad is None else tf.constant(grad)

    ((average, var),) = made.sum_gradients([[(tensor(grad), variable)] for grad in grads])
    assert var is variable
    if not any(isinstance(grad, dict) for grad in grads):
        ((dense, same),) = made.sum_gradients_dense([[(tensor(grad), variable)] for grad in grads])
        assert same is variable and (dense is None) == (expected is None)
        assert expected is None or session(tf).run(dense).tolist() == expected
    if expected is None:
        assert average is None
        return
    kinds = {isinstance(grad, dict) for grad in grads if grad is not None}
    assert isinstance(average, tf.IndexedSlices) == (kinds == {True})
    with session(tf) as sess:
        assert sess.run(tf.convert_to_tensor(average)).tolist() == expected


@pytest.mark.tf2
@pytest.mark.parametrize("towers", [1, 2, 3])
def test_towers_take_batches_of_their_own_one_after_the_other(tf: Any, helpers: Helpers, towers: int) -> None:
    made = helpers(towers)
    data = tf.data.Dataset.range(100).map(lambda i: (tf.fill([i + 1, 2], i), i)).repeat().batch(1)
    pairs, number = tf.data.make_one_shot_iterator(data).get_next()
    queue = tf.FIFOQueue(100, [tf.int64], shapes=[[]])
    fill, dequeued = queue.enqueue_many([tf.range(100, dtype=tf.int64)]), queue.dequeue_many(2)
    parts = [[*made.own_batches([pairs, number], gpu), *made.own_batches([dequeued], gpu)[0]] for gpu in range(towers)]
    assert parts[0][0] == [pairs, number] and parts[0][3] is dequeued
    assert [part[0][1].shape.as_list() for part in parts] == [number.shape.as_list()] * towers
    assert {part[2] for part in parts} == {1.0 / towers}
    with session(tf) as sess:
        sess.run(fill)
        for step in range(3):
            for gpu, ((rows, place), taken) in enumerate(sess.run([(part[0], part[3]) for part in parts])):
                turn = step * towers + gpu
                assert rows.shape == (1, turn + 1, 2) and place.tolist() == [turn]
                assert taken.tolist() == [2 * turn, 2 * turn + 1]


@pytest.mark.tf2
def test_a_tensor_that_is_computed_cannot_be_taken_again(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)
    with pytest.raises(ValueError, match="is not what a queue, an iterator or a reader gave"):
        made.own_batches([tf.constant(1.0, name="one") + 1.0], 1)


@pytest.mark.tf2
@pytest.mark.parametrize("towers", [1, 2, 3])
@pytest.mark.parametrize("total", [2, 5, 6])
def test_gradients_of_towers_are_those_of_the_batch(tf: Any, helpers: Helpers, towers: int, total: int) -> None:
    made = helpers(towers)
    batch, w = tf.placeholder(tf.float32, [None, 3]), tf.get_variable("w", [3, 1])
    unused = tf.get_variable("unused", [1])
    losses = []
    for gpu in range(towers):
        with tf.name_scope(f"tower_{gpu}"):
            (x,), _, weight = made.shard([batch], gpu)
            losses.append(tf.reduce_mean(tf.square(tf.matmul(x, w))) * weight)
    merged = made.merge_loss(losses, name="loss")
    assert merged.tower_losses is losses and merged.name == "loss:0"
    rows = tf.square(tf.matmul(batch, w))
    assert made.keep_losses(rows, losses) is rows and rows.tower_losses is losses
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    (one, _), (none, _) = made.tower_gradients(optimizer, losses, var_list=[w, unused])
    two, nothing = made.gradients_of_towers(losses, [w, unused])
    assert none is None and nothing is None
    assert len(made.gradients_of_towers(losses, w)) == 1
    whole = tf.gradients(tf.reduce_mean(tf.square(tf.matmul(batch, w))), [w])[0]
    with session(tf) as sess:
        found = sess.run([one, two, whole], {batch: [[row, 1.0, -row] for row in range(total)]})
    assert found[0].ravel().tolist() == pytest.approx(found[2].ravel().tolist(), rel=1e-5)
    assert found[1].ravel().tolist() == pytest.approx(found[2].ravel().tolist(), rel=1e-5)


@pytest.mark.tf2
@pytest.mark.parametrize("counts", [[3, 1], [2, 0, 5], [1] * 12])
def test_masked_means_are_weighed_by_what_they_count(tf: Any, helpers: Helpers, counts: list[int]) -> None:
    made = helpers(len(counts))
    values = [[float(7 * tower + i) for i in range(count)] for tower, count in enumerate(counts)]
    means = [tf.constant(sum(v) / max(len(v), 1)) for v in values]
    losses = made.weigh_losses(means, [tf.constant(float(count)) for count in counts])
    with session(tf) as sess:
        assert sess.run(tf.add_n(losses)) == pytest.approx(sum(map(sum, values)) / sum(counts))


@pytest.mark.tf2
def test_a_batch_that_counts_nothing_has_no_loss(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)
    losses = made.weigh_losses([tf.constant(0.0, tf.float64)] * 2, [tf.constant(0.0)] * 2)
    with session(tf) as sess:
        assert sess.run(losses) == [0.0, 0.0]


# -- what towers share -------------------------------------------------------------------------------


def raw(tf: Any, x: Any) -> Any:
    """A model of variables of all kinds, in scopes."""
    w = tf.Variable(tf.ones([2, 2]))
    with tf.name_scope("hidden"):
        x = tf.matmul(x, w) + tf.Variable(tf.zeros([2]), name="bias")
        with tf.name_scope("inner"):
            x = x * tf.Variable(1.0, name="scale")
    with tf.variable_scope("out"):
        x = tf.matmul(x, tf.get_variable("w", [2, 2])) + tf.Variable(tf.zeros([2]), name="bias")
    with tf.name_scope("hidden"):
        return x + tf.Variable(tf.zeros([2]))


@pytest.mark.tf2
@pytest.mark.parametrize("towers", [1, 2, 3])
@pytest.mark.parametrize("outer", ["", "net", "a/b"])
@pytest.mark.parametrize("kind", ["name_scope", "variable_scope"])
def test_raw_variables_keep_their_names(tf: Any, helpers: Helpers, towers: int, outer: str, kind: str) -> None:
    made = helpers(towers)
    x = tf.ones([1, 2])
    with getattr(tf, kind)(outer) if outer else contextlib.nullcontext():
        raw(tf, x)
    wanted = [(v.name, v.shape.as_list()) for v in tf.global_variables()]
    made = helpers(towers)
    x = tf.ones([1, 2])
    outputs = []
    with getattr(tf, kind)(outer) if outer else contextlib.nullcontext():
        shared = made.SharedVariables()
        for gpu in range(towers):
            scope = tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0)
            with tf.name_scope(f"tower_{gpu}"), scope, shared.tower(gpu):
                outputs.append(raw(tf, x))
    assert [(v.name, v.shape.as_list()) for v in tf.global_variables()] == wanted
    gradients = [tf.gradients(output, tf.trainable_variables()) for output in outputs]
    assert all(gradient is not None for tower in gradients for gradient in tower)


@pytest.mark.tf2
@pytest.mark.parametrize("outer", ["", "net"])
def test_raw_variables_of_several_models_keep_their_names(tf: Any, helpers: Helpers, outer: str) -> None:
    made = helpers(2)
    x = tf.ones([1, 2])
    with (
        tf.name_scope(outer) if outer else contextlib.nullcontext(),
        tf.variable_scope("a", reuse=tf.AUTO_REUSE),
    ):
        for _ in range(3):
            raw(tf, x)
    wanted = [v.name for v in tf.global_variables()]
    made = helpers(2)
    x = tf.ones([1, 2])
    with (
        tf.name_scope(outer) if outer else contextlib.nullcontext(),
        tf.variable_scope("a", reuse=tf.AUTO_REUSE),
    ):
        for _ in range(3):
            shared = made.SharedVariablesOfModels()
            for gpu in range(2):
                with tf.name_scope(f"tower_{gpu}"), shared.tower(gpu):
                    raw(tf, x)
    assert [v.name for v in tf.global_variables()] == wanted


@pytest.mark.tf2
def test_a_variable_made_after_the_towers_is_a_new_one(tf: Any, helpers: Helpers) -> None:
    shared = helpers(2).SharedVariables()
    made = []
    for gpu in range(2):
        with tf.name_scope(f"tower_{gpu}"), shared.tower(gpu):
            made.append(tf.Variable(1.0, name="v"))
    assert made[0] is made[1]
    assert tf.Variable(1.0, name="v").name == "v_1:0"


@pytest.mark.tf2
def test_each_tower_sees_its_own_collections(tf: Any, helpers: Helpers) -> None:
    made = helpers(3)
    tf.add_to_collection("losses", "before")
    collections = made.TowerCollections()
    seen = []
    for gpu in range(3):
        with collections.tower(gpu):
            tf.add_to_collection("losses", f"tower {gpu}")
            tf.add_to_collection(f"only {gpu}", gpu)
            if gpu == 0:
                tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, "weights")
            seen.append((tf.get_collection("losses"), tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)))
    assert seen == [(["before", f"tower {gpu}"], ["weights"]) for gpu in range(3)]
    assert tf.get_collection("losses") == ["before", "tower 0"]
    assert [tf.get_collection(f"only {gpu}") for gpu in range(3)] == [[0], [], []]


@pytest.mark.tf2
def test_each_tower_sees_its_own_penalties_and_those_of_all_variables(tf: Any, helpers: Helpers) -> None:
    made = helpers(3)
    key = tf.GraphKeys.REGULARIZATION_LOSSES
    before = tf.constant(1.0, name="before")
    tf.add_to_collection(key, before)
    collections = made.TowerPenalties()
    seen, own = [], []
    for gpu in range(3):
        scopes = tf.name_scope(f"tower_{gpu}"), tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0)
        with scopes[0], scopes[1], collections.tower(gpu):
            asked = len(tf.get_collection(key))
            with tf.variable_scope("net"):
                w = tf.get_variable("w", [2], regularizer=tf.nn.l2_loss)
            own.append(tf.nn.l2_loss(w, name="Regularizer"))
            tf.add_to_collection(key, own[-1])
            early = [v.op.name for v in tf.get_collection(key)]
            with tf.variable_scope("net"):
                tf.get_variable("last", [2], regularizer=tf.nn.l2_loss)
            seen.append((asked, early, [v.op.name for v in tf.get_collection(key, "net/.*")]))
            assert [v.op.name for v in tf.get_collection(key)] == [*early, "net/last/Regularizer/L2Loss"]
    names = [f"tower_{gpu}/Regularizer" for gpu in range(3)]
    of_net = ["net/w/Regularizer/L2Loss", "net/last/Regularizer/L2Loss"]
    assert seen == [(1, ["before", of_net[0], names[gpu]], of_net) for gpu in range(3)]
    assert [v.op.name for v in tf.get_collection(key)] == [*seen[0][1], of_net[1]]


@pytest.mark.tf2
def test_a_collection_that_was_taken_out_before_goes_on(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)
    held = tf.get_collection_ref("losses")
    collections = made.TowerCollections()
    for gpu in range(2):
        with collections.tower(gpu):
            held.append(gpu)
    assert held == [0] and tf.get_collection_ref("losses") is held


@pytest.mark.tf2
def test_a_collection_is_merged_under_the_names_of_one_gpu(tf: Any, helpers: Helpers) -> None:
    made = helpers(3)
    tf.add_to_collection("parts", tf.constant(7.0, name="before"))
    collections = made.MergedCollections()
    for gpu in range(3):
        with tf.name_scope(f"tower_{gpu}"), collections.tower(gpu):
            tf.add_to_collection("parts", tf.constant(float(gpu), name="part"))
            assert len(tf.get_collection("parts")) == 2
    collections.merge("parts", [0.5, 0.25, 0.25])
    assert [part.op.name for part in tf.get_collection("parts")] == ["before", "part"]
    with session(tf) as sess:
        assert sess.run(tf.get_collection("parts")) == [7.0, 0.75]


@pytest.mark.tf2
@pytest.mark.parametrize("name", ["tower_1/loss", "model/tower_11/loss", "tower_0_1/loss"])
def test_the_name_without_towers(tf: Any, helpers: Helpers, name: str) -> None:
    assert helpers(12).plain_name(tf.constant(1, name=name)) == "loss"


@pytest.mark.tf2
@pytest.mark.parametrize("towers", [1, 2, 4])
def test_only_the_first_tower_updates(tf: Any, helpers: Helpers, towers: int) -> None:
    made = helpers(towers)
    average, other = tf.get_variable("average", [], initializer=tf.zeros_initializer()), tf.ones([])
    outputs = []
    for gpu in range(towers):
        with made.first_tower_updates(gpu):
            update = tf.assign_add(average, 1.0)
            with tf.control_dependencies([update, tf.group(update), other]):
                outputs.append(tf.identity(tf.constant(2.0)))
            with tf.control_dependencies(None):
                outputs.append(tf.constant(1.0))
    with session(tf) as sess:
        sess.run(outputs)
        assert sess.run(average) == 1.0
    assert tf.get_default_graph().control_dependencies.__name__ == "control_dependencies"


@pytest.mark.tf2
@pytest.mark.parametrize("scope", ["", "model"])
@pytest.mark.parametrize("towers", [1, 3, 12])
def test_averages_of_what_the_towers_compute_are_the_first_ones(
    tf: Any, helpers: Helpers, towers: int, scope: str
) -> None:
    made = helpers(towers)
    kind = tf.train.ExponentialMovingAverage
    own = kind.__dict__["apply"], kind.__dict__["average"]
    before = kind(0.5)
    with tf.name_scope(scope or None):
        averages, updates, found = made.TowerAverages(), [], []
        for gpu in range(towers):
            with tf.name_scope(f"tower_{gpu}"), averages.tower(gpu):
                mean, other = tf.constant(gpu + 8.0, name="mean"), tf.constant(1.0, name="other")
                ema = kind(0.5)
                assert ema.average(mean) is None
                updates += [ema.apply([mean]), before.apply([mean, other])]
                found.append([ema.average(mean), before.average(mean), before.average(other)])
                assert ema.average(other) is None
    assert all(update is updates[i % 2] for i, update in enumerate(updates))
    assert all(one is first for row in found for one, first in zip(row, found[0], strict=True))
    plain = f"{scope}/" if scope else ""
    names = ["mean/ExponentialMovingAverage", "mean/ExponentialMovingAverage_1", "other/ExponentialMovingAverage"]
    assert [v.op.name for v in tf.global_variables()] == [plain + name for name in names]
    assert (kind.__dict__["apply"], kind.__dict__["average"]) == own
    with session(tf) as sess:
        sess.run(updates)
        assert sess.run(found[0]) == [4.0, 4.0, 0.5]


@pytest.mark.tf2
def test_averages_have_their_names_in_a_scope_of_variables(tf: Any, helpers: Helpers) -> None:
    made, names = helpers(2), []
    for towers in (1, 2):
        with tf.Graph().as_default(), tf.variable_scope("net"):
            averages = made.TowerAverages()
            for gpu in range(towers):
                alone = contextlib.nullcontext() if towers == 1 else averages.tower(gpu)
                scope = contextlib.nullcontext() if towers == 1 else tf.name_scope(f"tower_{gpu}")
                again = contextlib.nullcontext() if towers == 1 else tf.variable_scope(tf.get_variable_scope())
                with scope, again, alone, tf.name_scope("part"):
                    tf.train.ExponentialMovingAverage(0.5).apply([tf.constant(1.0, name="mean")])
            names.append([v.op.name for v in tf.global_variables()])
    assert names[0] == names[1] == ["net/net/part/mean/ExponentialMovingAverage"]


@pytest.mark.tf2
def test_averages_of_variables_are_taken_once(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    averages, found = made.TowerAverages(), []
    for gpu in range(2):
        with tf.name_scope(f"tower_{gpu}"), averages.tower(gpu):
            ema = tf.train.ExponentialMovingAverage(0.5)
            ema.apply()
            found.append(ema.average(weight))
    assert found[0] is found[1] and found[0].op.name == "weight/ExponentialMovingAverage"
    assert len(tf.global_variables()) == 2


@pytest.mark.tf2
def test_what_updates_a_variable(tf: Any, helpers: Helpers) -> None:
    made = helpers(1)
    plain = tf.get_variable("plain", [2], use_resource=False)
    resource = tf.get_variable("resource", [2], use_resource=True)
    update = tf.assign(plain, [1.0, 1.0])
    for op in (
        update,
        tf.assign_add(resource, [1.0, 1.0]).op,
        tf.scatter_sub(plain, [0], [1.0]),
        tf.group(update),
        tf.identity(update),
        tf.group(tf.group(update)),
        tf.group(tf.no_op(), update),
    ):
        assert made.updates_variable(op), op
    for op in (
        plain,
        plain.read_value(),
        resource.read_value(),
        tf.no_op(),
        tf.identity(plain),
        update + 1.0,
        tf.group(tf.constant(1.0)),
    ):
        assert not made.updates_variable(op), op


@pytest.mark.parametrize("reused", [False, True])
def test_a_tower_says_of_reuse_what_one_gpu_says(tf: Any, helpers: Helpers, reused: bool) -> None:
    made = helpers(3)

    def model() -> list[Any]:
        said = [tf.get_variable_scope().reuse]
        with tf.variable_scope("net") as scope:
            names = [tf.get_variable("w", [2]).name]
            with tf.variable_scope(None, default_name="dense"):
                tf.get_variable("kernel", [2])
            said.append(scope.reuse)
            scope.reuse_variables()
            return [*said, scope.reuse, tf.get_variable("w", [2]).name, *names[:1]]

    outer = tf.variable_scope("outer", reuse=tf.AUTO_REUSE if reused else None)
    with outer:
        asked = made.ScopeReuse()
        found = []
        for gpu in range(3):
            with tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0), asked.tower(gpu):
                found.append(model())
        after = tf.get_variable_scope().reuse
    assert found[0] == found[1] == found[2]
    assert found[0][2:] == [True, "outer/net/w:0", "outer/net/w:0"] and after == found[0][0] == found[0][1]
    assert bool(after) == reused
    assert [v.name for v in tf.global_variables()] == ["outer/net/w:0", "outer/net/dense/kernel:0"]


@pytest.mark.tf2
@pytest.mark.parametrize("scope", ["", "net"])
def test_layers_go_on_counting(tf: Any, helpers: Helpers, scope: str) -> None:
    def variable(name: str) -> str:
        with tf.variable_scope(None, default_name=name):
            return str(tf.get_variable("w", []).name)

    made = helpers(2)
    with tf.variable_scope(scope) if scope else contextlib.nullcontext():
        variable("dense")
        names = made.LayerNames()
        for gpu in range(2):
            with tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0), names.tower(gpu):
                variable("dense"), variable("conv"), variable("dense")
        names.resume()
        prefix = scope + "/" if scope else ""
        assert [variable(name) for name in ("dense", "conv", "pool")] == [
            f"{prefix}dense_3/w:0",
            f"{prefix}conv_1/w:0",
            f"{prefix}pool/w:0",
        ]


@pytest.mark.tf2
def test_an_optimizer_that_is_made_again_finds_its_slots(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)

    def build() -> None:
        names = made.LayerNames()
        for gpu in range(2):
            outer = tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0)
            with outer, names.tower(gpu), tf.variable_scope("net"):
                tf.get_variable("w", [2])
        names.resume()
        grads = [tf.ones([2])]
        tf.train.AdamOptimizer().apply_gradients(zip(grads, tf.trainable_variables(), strict=True))

    build()
    before = [v.name for v in tf.global_variables() if "power" not in v.name]
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        build()
    assert [v.name for v in tf.global_variables() if "power" not in v.name] == before
    assert "net/w/Adam_1:0" in before


# -- devices -----------------------------------------------------------------------------------------


def device(tensor: Any) -> str:
    """A device as `cpu:0`."""
    return str(tensor.device).lower().rpartition("device:")[2].lstrip("/")


@pytest.mark.tf2
@pytest.mark.parametrize(("suffix", "home"), [("", "cpu:0"), ("_gpu_0", "gpu:0")])
@pytest.mark.parametrize("gpu", [0, 3])
def test_placement(tf: Any, helpers: Helpers, suffix: str, home: str, gpu: int) -> None:
    made = vars(helpers(4))
    with tf.device(made[f"tower_device{suffix}"](gpu)):
        assert device(tf.get_variable("v", [2], use_resource=False)) == home
        assert device(tf.get_variable("r", [2], use_resource=True)) == home
        assert device(tf.constant(1.0)) == f"gpu:{gpu}"
        with tf.device("/cpu:0"):
            assert device(tf.constant(1.0)) == "cpu:0"
    with tf.device(made[f"variable_device{suffix}"]):
        assert device(tf.get_variable("w", [2], use_resource=False)) == home
        assert device(tf.constant(1.0)) == ""
        with tf.device("/gpu:2"):
            assert device(tf.get_variable("x", [2], use_resource=False)) == "gpu:2"


@pytest.mark.tf2
@pytest.mark.parametrize(
    ("sizes", "towers", "homes"),
    [
        ([4, 4], 2, [0, 1]),
        ([100, 10, 10, 10], 2, [0, 1, 1, 1]),
        ([10, 20, 30, 40], 2, [0, 1, 0, 1]),
        ([5, 5, 5, 5], 4, [0, 1, 2, 3]),
    ],
)
def test_balanced_placement(tf: Any, helpers: Helpers, sizes: list[int], towers: int, homes: list[int]) -> None:
    made = helpers(towers)
    for gpu in range(towers):
        with tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0), tf.device(made.tower_device_balanced(gpu)):
            variables = [tf.get_variable(f"v{i}", [size], use_resource=False) for i, size in enumerate(sizes)]
            assert device(tf.constant(1.0)) == f"gpu:{gpu}"
    assert [device(variable) for variable in variables] == [f"gpu:{home}" for home in homes]
    assert sum(made.VARIABLE_BYTES.values()) == 4 * sum(sizes)


@pytest.mark.tf2
def test_one_tower_leaves_variables_where_they_are(tf: Any, helpers: Helpers) -> None:
    with tf.device(helpers(1).tower_device_balanced(0)):
        assert device(tf.get_variable("v", [4], use_resource=False)) == ""
        assert device(tf.constant(1.0)) == "gpu:0"


@pytest.mark.tf2
def test_balanced_placement_counts_bytes(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)
    with tf.device(made.variable_device_balanced):
        for name, dtype in (("a", tf.float64), ("b", tf.float32), ("c", tf.float32), ("d", tf.float32)):
            tf.get_variable(name, [10], dtype, use_resource=False)
    assert [device(v) for v in tf.global_variables()] == ["gpu:0", "gpu:1", "gpu:1", "gpu:0"]


@pytest.mark.tf2
@pytest.mark.parametrize("towers", [2, 3, 4])
def test_slices_are_parts_of_one_initial_value(tf: Any, helpers: Helpers, towers: int) -> None:
    made = helpers(towers)
    array = np.arange(96 * 65, dtype=np.float32).reshape(96, 65)
    start = {
        "orthogonal": {"shape": [96, 96], "initializer": tf.orthogonal_initializer(seed=3)},
        "array": {"initializer": array},
        "function": {"shape": [96, 65], "initializer": lambda shape, dtype=None, partition_info=None: array * 2},
        "tensor": {"initializer": tf.constant(array)},
    }
    with tf.variable_scope("net", custom_getter=made.cut_variables("kept", rows=["table"])):
        whole = {name: tf.get_variable(name, **given) for name, given in start.items()}
        kept = tf.get_variable("kept", [96, 96])
        small = tf.get_variable("small", [4, 4])
        count = tf.get_variable("count", [4096], tf.int32, tf.zeros_initializer())
        table = tf.get_variable("table", [96, 64])
    assert [v.name for v in (kept, small, count)] == ["net/kept:0", "net/small:0", "net/count:0"]
    assert all(len(list(variable)) == towers for variable in (*whole.values(), table))
    assert [int(part.get_shape()[1]) for part in table] == [64] * towers
    with session(tf) as sess:
        values = {name: sess.run(variable) for name, variable in whole.items()}
        product = sess.run(2 * whole["array"])
    assert np.allclose(values["orthogonal"] @ values["orthogonal"].T, np.eye(96), atol=1e-5)
    assert np.array_equal(values["array"], array) and np.array_equal(values["tensor"], array)
    assert np.array_equal(values["function"], array * 2) and np.array_equal(product, array * 2)


@pytest.mark.tf2
def test_slices_are_placed_in_turn_and_put_together_once_in_each_tower(tf: Any, helpers: Helpers) -> None:
    made = helpers(3)
    read = []
    for gpu in range(3):
        scope = tf.variable_scope("net", reuse=gpu > 0, custom_getter=made.cut_variables())
        with tf.name_scope(f"tower_{gpu}"), tf.device(made.tower_device_partitioned(gpu)), scope:
            wide = tf.get_variable("wide", [64, 64], use_resource=False)
            tf.get_variable("bias", [64], use_resource=False)
            read.append([tf.convert_to_tensor(wide), tf.convert_to_tensor(wide)])
    assert all(first is second for first, second in read) and len({first.name for first, _ in read}) == 3
    assert [device(first) for first, _ in read] == ["gpu:0", "gpu:1", "gpu:2"]
    assert sorted(device(part) for part in wide) == ["gpu:0", "gpu:1", "gpu:2"]
    assert tf.convert_to_tensor(wide) is read[0][0]  # after the towers, the first one's


# -- counting ----------------------------------------------------------------------------------------

TWO = b"GPU 0: Tesla V100 (UUID: GPU-1)\nGPU 1: Tesla V100 (UUID: GPU-2)\n"
MIG = b"GPU 0: A100 (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: MIG-1)\n  MIG 1g.5gb Device 1: (UUID: MIG-2)\n"


@pytest.mark.parametrize(
    ("visible", "listed", "driver", "count"),
    [
        (None, TWO, None, 2),
        (None, MIG, None, 1),
        (None, b"", None, 1),
        (None, b"No devices found.\n", None, 1),
        (None, None, None, 1),
        (None, None, 3, 3),
        (None, None, 0, 1),
        (None, "fails", 2, 2),
        (None, "fails", None, 1),
        ("", TWO, None, 1),
        ("-1", TWO, None, 1),
        ("0", TWO, None, 1),
        ("1", TWO, None, 1),
        ("0,1", TWO, None, 2),
        ("1,0", TWO, None, 2),
        (" 0, 1 ", TWO, None, 2),
        ("0,1,2,3", TWO, None, 2),
        ("2,0", TWO, None, 1),
        ("0,2,1", TWO, None, 1),
        ("0,-1,1", TWO, None, 1),
        ("0,,1", TWO, None, 1),
        ("0,1,", TWO, None, 2),
        ("GPU-1,GPU-2", TWO, None, 2),
        ("GPU-2", TWO, None, 1),
        ("MIG-1,MIG-2", MIG, None, 2),
        ("0,1,2", None, None, 3),
        ("0,1,2", None, 2, 2),
    ],
)
def test_counting(
    monkeypatch: pytest.MonkeyPatch, visible: str | None, listed: Any, driver: int | None, count: int
) -> None:
    def check_output(command: list[str]) -> bytes:
        assert command == ["nvidia-smi", "-L"]
        if listed is None:
            raise FileNotFoundError("nvidia-smi")
        if listed == "fails":
            raise subprocess.CalledProcessError(9, command)
        return bytes(listed)

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    folder = SimpleNamespace(isdir=lambda path: driver is not None)
    system = SimpleNamespace(environ=os.environ, path=folder, listdir=lambda path: ["gpu"] * (driver or 0))
    names: dict[str, Any] = {
        "os": system,
        "subprocess": SimpleNamespace(
            **vars(subprocess),
        ),
    }
    names["subprocess"].check_output = check_output
    exec(catalog()["count_gpus"].source, names)
    assert names["count_gpus"]() == count


@pytest.mark.parametrize(
    ("present", "visible", "allowed", "ends"),
    [
        (2, None, None, False),
        (4, "0,3", None, False),
        (4, "GPU-8932, GPU-7781", None, False),
        (1, None, None, True),
        (4, "3", None, True),
        (4, "3,", None, True),
        (1, "0,1", None, True),
        (4, "3", "allow", False),
        (4, "3", "refuse", True),
        (4, "", None, False),  # the user wants the CPU
        (4, "-1", None, False),
        (0, None, None, False),
        (None, None, None, False),  # no GPU in this machine, or a system that does not list them
        (None, "0", None, False),
    ],
)
def test_fewer_gpus_than_towers(
    monkeypatch: pytest.MonkeyPatch, present: int | None, visible: str | None, allowed: str | None, ends: bool
) -> None:
    for name, value in (("CUDA_VISIBLE_DEVICES", visible), ("FEWER_GPUS", allowed)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    folder = SimpleNamespace(isdir=lambda path: present is not None)
    system = SimpleNamespace(environ=os.environ, path=folder, listdir=lambda path: ["gpu"] * (present or 0))
    names: dict[str, Any] = {"os": system, "NUM_GPUS": 2}
    exec(catalog()["check_gpus"].source, names)
    if ends:
        with pytest.raises(RuntimeError, match="2 towers need 2 GPUs, but this script sees 1; set FEWER_GPUS=allow"):
            names["check_gpus"]()
    else:
        names["check_gpus"]()


@pytest.mark.tf2
def test_scopes_of_collections_are_those_of_one_gpu(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)
    for gpu in range(2):
        with tf.name_scope(f"tower_{gpu}"), made.scopes_without_towers(gpu), tf.name_scope("model") as scope:
            tf.add_to_collection("parts", tf.constant(1.0, name="part"))
            inside = [part.op.name for part in tf.get_collection("parts", scope)]
            assert inside == [f"tower_{i}/model/part" for i in range(gpu + 1)]
    tf.add_to_collection("parts", tf.constant(1.0, name="model/late"))
    tf.add_to_collection("parts", "no tensor")
    names = [part.op.name for part in tf.get_collection("parts", scope="model")]
    assert names == ["tower_0/model/part", "tower_1/model/part", "model/late"]
    assert len(tf.get_collection("parts")) == 4 and tf.get_collection("parts", "mode/") == []


# -- behind updates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("resource", [False, True])
def test_what_is_built_inside_reads_behind_the_updates(tf: Any, helpers: Helpers, resource: bool) -> None:
    made = helpers(2)
    with tf.device("/cpu:0"):
        weights = tf.get_variable("w", initializer=tf.constant([2.0]), use_resource=resource)
    outside = weights * 1.0
    update = weights.assign_sub([5.0])
    with made.after_updates([update]), tf.device("/gpu:1"):
        inside, other = weights * 1.0, outside * 1.0
    assert outside.op.inputs[0].op not in (inside.op.inputs[0].op, update)
    if not resource:
        read = inside.op.inputs[0].op
        assert (read.type, read.name, read.device) == ("Identity", "w/read_1", weights.device)
        assert update.op in read.control_inputs
    assert other.op.inputs[0] is outside
    with session(tf) as run:
        assert run.run(inside) == [-3.0]


def test_a_resource_variable_is_read_anew_without_help(tf: Any, helpers: Helpers) -> None:
    made = helpers(2)
    weights = tf.get_variable("w", initializer=tf.constant([2.0]), use_resource=True)
    with made.after_updates([weights.assign_sub([5.0]).op]):
        inside = weights * 1.0
    assert inside.op.inputs[0].op.type == "ReadVariableOp"


# -- numbers of steps --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "gpus", "expected"),
    [(1000, 4, 250), (1000.0, 4, 250), (10, 4, 2), (11, 4, 3), (1, 4, 1), (0, 4, 0), (None, 4, None), (7, 1, 7),
     ([100, 200], 2, [50, 100]), ((3,), 3, [1])],
)  # fmt: skip
def test_fewer_steps(helpers: Helpers, steps: object, gpus: int, expected: object) -> None:
    assert helpers(gpus).fewer_steps(steps) == expected


@pytest.mark.tf2
def test_lists_of_the_first_tower(tf: Any, helpers: Helpers) -> None:
    made, found = helpers(3), []
    lists = made.FirstTowerLists()
    for gpu in range(3):
        with lists.tower(gpu), tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            for name in "ab":
                tf.get_variable(name, [])
                found.append([v.op.name for v in made.of_first_tower(tf.global_variables())])
    assert found == [["net/a"], ["net/a", "net/b"]] * 3
    assert len(made.of_first_tower(tf.global_variables())) == 2  # behind the towers
