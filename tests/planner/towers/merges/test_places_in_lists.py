"""Lists and dicts that a model changes at places, or under keys, that only a run knows: nothing is guessed of them."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, merged

PLACE = "k = int(open('place.txt').read())\n"
MODEL = "h = tf.layers.dense(X, 3)\ng = tf.nn.relu(h)\nm = tf.reduce_mean(tf.square(h))\n"
LOSS = "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n"


def script(made: str, used: str, read: str = "outs[0], outs[1]") -> str:
    """A model whose loss needs a list, so that the towers make it, and whose values are fetched and kept."""
    loss = LOSS + f"loss += 0.1 * tf.add_n([tf.reduce_mean(v) for v in {used}])\n"
    run = f"keep(sess.run([train_op, {read}], {{X: xs, Y: ys}}))"
    return INPUTS + PLACE + MODEL + made + loss + STEP + TRAINING.replace("sess.run(train_op, {X: xs, Y: ys})", run)


@pytest.mark.parametrize(
    "made",
    [
        "outs = [h]\nouts.insert(k, m)\n",
        "outs = [h, m, g]\nouts.pop(k)\n",
        "outs = [h, m, g]\ndel outs[k]\n",
        "outs = [h, m]\nouts.sort(key=lambda t: t.name)\n",
        "outs = [h, g]\nouts[k] = m\n",
        "outs = [h, g]\nouts[k:] = [m]\n",
        "outs = []\nif k:\n    outs.append(m)\nouts.append(h)\nouts.append(g)\n",
        "outs = [h]\nif k:\n    outs += [m]\nelse:\n    outs.insert(0, m)\n",
        "outs = []\nif k:\n    outs = outs + [m]\nouts = outs + [h, g]\n",
        "outs = []\nfor i in range(k):\n    outs.append(h)\nouts.append(m)\nouts.append(g)\n",
    ],
    ids=lambda made: made.splitlines()[-1],
)
def test_rows_and_a_mean_at_places_that_are_not_known_are_refused(made: str) -> None:
    assert set(codes(script(made, "outs"))) in ({"TMG208"}, {"TMG210"})


def test_rows_and_a_mean_that_are_only_shown_are_merged_by_their_form() -> None:
    shown = script("outs = [h]\nouts.insert(k, m)\n", "outs").replace("keep(", "print(")
    assert "TMG393" in codes(shown) and "outs = merge_shown(tower_outs)" in converted(shown)


@pytest.mark.parametrize(
    ("made", "first", "second"),
    [
        ("outs = [h]\nouts.insert(0, m)\n", "mean", "rows"),
        ("outs = [h]\nouts.insert(1, m)\n", "rows", "mean"),
        ("outs = [h, m, g]\nouts.pop(0)\n", "mean", "rows"),
        ("outs = [m, g, h]\nouts.pop(1)\n", "mean", "rows"),
        ("outs = [m, m, g]\ndel outs[0]\n", "mean", "rows"),
        ("outs = [m, h, m]\nouts.remove(h)\n", "mean", "mean"),
        ("outs = [h, m]\nouts.reverse()\n", "mean", "rows"),
        ("outs = list(reversed([h, m]))\n", "mean", "rows"),
        ("outs = [h, m, g]\nouts[:1] = [m, g]\n", "mean", "rows"),
        ("outs = [h, g]\nouts[-1] = m\n", "rows", "mean"),
        ("outs = [h, g]\nouts.clear()\nouts.extend([m, g])\n", "mean", "rows"),
        ("firsts = [h, g]\nouts = firsts.copy()\nouts[0] = m\n", "mean", "rows"),
        ("outs = [h]\nif k:\n    outs.append(m)\nelse:\n    outs.append(tf.reduce_mean(g))\n", "", ""),
    ],
    ids=lambda text: text.splitlines()[-1] if text else "-",
)
def test_places_that_are_known_are_merged_as_what_stands_there(made: str, first: str, second: str) -> None:
    text = script(made, "outs")
    written = converted(text)
    ways = {"rows": "tf.concat(tower_outs_{0}, 0)", "mean": "tf.add_n(tower_outs_{0})"}
    for place, way in enumerate((first, second)):
        assert not way or f"outs[{place}] = {ways[way].format(place)}" in written


@pytest.mark.parametrize(
    "made",
    [
        "outs = [h]\nouts.insert(k, g)\n",
        "outs = [h, g]\nouts.sort(key=lambda t: t.name)\n",
        "outs = []\nif k:\n    outs.append(h)\nouts.append(g)\n",
    ],
    ids=["insert", "sort", "branch"],
)
def test_rows_at_places_that_are_not_known_are_merged_as_a_list(made: str) -> None:
    assert "outs" in merged(script(made, "outs"))


@pytest.mark.parametrize(
    ("made", "used", "read"),
    [
        ("outs = {0: h, 1: m}\nouts.update({k: m})\n", "outs.values()", "outs[0]"),
        ("outs = {'a': h}\nif k:\n    outs.update(a=m)\n", "outs.values()", "outs['a']"),
        ("outs = {0: h, 1: m}\nout = outs.pop(k)\n", "[out]", "out"),
        ("outs = {0: h}\nout = outs.setdefault(k, m)\n", "[out]", "out"),
        ("outs = {0: h, 1: m}\nkey, out = outs.popitem()\n", "[out]", "out"),
        ("out = {h, m}.pop()\n", "[out]", "out"),
        ("import collections\nout = collections.deque([h, m])\nout.rotate(k)\n", "out", "out[0]"),
        ("import collections\nout = collections.deque(maxlen=2)\nout.append(h)\n", "out", "out[0]"),
    ],
    ids=["update", "update in a branch", "pop", "setdefault", "popitem", "set", "deque", "filled deque"],
)
def test_one_of_several_values_is_refused_where_it_is_read(made: str, used: str, read: str) -> None:
    assert codes(script(made, used, read))[0] in ("TMG208", "TMG210")


@pytest.mark.parametrize(
    ("made", "used", "read", "expected"),
    [
        ("outs = {'a': h}\nouts.update([('a', m)])\n", "outs.values()", "outs['a']", "outs['a'] = tf.add_n(tower_a)"),
        ("outs = {'a': h, 'b': m}\nout = outs.pop('b')\n", "[out]", "out", "out = tf.add_n(tower_out)"),
        (
            "outs = {'a': h}\nother = outs.copy()\nother['a'] = m\n",
            "outs.values()",
            "outs['a']",
            "outs['a'] = tf.concat(tower_a, 0)",
        ),
        (
            "import collections\nOut = collections.namedtuple('Out', 'a b')\nouts = Out._make([m, h])\n",
            "outs",
            "outs.a, outs.b",
            "a=tf.add_n(",
        ),
    ],
    ids=["update", "pop", "copy", "namedtuple"],
)
def test_keys_that_are_known_are_followed(made: str, used: str, read: str, expected: str) -> None:
    assert expected in converted(script(made, used, read))
