"""Names in the graph that cannot be told to be outside of the towers."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes

MODEL = """\
scale = tf.get_variable('scale', [4])
prediction = tf.layers.dense(X * scale, 1, name='layer1')
with tf.name_scope('part'):
    square = tf.square(prediction - Y)
loss = tf.reduce_mean(square)
accuracy = tf.reduce_max(Y, name='accuracy')
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("'layer1/BiasAdd:0'", ["TMG209"]),
        ("'layer{}/MatMul:0'.format(n)", ["TMG209"]),
        ("'layer' + n + '/MatMul:0'", ["TMG209"]),
        ("'lay%s/MatMul:0' % n", ["TMG209"]),
        ("f'{n}/MatMul:0'", ["TMG209"]),
        ("'part/Square:0'", ["TMG209"]),
        ("'part_1/Square:0'", ["TMG209"]),
        ("'Mean:0'", ["TMG209"]),
        ("'Max_1:0'", []),
        ("n", ["TMG209"]),
        ("'layer{}/kernel:0'.format(n)", []),
        ("'scale:0'", []),
        ("'net/scale:0'", []),
        ("'accuracy:0'", []),
        ("'other{}/MatMul:0'.format(n)", []),
    ],
)
def test_lookups(name: str, found: list[str]) -> None:
    lookup = f"n = unknown()\ntensor = tf.get_default_graph().get_tensor_by_name({name})\n"
    assert codes(INPUTS + MODEL + STEP + lookup + TRAINING) == found


@pytest.mark.parametrize("lookup", ["sess.graph.get_tensor_by_name('{}')", "graph.as_graph_element('{}')"])
@pytest.mark.parametrize(("name", "found"), [("layer1/BiasAdd:0", ["TMG209"]), ("accuracy:0", []), ("scale:0", [])])
def test_graphs_that_are_handed_on(lookup: str, name: str, found: list[str]) -> None:
    function = f"def show(sess, graph):\n    return {lookup.format(name)}\n\n\n"
    assert codes(INPUTS + function + MODEL + STEP + TRAINING + "    watch(show)\n") == found


def test_a_scope_of_an_unknown_name_may_be_any() -> None:
    model = MODEL.replace("'part'", "unknown()")
    lookup = "tensor = tf.get_default_graph().get_tensor_by_name('other/MatMul:0')\n"
    assert codes(INPUTS + model + STEP + lookup + TRAINING) == ["TMG209"]


def test_fetched_names_are_lookups_too() -> None:
    assert codes(INPUTS + MODEL + STEP + TRAINING.replace("train_op,", "[train_op, 'layer1/BiasAdd:0'],")) == ["TMG209"]


GETTER = "def layer(sess, n):\n    return [sess.graph.get_tensor_by_name(name) for name in n]\n\n\n"
CALLER = "def show(sess):\n    print(layer(sess, names()))\n\n\n"


@pytest.mark.parametrize(
    ("functions", "end", "found"),
    [
        (GETTER, "", []),  # nobody calls it
        (GETTER + CALLER, "", []),  # only a function that nobody calls does
        (GETTER + CALLER.replace("names()", "show, names()"), "", []),
        (GETTER, "    print(layer(sess, names()))\n", ["TMG209"]),
        (GETTER + CALLER, "    show(sess)\n", ["TMG209"]),
        (GETTER, "    threading.Thread(target=layer, args=(sess, names())).start()\n", ["TMG209"]),
        (GETTER, "    watch(sess, layer)\n", ["TMG209"]),
        (GETTER, "    print(globals()['layer'](sess, names()))\n", ["TMG209"]),
        (GETTER, "    run(**{'layer': 1})\n", ["TMG209"]),
    ],
    ids=[
        "nobody",
        "through another",
        "calls itself",
        "called",
        "through a called one",
        "thread",
        "given",
        "by name",
        "text",
    ],
)
def test_a_name_that_a_function_looks_up(functions: str, end: str, found: list[str]) -> None:
    assert codes("import threading\n" + functions + INPUTS + MODEL + STEP + TRAINING + end) == found
