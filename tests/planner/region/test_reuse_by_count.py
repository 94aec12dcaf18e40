"""Scopes that are told by the number of variables so far whether theirs are there already."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, converted

SCRIPT = (
    INPUTS.replace(
        "\n\nbatch",
        """

def layer(x, units, name):
    {reuse}
    with tf.variable_scope(name, reuse={given}):
        w = tf.get_variable('w', [4, units])
    {after}
    return tf.matmul(x, w)


batch""",
        1,
    )
    + """\
loss = tf.reduce_mean(tf.square(layer(layer(X, 4, 'one'), 1, 'two') - Y))
"""
    + STEP
    + TRAINING
)
LISTED = "[v for v in tf.global_variables() if v.name.startswith(name)]"


def script(reuse: str, given: str = "reuse", after: str = "pass") -> str:
    text = SCRIPT
    for name, value in (("{reuse}", reuse), ("{given}", given), ("{after}", after)):
        text = text.replace(name, value)
    return text


@pytest.mark.parametrize(
    ("reuse", "given"),
    [
        (f"reuse = len({LISTED}) > 0", "reuse"),
        (f"reuse = len({LISTED}) != 0", "reuse"),
        (f"reuse = bool({LISTED})", "reuse"),
        ("reuse = any(v.name.startswith(name) for v in tf.global_variables())", "reuse"),
        ("pass", f"len({LISTED}) > 0"),
    ],
)
def test_no_tower_finds_them_and_all_but_the_first_reuse_those_around(reuse: str, given: str) -> None:
    assert "of_first_tower(tf.global_variables())" in converted(script(reuse, given))


@pytest.mark.parametrize(
    ("reuse", "after"),
    [
        (f"reuse = len({LISTED}) > 1", "pass"),
        (f"reuse = len({LISTED}) > 0", "x = x * 2.0 if reuse else x"),  # it tells something else, too
        (f"found = {LISTED}\n    reuse = len(found) > 0", "pass"),
        (f"reuse = False\n    found = {LISTED}", "tf.add_to_collection('found', found)"),
    ],
)
def test_other_uses_of_the_list_are_those_of_the_first_tower(reuse: str, after: str) -> None:
    assert "of_first_tower(tf.global_variables())" in converted(script(reuse, after=after))
