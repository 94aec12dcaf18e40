"""Objects, lists, dicts and data sets that two branches set up in unlike ways: code may meet either."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

HEAD = """\
import sys
import numpy as np
import tensorflow as tf

batch_size = 16
deep = len(sys.argv) > 1
data = np.random.randn(160, 4)
x = tf.placeholder(tf.float32, [None, 4])


def plain(h):
    return h


def centred(h):
    return h - tf.reduce_mean(h, 0)


class Net:
    def __init__(self, kind):
        self.kind = kind

    def apply(self, h):
        return centred(h) if self.kind == 'centred' else h


if deep:
    made = {0}
else:
    made = {1}
h = tf.layers.dense(x, 4)
"""
END = """\
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1)))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(data) // batch_size):
        sess.run(train, {x: data[i * batch_size:(i + 1) * batch_size]})
"""
SETTINGS = {
    "object": ("Net('plain')", "Net('centred')", "h = made.apply(h)"),
    "objects in a list": ("[Net('plain')]", "[Net('centred')]", "h = made[0].apply(h)"),
    "dict of texts": ("{'kind': 'plain'}", "{'kind': 'centred'}", "h = Net(made['kind']).apply(h)"),
    "dict of switches": ("{'on': False}", "{'on': True}", "if made['on']:\n    h = centred(h)"),
    "dict of functions": ("{'f': plain}", "{'f': centred}", "h = made['f'](h)"),
    "list of functions": ("[plain]", "[plain, centred]", "for f in made:\n    h = f(h)"),
    "list of texts": ("['plain']", "['plain', 'centred']", "for kind in made:\n    h = Net(kind).apply(h)"),
    "list in a dict": ("{'all': ['plain']}", "{'all': ['centred']}", "h = Net(made['all'][0]).apply(h)"),
}


def script(one: str, two: str, use: str) -> str:
    return f"{HEAD.replace('{0}', one).replace('{1}', two)}{use}\n{END}"


@pytest.mark.parametrize(("one", "two", "use"), SETTINGS.values(), ids=SETTINGS)
def test_what_either_branch_makes_is_told(one: str, two: str, use: str) -> None:
    assert codes(script(one, two, use), batch="total") == ["TMG302"]
    assert codes(script(two, one, use), batch="total") == ["TMG302"]


@pytest.mark.parametrize(("one", "two", "use"), SETTINGS.values(), ids=SETTINGS)
def test_what_neither_branch_makes_is_not(one: str, two: str, use: str) -> None:
    two = two.replace("centred", "plain").replace("True", "False")
    assert codes(script(one, two, use), batch="total") == []


PIPELINE = """\
import sys
import numpy as np
import tensorflow as tf

batch_size = 16
ds = tf.data.Dataset.from_tensor_slices(np.random.randn(160, 4))
if len(sys.argv) > 1:
    {0}
else:
    {1}
x = it.get_next()
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        sess.run(train)
"""
NAMED = "it = ds.batch(batch_size).make_one_shot_iterator()"
LITERAL = "it = ds.batch(32).make_one_shot_iterator()"


@pytest.mark.parametrize(("one", "two"), [(NAMED, LITERAL), (LITERAL, NAMED)])
def test_batches_of_each_branch_grow(one: str, two: str) -> None:
    lines = body(PIPELINE.format(one, two))
    assert "batch_size = 16 * num_gpus" in lines
    assert f"    {LITERAL.replace('32', '32 * num_gpus')}" in lines
    iterator = ".make_one_shot_iterator()"
    text = PIPELINE.format(
        one.replace("it =", "ds =").replace(iterator, ""), two.replace("it =", "ds =").replace(iterator, "")
    )
    lines = body(text.replace("it.get_next()", f"ds{iterator}.get_next()"))
    assert "    ds = ds.batch(32 * num_gpus)" in lines


HANDLERS = {
    "switch": ("on = False", "on = True", "if on:\n    h = centred(h)"),
    "function": ("f = plain", "f = centred", "h = f(h)"),
    "attribute": ("net = Net('plain')", "net.kind = 'centred'", "h = net.apply(h)"),
}


@pytest.mark.parametrize(("first", "caught", "use"), HANDLERS.values(), ids=HANDLERS)
def test_what_a_handler_sets_up_is_told(first: str, caught: str, use: str) -> None:
    tried = f"try:\n    sizes = np.load('sizes')\nexcept IOError:\n    {caught}\n"
    before = script("plain", "plain", f"{first}\n{tried}{use}")
    inside = script("plain", "plain", f"{tried.replace('try:', f'try:{chr(10)}    {first}')}{use}")
    for text in (before, inside):
        assert codes(text, batch="total") == ["TMG302"]
        assert codes(text.replace("h - tf.reduce_mean(h, 0)", "h + 1"), batch="total") == []
        unavailable = text.replace("sizes = np.load('sizes')", "import sizes").replace("IOError", "ImportError")
        assert codes(unavailable, batch="total") == []  # it runs where the module is there


UNSEEN = {
    "update": "settings = {}\nsettings.update(json.load(open('x')))",
    "items": "settings = {}\nfor key, value in json.load(open('x')).items():\n    settings[key] = value",
    "dict": "settings = dict({'a': 1}, **json.load(open('x')))",
    "spread": "settings = {**json.load(open('x'))}",
}
READS = {
    "get": "if settings.get('on', False):\n    h = centred(h)",
    "in": "if 'on' in settings:\n    h = centred(h)",
    "call": "def layer(h, on=False):\n    return centred(h) if on else h\nh = layer(h, **settings)",
}


@pytest.mark.parametrize("filled", UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_dict_with_entries_that_are_not_seen_may_hold_any(filled: str, read: str) -> None:
    text = script("plain", "plain", f"import json\n{filled}\n{read}")
    assert codes(text, batch="total") == ["TMG302"]
    seen = text.replace("json.load(open('x'))", "{'b': True}")
    assert codes(seen, batch="total") == []
