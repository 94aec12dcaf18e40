"""Dicts that the towers make and of which the script reads the keys: what lies under them needs no merge."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

MODEL = """\
def net(x):
    points = {{'hidden': tf.layers.dense(x, 8)}}
    points['largest'] = tf.reduce_max(points['hidden'])
    return tf.layers.dense(points['hidden'], 1) / points['largest'], points


out, points = net(X)
loss = tf.reduce_mean(tf.square(out - Y))
{read}
"""


def script(read: str) -> str:
    return INPUTS + MODEL.format(read=read) + STEP + TRAINING


@pytest.mark.parametrize(
    "read",
    [
        "for key in points:\n    print(key)",
        "for key in sorted(points.keys()):\n    log(key)",
        "names = [key + ':' for key in points]",
        "if 'hidden' in points:\n    log('hidden')",
        "for key in list(points):\n    log(key)",
    ],
)
def test_keys_alone(read: str) -> None:
    assert codes(script(read)) == ["TMG302"] and "tower_points" not in converted(script(read))


@pytest.mark.parametrize(
    "read",
    ["for key, value in points.items():\n    log(value)", "for key in points:\n    log(points[key])", "log(points)"],
)
def test_what_lies_under_the_keys_is_read(read: str) -> None:
    assert set(codes(script(read))) <= {"TMG208", "TMG210"} and codes(script(read))


@pytest.mark.parametrize("key", ["KEY", "names[0]"])
def test_one_value_under_a_key_that_a_name_holds(key: str) -> None:
    text = converted("KEY = 'hidden'\nnames = ['hidden']\n" + script(f"log(points[{key}])"))
    assert "points['hidden'] = tf.concat(tower_hidden, 0)" in text and "tower_largest" not in text


def test_a_name_that_holds_several_keys_is_none() -> None:  # a near miss
    for_each = "for key in ('hidden', 'largest'):\n    log(points[key])"
    assert set(codes(script(for_each))) <= {"TMG208", "TMG210"} and codes(script(for_each))


SLIM = """\
slim = tf.contrib.slim


def net(x):
    with tf.variable_scope('net') as sc:
        with slim.arg_scope([slim.fully_connected], outputs_collections='points'):
            x = slim.fully_connected(x, 8, scope='one')
            return slim.fully_connected(x, 1, scope='two'), slim.utils.convert_collection_to_dict('points')


out, points = net(X)
loss = tf.reduce_mean(tf.square(out - Y)) + 0.1 * tf.reduce_mean(points['net/one'])
{read}
"""


@pytest.mark.parametrize(
    ("read", "refused"),
    [
        ("for key in points:\n    print(key)", False),
        ("for key in points:\n    tf.logging.info(key)", False),
        ("for key in points:\n    keep(key)", True),
        ("if 'net/one' in points:\n    keep(1)", True),
        ("names = [key for key in points]", True),
    ],
)
def test_names_of_layers_as_keys_may_only_be_shown(read: str, refused: bool) -> None:
    """Some of them begin with the tower's scope in the last tower."""
    found = codes(INPUTS + SLIM.format(read=read) + STEP + TRAINING)
    assert ("TMG208" in found) is refused


LAYERS = """\
import sys


class Net(object):
    def __init__(self):
        self.l = {{'in': X}}
        self.l['normal'] = self.l['in'] if sys.argv[1] == 'raw' else self.l['in'] / 255.
        h = self.l['normal']
        for i in range(int(sys.argv[2])):
            name = {name}
            self.l[name] = h = tf.layers.dense(h, 4)
        self.l['out'] = tf.layers.dense(h, 1)


net = Net()
loss = tf.reduce_mean(tf.square(net.l['out'] - Y))
"""


def layers(name: str, key: str) -> str:
    shown = f"    print(sess.run(net.l['{key}'], {{net.l['in']: xs}}))\n"
    return INPUTS + LAYERS.format(name=name) + STEP + TRAINING.replace("X:", "net.l['in']:") + shown


@pytest.mark.parametrize("name", ["'layer%d' % i", "'layer{}'.format(i)", "'layer%02d_%s' % (i, sys.argv[3])"])
def test_layers_under_computed_names_are_beside_those_that_are_written_out(name: str) -> None:
    text = converted(layers(name, "out"))
    assert "net.l['out'] = tf.concat(tower_out, 0)" in text


@pytest.mark.parametrize("name", ["'%s' % sys.argv[3]", "'i' + sys.argv[3]", "sys.argv[3]", "'%(a)s' % {'a': i}"])
def test_names_that_may_be_any_of_these_are_not(name: str) -> None:
    assert codes(layers(name, "out")) == ["TMG223"]


def test_what_one_branch_computes_of_an_input_is_merged_and_no_input_behind_the_loop() -> None:
    text = converted(layers("'layer%d' % i", "normal"))
    assert "net.l['normal'] = tf.concat(tower_normal, 0)" in text
    assert "net.l['normal'] = X_batch" not in text
