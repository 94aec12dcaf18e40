"""Batch sizes that a branch, a flag or another file chooses: in each case the host loads N times as many examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from tests.scripts import MODEL, STEP, codes, converted, run

PARSER = "import argparse\nimport json\nimport sys\nimport tensorflow as tf\n\nparser = argparse.ArgumentParser()\n"
FLAG = "parser.add_argument('--batch_size', type=int{})\n"
SWITCH = "parser.add_argument('--small', action='store_true')\n"
PARSE = "args = parser.parse_args()\n"
GRAPH = (
    "X = tf.placeholder(tf.float32, [None, 4])\nY = tf.placeholder(tf.float32, [None, 1])\n"
    + MODEL
    + STEP
    + "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n    for step in range(100):\n"
)
TRAINING = GRAPH + "        xs, ys = next_batch(batch_size)\n        sess.run(train_op, {X: xs, Y: ys})\n"
OF_ARGS = TRAINING.replace("(batch_size)", "(args.batch_size)")


def sizes(text: str) -> list[str]:
    """The lines of a conversion between the parsed arguments and the model that name a batch size."""
    return named(converted(text))


def named(text: str) -> list[str]:
    begin, end = text.index("end of helpers"), text.rindex("sess.run")
    kept = [line.strip() for line in text[begin:end].splitlines() if "batch" in line]
    return [line for line in kept if not line.startswith(("parser", "(X, Y)", "X_batch", "X, Y", "flags"))]


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        ("batch_size = 64 if args.small else 32\n", "batch_size = (64 if args.small else 32) * num_gpus"),
        ("batch_size = args.batch_size or 64\n", "batch_size = (args.batch_size or 64) * num_gpus"),
        (
            "batch_size = args.batch_size if args.batch_size is not None else 64\n",
            "batch_size = (args.batch_size if args.batch_size is not None else 64) * num_gpus",
        ),
        (
            "batch_size = int(sys.argv[1]) if len(sys.argv) > 1 else 64\n",
            "batch_size = (int(sys.argv[1]) if len(sys.argv) > 1 else 64) * num_gpus",
        ),
    ],
)
def test_one_of_several_sizes_is_scaled_as_a_whole(lines: str, made: str) -> None:
    assert sizes(PARSER + FLAG.format("") + SWITCH + PARSE + lines + TRAINING)[0] == made


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        (
            "batch_size = 64\nif args.batch_size:\n    batch_size = args.batch_size\n",
            ["batch_size = 64 * num_gpus", "if args.batch_size:"],
        ),
        (
            "batch_size = args.batch_size\nif batch_size is None:\n    batch_size = 64\n",
            ["batch_size = args.batch_size and args.batch_size * num_gpus", "if batch_size is None:"],
        ),
    ],
)
def test_a_flag_that_may_be_none_is_not_multiplied(lines: str, made: list[str]) -> None:
    assert sizes(PARSER + FLAG.format("") + PARSE + lines + TRAINING)[:2] == made


def test_a_flag_with_a_default_is_multiplied_as_before() -> None:  # a near miss
    lines = sizes(PARSER + FLAG.format(", default=64") + PARSE + "batch_size = args.batch_size\n" + TRAINING)
    assert lines[0] == "batch_size = args.batch_size * num_gpus"


@pytest.mark.parametrize(
    "lines",
    [
        "if args.batch_size is None:\n    args.batch_size = 64\n",
        "if args.small:\n    args.batch_size = 16\n",
        "if args.small:\n    args.batch_size //= 2\n",
        "args.batch_size *= 2\n",
    ],
)
def test_a_setting_that_is_set_again_stays_the_size_of_one_tower(lines: str) -> None:
    text = converted(PARSER + FLAG.format(", default=64") + SWITCH + PARSE + lines + OF_ARGS)
    assert lines in text
    assert "xs, ys = next_batch(args.batch_size * num_gpus)" in text


def test_a_setting_that_is_always_set_is_scaled_there() -> None:  # a near miss
    text = converted(PARSER + FLAG.format(", default=64") + PARSE + "args.batch_size = 32\n" + OF_ARGS)
    assert "args.batch_size = 32 * num_gpus" in text
    assert "next_batch(args.batch_size)" in text


def test_a_branch_that_works_on_single_examples_is_refused() -> None:
    lines = "if args.small:\n    args.batch_size = 1\n"
    assert codes(PARSER + FLAG.format(", default=64") + SWITCH + PARSE + lines + OF_ARGS) == ["TMG279"]


@pytest.mark.parametrize(
    "lines",
    [
        "configs = {'s': {'batch_size': 32}, 'm': {'batch_size': 64}}\nbatch_size = configs[args.kind]['batch_size']\n",
        "if args.small:\n    settings = {'batch': 32}\nelse:\n    settings = {'batch': 64}\n"
        "batch_size = settings['batch']\n",
        "class Large(object):\n    batch_size = 64\n\n\nclass Small(Large):\n    batch_size = 32\n\n\n"
        "config = Small() if args.small else Large()\nbatch_size = config.batch_size\n",
        "batch_size = 64\n\n\ndef shrink():\n    global batch_size\n    batch_size = 32\n\n\n"
        "def main():\n    if args.small:\n        shrink()\n\n\nmain()\n",
    ],
)
def test_each_size_that_may_be_chosen_is_scaled(lines: str) -> None:
    text = converted(PARSER + SWITCH + "parser.add_argument('--kind', default='s')\n" + PARSE + lines + TRAINING)
    assert "32 * num_gpus" in text
    assert "64 * num_gpus" in text


def test_another_number_of_the_chosen_settings_stays() -> None:  # a near miss
    lines = (
        "configs = {'s': {'units': 3, 'batch_size': 32}, 'm': {'units': 5, 'batch_size': 64}}\n"
        "config = configs[args.kind]\nbatch_size = config['batch_size']\nprint(config['units'])\n"
    )
    text = converted(PARSER + "parser.add_argument('--kind', default='s')\n" + PARSE + lines + TRAINING)
    assert "{'units': 3, 'batch_size': 32 * num_gpus}" in text
    assert "{'units': 5, 'batch_size': 64 * num_gpus}" in text


def test_what_a_script_sets_in_a_module_is_what_all_files_read(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text("batch_size = 64\nunits = 3\n")
    script = tmp_path / "train.py"
    text = "import tensorflow as tf\nimport conf\n\nconf.batch_size = 32\n" + TRAINING
    script.write_text(text.replace("(batch_size)", "(conf.batch_size)"))
    conversion = convert(read(str(script)), Options(), several=True)
    assert conversion.status == "converted", conversion.diagnostics
    assert not [part for part in conversion.parts if part.path.endswith("conf.py")]
    assert "conf.batch_size = 32 * num_gpus" in conversion.text


def test_towers_set_the_size_that_another_module_reads(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text("batch_size = 64\n")
    (tmp_path / "model.py").write_text(
        "import tensorflow as tf\nimport conf\n\n\ndef build(x):\n"
        "    return tf.layers.dense(tf.reshape(x, [conf.batch_size, -1]), 1)\n"
    )
    script = tmp_path / "train.py"
    text = "import tensorflow as tf\nimport conf\nimport model\n\n" + TRAINING
    text = text.replace("[None, 4]", "[conf.batch_size, 4]").replace("[None, 1]", "[conf.batch_size, 1]")
    text = text.replace("(batch_size)", "(conf.batch_size)").replace("tf.layers.dense(X, 1)", "model.build(X)")
    script.write_text(text)
    conversion = convert(read(str(script)), Options(), several=True)
    assert conversion.status == "converted", conversion.diagnostics  # refused by the second reading before (TMG290)
    assert "conf.batch_size = shard_size(global_batch_size, gpu)" in conversion.text


def test_slices_of_a_size_that_is_not_known_are_no_whole_data_set() -> None:
    loop = (
        "\n\nclass Model(object):\n    def __init__(self, **kwargs):\n        self.size = kwargs['batch_size']\n\n"
        "    def train(self, sess, data):\n        for i in range(len(data) // self.size):\n"
        "            rows = data[i * self.size:(i + 1) * self.size]\n"
        "            sess.run(train_op, {X: rows, Y: rows})\n"
    )
    text = GRAPH[: GRAPH.index("with tf.Session")]
    made = run("import tensorflow as tf\n\n" + text + loop)
    assert [(d.code, "not found" in d.message) for d in made.diagnostics] == [("TMG303", True)]


@pytest.mark.parametrize(
    "line",
    [
        "for key, value in vars(args).items():\n    settings[key] = value\n",
        "settings.update(vars(args))\n",
        "settings.update(json.load(open('c.json')))\n",
    ],
)
def test_settings_that_anything_may_replace_are_not_scaled_in_part(line: str) -> None:
    lines = "settings = {'batch_size': 64, 'rate': 0.1}\n" + line + "batch_size = settings['batch_size']\n"
    text = PARSER + FLAG.format("") + PARSE + lines + TRAINING
    assert codes(text) == ["TMG303"]
    assert "64 * num_gpus" not in converted(text)


def test_settings_of_which_another_is_replaced_are_scaled() -> None:  # a near miss
    lines = "settings = {'batch_size': 64, 'rate': 0.1}\nsettings['rate'] = 0.2\nbatch_size = settings['batch_size']\n"
    assert "'batch_size': 64 * num_gpus" in converted(PARSER + PARSE + lines + TRAINING)
