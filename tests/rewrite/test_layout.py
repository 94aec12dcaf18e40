"""What a conversion does not name stays as it is, byte for byte; what it moves is only indented."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, converted, run

# What a conversion takes away from SCRIPT: the batch size, the training step, the session.
REPLACED = [
    "batch_size = 32",
    "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)",
    "with tf.Session() as sess:",
]


def lines_of(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def removed(before: str, after: str) -> list[str]:
    """Lines that a conversion did not keep, but for the blanks in front of them."""
    one, two = (Counter(line.lstrip(" \t") for line in lines_of(text)) for text in (before, after))
    return list(one - two)


def replaced(script: str, newline: str = "\n") -> str:
    """The conversion of a script with some make-up; only the usual lines are gone from it."""
    text = converted(script)
    assert [line.rstrip() for line in removed(script, text)] == REPLACED
    ast.parse(text)
    assert text.count("\n") == text.count(newline) or newline == "\r"
    return text


MAKE_UP = {
    "nothing": lambda text: text,
    "comments": lambda text: text.replace("loss =", "# the error\nloss =").replace("Y))", "Y))  # squared"),
    "comment above the model": lambda text: text.replace("prediction =", "# --- model ---\nprediction =", 1),
    "blank lines in the model": lambda text: text.replace("loss = tf", "\n\n\nloss = tf"),
    "blank lines with blanks": lambda text: text.replace("loss = tf", "   \n \nloss = tf"),
    "a comment at the end": lambda text: text + "# the end",
    "a form feed": lambda text: text.replace("loss = tf", "\x0c\nloss = tf"),
    "no newline at the end": lambda text: text.rstrip("\n"),
    "many newlines at the end": lambda text: text + "\n\n\n",
    "not ASCII": lambda text: text.replace("loss = tf", "größe = 'ä≥'  # Größe\nloss = tf"),
    "not ASCII beside a replaced line": lambda text: text.replace(
        "    sess.run(tf", "    # für später\n    sess.run(tf"
    ),
    "a docstring": lambda text: '"""Trains.\n\n    Indented: as it is.\n"""\n' + text,
    "a string over lines": lambda text: text.replace("loss = tf", "note = '''one\n  two\n'''\nloss = tf"),
    "a backslash": lambda text: text.replace("prediction - Y))", "prediction \\\n    - Y))"),
    "a call over lines": lambda text: text.replace("dense(X, 1)", "dense(\n    X,\n    1,  # one\n)"),
    "blanks in brackets": lambda text: text.replace("dense(X, 1)", "dense( X , 1 )"),
    "quotes": lambda text: text.replace("dense(X, 1)", 'dense(X, 1, name="it\'s")'),
    "blanks at the ends": lambda text: text.replace(
        "prediction = tf.layers.dense(X, 1)\n", "prediction = tf.layers.dense(X, 1)  \t\n"
    ),
    "a shebang and a cookie": lambda text: "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n" + text,
    "a future import": lambda text: "from __future__ import print_function\n" + text,
    "a nested function": lambda text: text.replace(
        "loss = tf", "def square(x):\n    # of a number\n\n    return x * x\n\n\nloss = tf"
    ),
    "a semicolon elsewhere": lambda text: text.replace("loss = tf", "a = 1; b = 2\nloss = tf"),
    "a line of dots": lambda text: text.replace("loss = tf", "# " + "." * 150 + "\nloss = tf"),
    "unicode spaces": lambda text: text.replace("loss = tf", "# \xa0\u2028\x85\nloss = tf"),
}


@pytest.mark.parametrize("name", MAKE_UP)
def test_lines_stay(name: str) -> None:
    script = MAKE_UP[name](SCRIPT)
    text = replaced(script)
    assert text.endswith("\n") == script.endswith("\n")
    assert text.count("\x0c") == script.count("\x0c")


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize("name", MAKE_UP)
def test_lines_stay_with_other_newlines(name: str, newline: str) -> None:
    script = MAKE_UP[name](SCRIPT).replace("\n", newline)
    text = converted_raw(script)
    assert [line.rstrip() for line in removed(script, text)] == REPLACED
    assert text.replace(newline, "").count("\n") == 0


def converted_raw(script: str) -> str:
    """The conversion of a script whose lines may end otherwise."""
    conversion = convert(from_bytes("train.py", script.encode()), Options(line_length=100))
    assert conversion.text is not None, conversion.diagnostics
    return conversion.text


@pytest.mark.parametrize("indent", ["\t", "  ", "        ", " "])
def test_the_scripts_indentation_is_used(indent: str) -> None:
    script = SCRIPT.replace("    ", indent)
    text = replaced(script)
    indents = {line[: len(line) - len(line.lstrip())] for line in text.splitlines() if line.strip()}
    hanging = {line for line in text.splitlines() if line.lstrip().startswith(("tf.variable_scope(", "tf.concat("))}
    found = indents - {line[: len(line) - len(line.lstrip())] for line in hanging}
    assert all(part.replace(indent, "") == "" for part in found)


def test_tabs_and_blanks_in_one_file() -> None:
    script = INPUTS + MODEL + STEP + "def f():\n\treturn 1\n\n\n" + TRAINING
    text = replaced(script)
    assert "def f():\n\treturn 1\n" in text


@pytest.mark.parametrize(
    "text",
    ["note = '''one\n  two\n\n\tthree'''\n", 'query = """\n    a\n      b\n"""\n', "path = 'a\\\nb'\n"],
)
def test_strings_over_lines_keep_their_value_in_the_loop(text: str) -> None:
    assert text in converted(INPUTS + MODEL.replace("loss =", text + "loss =") + STEP + TRAINING)


def test_a_string_in_a_moved_statement_keeps_its_value() -> None:
    model = 'prediction = tf.layers.dense(X, 1, name="""a\n  b\nc""".replace("\\n", ""))\n'
    made = converted(INPUTS + model + MODEL.splitlines()[1] + "\n" + STEP + TRAINING)
    assert '"""a\n  b\nc"""' in made


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            "prediction = tf.layers.dense(X, 1); loss = tf.reduce_mean(tf.square(prediction - Y))\n",
        ),
        "prediction = tf.layers.dense(X, 1);\nloss = tf.reduce_mean(tf.square(prediction - Y));\n",
    ],
)
def test_semicolons_in_the_model(model: str) -> None:
    text = converted(INPUTS + model + STEP + TRAINING)
    ast.parse(text)
    assert [line.strip() for line in model.splitlines()] == [
        line.strip() for line in text.splitlines() if line.strip() in model.splitlines()
    ]


def test_the_training_step_over_lines() -> None:
    step = "train_op = tf.train.GradientDescentOptimizer(\n    0.1,  # rate\n).minimize(\n    loss,\n)\n"
    text = converted(INPUTS + MODEL + step + TRAINING)
    assert "train_op = optimizer.apply_gradients(sum_gradients(tower_grads))\n" in text
    ast.parse(text)


def test_the_tools_lines_are_wrapped_and_the_scripts_are_not() -> None:
    long = "note = " + " + ".join(f"'{number:010}'" for number in range(20)) + "\n"
    inputs = INPUTS + "".join(
        f"an_input_with_a_long_name_{n} = tf.placeholder(tf.float32, [None, 1])\n" for n in range(6)
    )
    total = " + ".join(f"an_input_with_a_long_name_{n}" for n in range(6))
    model = MODEL.replace("- Y", f"- Y + {total}")
    text = converted(inputs + long + model + STEP + TRAINING, line_length=88)
    assert long in text
    scripts = {line.strip() for line in (inputs + long + model).splitlines()}
    below = text.partition("# tf-multigpu: end of helpers")[2].splitlines()
    assert [line for line in below if len(line) > 88 and line.strip() not in scripts] == []


def test_the_conversion_is_the_same_every_time() -> None:
    assert len({converted(SCRIPT) for _ in range(3)}) == 1


def test_what_would_be_lost_beside_an_edit_is_refused() -> None:
    above = run(SCRIPT.replace("batch_size = 32", "def f():\n    pass\n\fs = 1\nbatch_size = 32", 1))
    assert above.text is not None and "\n\fs = 1\n" in above.text
    beside = run(SCRIPT.replace("batch_size = 32", "\fbatch_size = 32", 1))
    assert beside.text is None and [d.code for d in beside.diagnostics] == ["TMG005"]
    assert "form feed" in beside.diagnostics[0].message


@pytest.mark.parametrize("end", ["\n\n\n    \n\n", "\n\n    # the end\n", "\n\t\n  ", "\n\n# the end"])
def test_the_end_of_a_script_stays(end: str) -> None:
    text = SCRIPT + "print('done')\n" + end
    left = converted(text).partition("print('done')")[2]
    assert [line.rstrip() for line in left.split("\n")] == [line.rstrip() for line in ("\n" + end).split("\n")]


@pytest.mark.parametrize("indent", ["", "    "])
def test_comments_in_calls_that_are_rewritten_stay(indent: str) -> None:
    lines = [
        "train_op = tf.train.AdamOptimizer(",
        "    0.01,  # tuned",
        "    # beta1=0.9,",
        "    beta2=0.99",
        ").minimize(  # of this",
        "    loss,  # the mean",
        "    name='step')  # behind",
    ]
    session = ["with tf.Session(config=tf.ConfigProto(  # quiet", "        log_device_placement=False)) as sess:"]
    script = INPUTS + MODEL + "\n".join(lines) + "\n" + "\n".join(session) + TRAINING.partition("sess:")[2]
    if indent:
        script = script.replace("batch_size =", "def main():\nbatch_size =")
        head, _, rest = script.partition("def main():\n")
        script = f"{head}def main():\n" + "".join(f"    {line}\n" for line in rest.splitlines()) + "\n\nmain()\n"
    text = converted(script)
    for comment in ("tuned", "beta1=0.9,", "of this", "the mean", "behind", "quiet"):
        assert text.count(f"# {comment}\n") == 1, comment
    made = ["optimizer = tf.train.AdamOptimizer(", "    0.01,  # tuned", "    # beta1=0.9,"]
    assert "".join(f"{indent}{line}\n" for line in made) in text


# --- Lines of the tool's own -------------------------------------------------------------------------

LONG = INPUTS + MODEL + "optimizer = tf.train.GradientDescentOptimizer(0.1)\nwith tf.name_scope('training'):\n"
CALL = "train_op = optimizer.minimize(loss, var_list=tf.trainable_variables(), name='the_step')"


def long_lines(text: str, width: int) -> list[str]:
    """Lines below the helpers that are longer than the width."""
    below = text.partition("# tf-multigpu: end of helpers")[2]
    return [line for line in below.splitlines() if len(line.expandtabs(4)) > width]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["    ", "\t", "  "])
@pytest.mark.parametrize("width", [79, 100])
def test_a_call_that_takes_an_expressions_place_fits_the_width(indent: str, newline: str, width: int) -> None:
    script = (LONG + f"    {CALL}  # one step\n" + TRAINING).replace("    ", indent).replace("\n", newline)
    source = from_bytes("train.py", script.encode())
    text = convert(source, Options(line_length=width)).text or ""
    assert long_lines(text, width) == []
    lines = text.split(newline)
    assert not any("\n" in line or "\r" in line for line in lines)
    begin = lines.index(f"{indent}train_op = optimizer.apply_gradients(")
    assert lines[begin + 1].startswith(indent + ("\t" if indent == "\t" else "    ") + "tower_gradients(")
    end = next(line for line in lines[begin:] if line.endswith("# one step"))
    assert end == f"{indent})  # one step"


@pytest.mark.parametrize(
    ("line", "width"),
    [
        (CALL, 140),  # it fits
        (f'text = f"{{{CALL[11:]}}}"', 79),  # a string takes no line ends on every Python
        (f"train_step = {CALL[11:]}.name", 79),  # of a call whose value is used at once no part is broken
    ],
)
def test_what_stays_on_one_line(line: str, width: int) -> None:
    training = "" if line == CALL else f"    {CALL}\n"
    text = converted(LONG + training + f"    {line}\n" + TRAINING, line_length=width)
    kept = next(part for part in text.splitlines() if part.startswith(f"    {line[:8]}"))
    assert kept.count("(") == kept.count(")")


def test_tabs_in_the_lines_of_the_tool() -> None:
    body_ = (INPUTS + MODEL + STEP + TRAINING).partition("\n\n")[2].replace("    ", "\t")
    script = "import tensorflow as tf\n\ndef main():\n" + "".join(f"\t{line}\n" for line in body_.splitlines())
    text = converted(script.replace("loss", "a_loss_with_a_name_that_is_long_enough_to_break_lines") + "main()\n")
    below = text.partition("# tf-multigpu: end of helpers")[2]
    added = [line for line in below.splitlines() if line.startswith((" ", "\t"))]
    assert not any(" " in line[: len(line) - len(line.lstrip())] for line in added)
    assert "\n\t\t\t\ttf.variable_scope(" in below


WEIGHTS = """\
W1 = tf.Variable(tf.ones([4, 3]))
{0}W2 = tf.Variable(tf.ones([3, 1]))
{1}loss = tf.reduce_mean(tf.square(out - Y))
"""
LAYER, OUT = "layer = tf.matmul(X, W1)\n", "out = tf.matmul(layer, W2)\n"
PLACED = "with tf.device('/cpu:0'):\n"


@pytest.mark.parametrize(
    ("first", "second", "devices"),
    [
        (LAYER, OUT, 1),
        (f"# the first layer\n{LAYER}\n# the second layer\n", OUT, 1),
        (f"{LAYER}print(W1)\n", OUT, 1),  # stays behind the layer
        (f"{LAYER}names = [W1.name]\n", OUT, 2),  # stays between the variables
        ("", LAYER + OUT, 1),
    ],
)
def test_variables_that_only_the_towers_part_have_one_device(first: str, second: str, devices: int) -> None:
    text = converted(INPUTS + WEIGHTS.format(first, second) + STEP + TRAINING)
    assert text.count(PLACED) == devices
    assert text.index("W1 = tf") < text.index("W2 = tf") < text.index("for gpu in") < text.index("layer = ")
