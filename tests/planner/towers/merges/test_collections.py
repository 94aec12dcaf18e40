"""Collections that are read after the loop, and names that averages and tags are made from."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, body, codes, parts

MODEL = """\
prediction = tf.layers.dense(X, 1)
error = tf.reduce_mean(tf.square(prediction - Y))
tf.add_to_collection('parts', error)
tf.add_to_collection('parts', 0.1 * tf.nn.l2_loss(tf.get_variable('w', [3])))
loss = tf.add_n(tf.get_collection('parts'))
"""
READ = "for part in tf.get_collection('parts'):\n    tf.summary.scalar(part.op.name, part)\n"
TRAINED = "train_op = optimizer.apply_gradients(sum_gradients(tower_grads))"
MERGE = "tower_collections.merge('parts', tower_weight)"


def test_means_in_a_collection_that_is_read_after_the_loop_are_merged() -> None:
    lines = body(INPUTS + MODEL + STEP + READ + TRAINING)
    assert lines.index("        tower_weight.append(weight)") < lines.index(MERGE)
    assert lines.index(MERGE) < lines.index("for part in tf.get_collection('parts'):")


@pytest.mark.parametrize(
    ("model", "read"),
    [
        (MODEL, ""),
        (MODEL, READ.replace("'parts'", "tf.GraphKeys.UPDATE_OPS")),
    ],
    ids=["not read", "another one"],
)
def test_other_collections_stay_those_of_the_first_tower(model: str, read: str) -> None:
    before, _, after = parts(INPUTS + model + STEP + read + TRAINING)
    assert before[-2:] == ["tower_loss, tower_grads = [], []", "tower_collections = TowerCollections()"]
    assert after[:3] == ["X, Y = X_batch, Y_batch", "loss = tf.add_n(tower_loss)", TRAINED]


@pytest.mark.parametrize(
    "model",
    [
        MODEL.replace("'parts', error", "'parts', tf.reduce_max(prediction)"),
        MODEL.replace("'parts', error", "'parts', prediction").replace("add_n(", "sum("),
    ],
    ids=["a maximum", "rows"],
)
def test_what_is_no_mean_is_refused_where_it_is_read(model: str) -> None:
    script = INPUTS + model + "loss += error\n" + STEP
    assert codes(script + READ + TRAINING) == ["TMG236"] and codes(script + TRAINING) != ["TMG236"]


LOSS = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n"


@pytest.mark.parametrize(
    "asked",
    ["kept = tf.train.ExponentialMovingAverage(0.9).apply([loss])\n", "tf.summary.scalar(loss.op.name, loss)\n"],
    ids=["average", "tag"],
)
def test_a_name_that_is_asked_for_is_that_of_one_gpu(asked: str) -> None:
    assert "loss = tf.add_n(tower_loss, name=plain_name(loss))" in body(INPUTS + LOSS + STEP + asked + TRAINING)


def test_a_name_that_the_script_gave_is_kept() -> None:
    asked = "tf.summary.scalar(loss.op.name, loss)\n"
    lines = body(INPUTS + LOSS.replace("- Y))", "- Y), name='mse')") + STEP + asked + TRAINING)
    assert "loss = tf.add_n(tower_loss, name='mse')" in lines


def test_a_name_that_nobody_asks_for_is_left_to_tensorflow() -> None:
    assert "loss = tf.add_n(tower_loss)" in body(INPUTS + LOSS + STEP + TRAINING)


LAYERS = """\
slim = tf.contrib.slim


def net(x):
    with slim.arg_scope([slim.fully_connected], outputs_collections='ends'):
        out = slim.fully_connected(slim.fully_connected(x, 4, scope='one'), 1, scope='two')
    ends = slim.utils.convert_collection_to_dict('ends')
    ends['out'] = out
    return out, ends


prediction, ends = net(X)
"""


@pytest.mark.parametrize(
    ("target", "line", "found"),
    [
        ("prediction", "", []),
        ("ends['out']", "tf.summary.histogram('out', ends['out'])", []),
        ("ends['one']", "", []),
        ("prediction", "tf.summary.histogram('one', ends['one'])", []),
        ("prediction", "for each in ends.values():\n    tf.summary.histogram('layer', each)", ["TMG208"]),
        ("prediction", "tf.summary.histogram('named', ends[name()])", ["TMG208"]),
    ],
)
def test_layers_that_a_model_collects(target: str, line: str, found: list[str]) -> None:
    """Which of its tensors it is that a name of the collection stands for is not known, but that it is one of them."""
    loss = f"loss = tf.reduce_mean(tf.square({target} - Y))\n"
    assert codes(INPUTS + LAYERS + loss + line + "\n" + STEP + TRAINING) == found


def test_a_layer_by_its_name_is_merged_as_the_rows_that_all_layers_have() -> None:
    loss = "loss = tf.reduce_mean(tf.square(prediction - Y))\n"
    read = "tf.summary.histogram('one', ends['one'])\n"
    _, inside, after = parts(INPUTS + LAYERS + loss + STEP + read + TRAINING)
    assert "tower_one.append(ends['one'][:rows])" in inside and "ends['one'] = tf.concat(tower_one, 0)" in after


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("", []),
        ("slim.utils.collect_named_outputs('ends', 'half', out / 2)", []),
        ("slim.utils.collect_named_outputs('ends', 'largest', tf.reduce_max(out))", ["TMG393"]),
        ("tf.transpose(out)", ["TMG393"]),
    ],
    ids=["layers", "rows", "a number", "rows along another axis"],
)
def test_a_collection_may_hold_whatever_the_model_has_made(made: str, found: list[str]) -> None:
    layers = LAYERS.replace("    ends = slim", f"    {made}\n    ends = slim")
    loss = "loss = tf.reduce_mean(tf.square(prediction - Y))\n"
    read = "tf.summary.histogram('one', ends['one'])\n"
    assert codes(INPUTS + layers + loss + STEP + read + TRAINING) == found


@pytest.mark.parametrize(
    ("layer", "name", "found"),
    [
        ("slim.flatten(out, scope='flat')", "flat", ["TMG209"]),
        ("slim.flatten(out)", "net/Flatten", ["TMG209"]),
        ("slim.flatten(out)", "net/Flatten_1", ["TMG209"]),
        ("slim.flatten(out, scope='flat')", "two", []),
        ("slim.dropout(out, scope='flat')", "flat", []),
    ],
)
def test_a_layer_without_variables_has_the_towers_scope_in_its_name(layer: str, name: str, found: list[str]) -> None:
    """The dict of a tower has no such key: the script would end there."""
    layers = LAYERS.replace("    ends = slim", f"    {layer}\n    ends = slim")
    loss = f"loss = tf.reduce_mean(tf.square(ends[{name!r}] - Y))\n"
    assert codes(INPUTS + layers + loss + STEP + TRAINING) == found


def test_each_tower_collects_its_own_layers() -> None:
    loss = "loss = tf.reduce_mean(tf.square(prediction - Y))\n"
    assert any("tower_collections.tower(gpu)" in line for line in body(INPUTS + LAYERS + loss + STEP + TRAINING))


@pytest.mark.parametrize("rows", ["batch_size", "[batch_size]", "(batch_size,)"])
def test_means_of_fixed_rows_are_merged_however_the_rows_are_written(rows: str) -> None:
    inputs = INPUTS.replace("Y = tf.placeholder(tf.float32, [None, 1])", f"Y = tf.placeholder(tf.float32, {rows})")
    inputs = inputs.replace("X = tf.placeholder(tf.float32, [None,", "X = tf.placeholder(tf.float32, [batch_size,")
    assert inputs.count("batch_size") > INPUTS.count("batch_size") + 1
    lines = body(inputs + MODEL.replace("prediction - Y", "prediction[:, 0] - Y") + STEP + READ + TRAINING)
    assert "        (X, Y), rows, weight = shard_static([X_batch, Y_batch], gpu)" in lines
    assert MERGE in lines
