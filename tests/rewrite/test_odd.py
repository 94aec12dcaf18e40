"""Scripts that no one writes by hand are converted or refused, and soon; what is converted is valid Python."""

from __future__ import annotations

import ast

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, run

LOOPS = "".join(f"{'    ' * n}for i{n} in range(1):\n" for n in range(18)) + "    " * 18
WITH = "".join(f"{'    ' * n}with tf.name_scope('s{n}'):\n" for n in range(18)) + "    " * 18
ODD = {
    "loops around nothing": f"{INPUTS}{LOOPS}pass\n{MODEL}{STEP}{TRAINING}",
    "loops that change a list": f"{INPUTS}made = []\n{LOOPS}made.append(i0)\n{MODEL}{STEP}{TRAINING}",
    "loops in the model": f"{INPUTS}h = X\n{LOOPS}h = h * 2\n{MODEL.replace('dense(X', 'dense(h')}{STEP}{TRAINING}",
    "scopes in the model": f"{INPUTS}h = X\n{WITH}h = h * 2\n{MODEL.replace('dense(X', 'dense(h')}{STEP}{TRAINING}",
    "comprehensions": f"{INPUTS}made = {'[' * 18}X{'for _ in range(1)]' * 18}\n{MODEL}{STEP}{TRAINING}".replace(
        "for _", " for _"
    ),
    "branches": f"{INPUTS}h = X\n"
    + "".join(f"if len(str({n})) > 1:\n    h = h + {n}\n" for n in range(60))
    + f"{MODEL.replace('dense(X', 'dense(h')}{STEP}{TRAINING}",
    "functions that call the next one twice": f"{INPUTS}"
    + "".join(f"def f{n}(x):\n    return f{n + 1}(x) + f{n + 1}(x)\n" for n in range(12))
    + f"def f12(x):\n    return x\nh = f0(X)\n{MODEL.replace('dense(X', 'dense(h')}{STEP}{TRAINING}",
    "a name in a call": f"{INPUTS}{MODEL}train_op = (opt := tf.train.AdamOptimizer(0.1)).minimize(loss)\n{TRAINING}",
    "a name in a model's call": f"{INPUTS}{MODEL.replace('dense(X', 'dense((h := X)')}{STEP}{TRAINING}",
    "a name of the loss": f"{INPUTS}{MODEL}train_op = tf.train.AdamOptimizer(0.1).minimize((cost := loss))\n{TRAINING}",
    "form feeds": f"\f{INPUTS}\f\n{MODEL}\f\n\f{STEP}\f{TRAINING}",
    "form feeds in blocks": f"{INPUTS}def f(x):\n\f    return x\n\f\nh = f(X)\n{MODEL}{STEP}{TRAINING}",
    "many statements in a line": f"{INPUTS}{'pass; ' * 2000}pass\n{MODEL}{STEP}{TRAINING}",
    "a long line": f"{INPUTS}names = [{', '.join(map(str, range(20000)))}]\n{MODEL}{STEP}{TRAINING}",
    "many continued lines": f"{INPUTS}total = 0 {chr(92)}\n"
    + f"    + 1 {chr(92)}\n" * 1000
    + f"    + 1\n{MODEL}{STEP}{TRAINING}",
    "many decorators": f"{INPUTS}" + "@print\n" * 500 + f"def f():\n    pass\n{MODEL}{STEP}{TRAINING}",
    "a chain of assignments": f"{INPUTS}{'a = ' * 500}1\n{MODEL}{STEP}{TRAINING}",
    "a deep string": f'{INPUTS}a = f"{{f\'{{f\\"{{1}}\\"}}\'}}"\n{MODEL}{STEP}{TRAINING}',
}


@pytest.mark.parametrize("name", ODD)
def test_odd_scripts_have_an_end(name: str) -> None:
    done = run(ODD[name])
    assert done.status in ("converted", "refused")
    assert "TMG090" not in [finding.code for finding in done.diagnostics]
    if done.status == "converted":
        assert done.text is not None
        ast.parse(done.text)
    else:
        assert codes(ODD[name])
