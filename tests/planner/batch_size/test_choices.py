"""Batch sizes that a branch, a flag or another file chooses: in each case the host loads N times as many examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from tests.scripts import MODEL, STEP, codes, converted, run

IMPORTS = "import argparse\nimport json\nimport os\nimport sys\nimport tensorflow as tf\n\n"
PARSER = IMPORTS + "parser = argparse.ArgumentParser()\n"
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
    return [line for line in kept if not line.startswith(("parser", "(X, Y)", "X_batch", "X, Y", "flags", "# "))]


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
        ("batch_size = int(sys.argv[1])\n", "batch_size = int(sys.argv[1]) * num_gpus"),
        ("batch_size = int(os.environ['BATCH'])\n", "batch_size = int(os.environ['BATCH']) * num_gpus"),
        (
            "batch_size = int(os.environ.get('BATCH', 64))\n",
            "batch_size = int(os.environ.get('BATCH', 64)) * num_gpus",
        ),
        (
            "batch_size = int(os.getenv('BATCH') or 64)\n",
            "batch_size = int(os.getenv('BATCH') or 64) * num_gpus",
        ),
        (
            "batch_size = vars(args)['batch_size']\n",
            "batch_size = vars(args)['batch_size'] and vars(args)['batch_size'] * num_gpus",
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
        "if args.small:\n    setattr(args, 'batch_size', 16)\n",
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
    lines = "if args.small:\n    setattr(args, 'batch_size', 1)\n"
    assert codes(PARSER + FLAG.format(", default=64") + SWITCH + PARSE + lines + OF_ARGS) == ["TMG279"]


RATE = "rate = tf.train.exponential_decay(0.01, global_step * {size}, 1000, 0.9)\n"


@pytest.mark.parametrize(
    ("lines", "size", "made"),
    [
        (
            "TEST, TRAIN = 32, 64\nbatch_size = TEST if args.small else TRAIN\n",
            "TRAIN",
            "TEST, TRAIN = 32 * num_gpus, 64 * num_gpus",
        ),
        (
            "batch_size = args.test_batch_size if args.small else args.batch_size\n",
            "args.batch_size",
            "1000, 0.9".join(["global_step * (args.batch_size * num_gpus), ", ")"]),
        ),
    ],
    ids=["names", "flags"],
)
def test_numbers_of_other_places_are_scaled_for_all_that_read_them(lines: str, size: str, made: str) -> None:
    flags = FLAG.format(", default=64") + FLAG.format(", default=32").replace("batch", "test_batch")
    text = converted(
        PARSER + flags + SWITCH + PARSE + lines + "global_step = tf.Variable(0)\n" + RATE.format(size=size) + TRAINING
    )
    assert made in text


@pytest.mark.parametrize(
    "lines",
    [
        "configs = {'s': {'batch_size': 32}, 'm': {'batch_size': 64}}\nbatch_size = configs[args.kind]['batch_size']\n",
        "sizes = {'s': 32, 'm': 64}\nbatch_size = sizes[args.kind]\n",
        "batch_size = {'s': 32}.get(args.kind, 64)\n",
        "batch_size = [64, 32][args.small]\n",
        "batch_size, rate = (32, .1) if args.small else (64, .01)\n",
        "class Large(object):\n    size = 64\n\n\nclass Small(object):\n    size = 32\n\n\n"
        "batch_size = {'s': Small, 'm': Large}[args.kind].size\n",
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


@pytest.mark.parametrize(
    "lines",
    [
        "sizes = {'train': 64, 'write': 1}\nbatch_size = sizes[args.kind]\n",  # a single example stays one
        "batch_size = len(os.listdir(os.environ['DATA']))\n",  # it is counted, and not what the user says
    ],
)
def test_other_numbers_are_left_with_a_warning(lines: str) -> None:
    text = PARSER + "parser.add_argument('--kind', default='train')\n" + PARSE + lines + TRAINING
    assert [code for code in codes(text) if code != "TMG304"] == ["TMG303"][: "sizes" in lines]
    assert lines in converted(text)


def test_the_dict_of_the_arguments_is_read_and_set_as_they_are() -> None:
    lines = "config = vars(args)\nif args.small:\n    config['batch_size'] = 16\nbatch_size = config['batch_size']\n"
    text = converted(PARSER + FLAG.format(", default=64") + SWITCH + PARSE + lines + TRAINING)
    assert "    config['batch_size'] = 16\n" in text
    assert "batch_size = config['batch_size'] * num_gpus\n" in text


BODY = "".join(f"    {line}\n" for line in TRAINING.splitlines()) + "\n\n"


@pytest.mark.parametrize("given", ["vars(args)", "args.__dict__", "dict(vars(args))", "json.load(open('c.json'))"])
@pytest.mark.parametrize("parameters", ["batch_size", "batch_size=32", "rate=.1, batch_size=32"])
def test_what_a_dict_of_settings_hands_over_is_scaled_in_the_function(given: str, parameters: str) -> None:
    text = PARSER + f"def train({parameters}):\n" + BODY + FLAG.format(", default=64") + PARSE + f"train(**{given})\n"
    assert codes(text) == ["TMG305"] and "hand over the batch size of one GPU" in run(text).diagnostics[0].message
    assert "    batch_size *= num_gpus\n" in converted(text)
    assert f"def train({parameters}):" in converted(text)  # the default was scaled before, which no run read


def test_settings_without_a_batch_size_leave_the_default() -> None:  # a near miss
    flag = "parser.add_argument('--rate', type=float, default=.1)\n"
    text = PARSER + "def train(rate, batch_size=32):\n" + BODY + flag + PARSE + "train(**vars(args))\n"
    assert "def train(rate, batch_size=32 * num_gpus):" in converted(text)


def test_a_function_that_takes_any_settings() -> None:
    lines = ("def train(**kwargs):\n" + BODY).replace("(batch_size)", "(kwargs['batch_size'])")
    text = converted(PARSER + lines + FLAG.format(", default=64") + PARSE + "train(**vars(args))\n")
    assert "next_batch(kwargs['batch_size'] * num_gpus)" in text


def test_a_function_that_is_called_in_both_ways_keeps_its_size() -> None:
    lines = "def train(batch_size):\n" + BODY + FLAG.format(", default=64") + PARSE
    calls = "if args.small:\n    train(16)\nelse:\n    train(**vars(args))\n"
    text = PARSER + SWITCH + lines + calls
    assert "TMG303" in codes(text)
    assert "batch_size *= num_gpus" not in converted(text) and "train(16)" in converted(text)


@pytest.mark.parametrize(
    ("use", "line"),
    [
        ("train(**vars(args))", "num_gpus = vars(args).pop('num_gpus')"),
        ("for name, value in sorted(vars(args).items()):\n    print(name)", "num_gpus = vars(args).pop('num_gpus')"),
        ("print(args.__dict__)", "num_gpus = vars(args).pop('num_gpus')"),
        ("print(args)", "num_gpus = args.num_gpus"),  # a near miss
    ],
)
def test_the_number_of_gpus_is_taken_out_of_arguments_that_are_listed(use: str, line: str) -> None:
    """A function that is given all arguments knows no num_gpus."""
    lines = "def train(batch_size):\n" + BODY + FLAG.format(", default=64") + PARSE + use
    call = "" if "train" in use else "\ntrain(args.batch_size)"
    assert line in converted(PARSER + lines + call + "\n").splitlines()


@pytest.mark.parametrize("test", ["args is None", "not args", "args == None"])
def test_the_number_of_gpus_is_read_behind_a_check_for_no_arguments(test: str) -> None:
    """`parse_args` of a script's own may return None, and the script ends without an error."""
    guard = f"if {test}:\n    exit()\n"
    lines = "def train(batch_size):\n" + BODY + FLAG.format(", default=64") + PARSE
    text = converted(PARSER + lines + guard + "train(args.batch_size)\n")
    assert text.index(guard) < text.index("num_gpus = args.num_gpus") < text.index("train(args.batch_size")
    other = "if args.verbose:\n    print(args.batch_size)\n"  # a near miss
    text = converted(PARSER + lines + other + "train(args.batch_size)\n")
    assert text.index("num_gpus = args.num_gpus") < text.index("if args.verbose")


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
    assert [(d.code, "not found" in d.message) for d in made.diagnostics] == [("TMG351", False), ("TMG303", True)]


@pytest.mark.parametrize(
    "line",
    [
        "for key, value in vars(args).items():\n    settings[key] = value\n",
        "settings.update(vars(args))\n",
        "settings.update(json.load(open('c.json')))\n",
    ],
)
def test_settings_that_anything_may_replace_are_scaled_where_they_are_read(line: str) -> None:
    settings = "settings = {'batch_size': 64, 'rate': 0.1}\n"
    text = PARSER + FLAG.format("") + PARSE + settings + line + "batch_size = settings['batch_size']\n" + TRAINING
    assert codes(text) == []
    made = sizes(text)
    assert settings.strip() in made and made[-2].endswith("settings['batch_size'] * num_gpus")


def test_settings_of_which_another_is_replaced_are_scaled() -> None:  # a near miss
    lines = "settings = {'batch_size': 64, 'rate': 0.1}\nsettings['rate'] = 0.2\nbatch_size = settings['batch_size']\n"
    assert "'batch_size': 64 * num_gpus" in converted(PARSER + PARSE + lines + TRAINING)


SETTINGS = "settings = {'batch_size': 64, 'rate': 0.1}\n"
CONFIG = "class Config(object):\n    batch_size = 64\n\n\nconfig = Config()\n"
HPARAMS = "hparams = tf.contrib.training.HParams(batch_size=64)\n"


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (SETTINGS + "settings = {**settings, **json.load(open('c.json'))}\n", "settings['batch_size']"),
        (SETTINGS + "settings = dict(settings, **json.load(open('c.json')))\n", "settings['batch_size']"),
        (CONFIG + "config.__dict__.update(json.load(open('c.json')))\n", "config.batch_size"),
        (CONFIG + "for k, v in json.load(open('c.json')).items():\n    setattr(config, k, v)\n", "config.batch_size"),
        (CONFIG + "parser.parse_args(namespace=config)\n", "config.batch_size"),
        (HPARAMS + "hparams.parse(os.environ['HPARAMS'])\n", "hparams.batch_size"),
        (HPARAMS + "hparams.override_from_dict(json.load(open('c.json')))\n", "hparams.batch_size"),
        ("config = argparse.Namespace(**json.load(open('c.json')))\n", "config.batch_size"),
    ],
)
def test_a_default_that_is_replaced_is_scaled_where_it_is_read(lines: str, read: str) -> None:
    text = converted(PARSER + PARSE + lines + TRAINING.replace("(batch_size)", f"({read})"))
    assert lines in text and f"next_batch({read} * num_gpus)" in text


@pytest.mark.parametrize("call", ["set_hparam('batch_size', 32)", "override_from_dict({'batch_size': 32})"])
def test_a_default_that_is_replaced_by_a_number_is_scaled_there(call: str) -> None:  # a near miss
    text = converted(IMPORTS + HPARAMS + f"hparams.{call}\n" + TRAINING.replace("(batch_size)", "(hparams.batch_size)"))
    assert f"hparams.{call.replace('32', '32 * num_gpus')}" in text and HPARAMS in text


@pytest.mark.parametrize("line", ["if args.small:\n    settings['batch_size'] = 4\n", "settings['batch_size'] *= 2\n"])
def test_a_setting_from_outside_that_a_number_may_replace_keeps_the_total(line: str) -> None:
    lines = SETTINGS + "settings.update(json.load(open('c.json')))\n" + line
    text = PARSER + SWITCH + PARSE + lines + TRAINING.replace("(batch_size)", "(settings['batch_size'])")
    assert codes(text) == ["TMG303"]


def test_the_default_of_a_flag_is_scaled_once() -> None:
    flag = FLAG.format(", default=json.load(open('c.json'))['batch_size']")
    text = converted(PARSER + flag + PARSE + OF_ARGS)
    assert flag in text and "next_batch(args.batch_size * num_gpus)" in text


def test_a_setting_read_before_the_arguments_are_parsed_knows_no_flag() -> None:
    line = "batch_size = json.load(open('c.json'))['batch_size']\n"
    early = converted(IMPORTS + line + PARSER.replace(IMPORTS, "") + SWITCH + PARSE + TRAINING)
    assert "--num_gpus" not in early and line.replace("\n", " * num_gpus\n") in early
    assert "--num_gpus" in converted(PARSER + SWITCH + PARSE + line + TRAINING)  # a near miss


def test_the_same_variable_of_the_environment_is_one_number() -> None:
    size = "int(os.environ['BATCH'])"
    loop = f"    for i in range(0, 640, {size}):\n"
    loop += f"        sess.run(train_op, {{X: xs[i:i + {size}], Y: ys[i:i + {size}]}})\n"
    text = converted(IMPORTS + "xs = ys = load()\n" + GRAPH[: GRAPH.index("    for step")] + loop)
    assert "range(0, 640, global_batch_size)" in text and "xs[i:i + global_batch_size]" in text


def test_numbers_of_try_and_except_are_both_scaled() -> None:
    lines = "try:\n    batch_size = int(sys.argv[1])\nexcept IndexError:\n    batch_size = 64\n"
    text = converted(IMPORTS + lines + TRAINING)
    assert "int(sys.argv[1]) * num_gpus" in text and "batch_size = 64 * num_gpus" in text


@pytest.mark.parametrize(("decorator", "warned"), [("gin.configurable", True), ("functools.lru_cache", False)])
def test_a_decorator_that_is_not_followed_may_give_the_batch_size(decorator: str, warned: bool) -> None:
    body = "".join(f"    {line}\n" for line in TRAINING.splitlines())
    text = f"import gin\nimport functools\nimport tensorflow as tf\n\n\n@{decorator}\ndef train(batch_size=64):\n"
    text += body + "\n\ntrain()\n"
    assert codes(text) == (["TMG305"] if warned else [])
    assert not warned or "hand over the batch size of one GPU" in run(text).diagnostics[0].message
    assert ("batch_size *= num_gpus" in converted(text)) is warned


LARGE = PARSER + FLAG.format(", default=64") + SWITCH + PARSE


def test_a_condition_that_sets_the_flag_again_asks_for_the_size_of_one_tower() -> None:
    again = "if args.batch_size > 100:\n    args.batch_size = 100\n"
    text = converted(LARGE + again + OF_ARGS)
    assert again in text and "next_batch(args.batch_size * num_gpus)" in text


def test_a_name_is_compared_with_a_number_of_all_towers() -> None:
    again = "batch_size = args.batch_size\nif batch_size > 100:\n    batch_size = 100\n"
    assert sizes(LARGE + again + TRAINING) == [
        "batch_size = args.batch_size * num_gpus",
        "if batch_size > (100 * num_gpus):",
        "batch_size = 100 * num_gpus",
        "xs, ys = next_batch(batch_size)",
    ]


@pytest.mark.parametrize("test", ["len(rows) < 100", "args.small", "batch_size > len(rows)"])
def test_conditions_on_other_numbers_stay(test: str) -> None:
    again = f"rows = open('rows.txt').readlines()\nbatch_size = args.batch_size\nif {test}:\n    batch_size = 8\n"
    assert f"\nif {test}:\n    batch_size = 8 * num_gpus\n" in converted(LARGE + again + TRAINING)
