"""Scripts that show themselves fewer GPUs than there are towers."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, body, codes, converted, run

ENVIRON = "os.environ['CUDA_VISIBLE_DEVICES'] = "


def with_config(lines: str) -> str:
    session = TRAINING.replace("tf.Session()", "tf.Session(config=config)")
    return INPUTS + MODEL + STEP + "config = tf.ConfigProto()\n" + lines + session


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (ENVIRON + "'0'", ENVIRON + "'0,1'"),
        ('os.environ["CUDA_VISIBLE_DEVICES"] = "0"', 'os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"'),
        ("os.environ.setdefault('CUDA_VISIBLE_DEVICES', '0')", "os.environ.setdefault('CUDA_VISIBLE_DEVICES', '0,1')"),
        ("os.environ.update({'CUDA_VISIBLE_DEVICES': '0'})", "os.environ.update({'CUDA_VISIBLE_DEVICES': '0,1'})"),
        (ENVIRON + "'0,1'", ENVIRON + "'0,1'"),
        (ENVIRON + "'2,5'", ENVIRON + "'2,5'"),  # as many as there are towers
        (ENVIRON + "'0,1,2,3'", ENVIRON + "'0,1,2,3'"),
        ("os.environ['OTHER_DEVICES'] = '3'", "os.environ['OTHER_DEVICES'] = '3'"),
    ],
)
def test_the_environment(given: str, made: str) -> None:
    script = f"import os\n{given}\n" + SCRIPT
    assert made in converted(script).splitlines() and codes(script) == (["TMG332"] if made != given else [])


@pytest.mark.parametrize("given", ["''", "'-1'"])
def test_towers_on_the_cpu_are_told(given: str) -> None:
    script = f"import os\n{ENVIRON}{given}\n" + SCRIPT
    assert f"{ENVIRON}{given}" in converted(script) and codes(script) == ["TMG330"]
    chosen = f"import os\nimport sys\nif '--cpu' in sys.argv:\n    {ENVIRON}{given}\n" + SCRIPT
    assert codes(chosen) == []


BY_FLAG = "import argparse\nimport os\nparser = argparse.ArgumentParser()\nparser.add_argument('--gpu', {told})\n"
SET = "args = parser.parse_args()\nos.environ['CUDA_VISIBLE_DEVICES'] = args.gpu\n"


def test_the_default_of_a_flag_names_the_first_gpus() -> None:
    script = BY_FLAG.format(told="default='0'") + SET + SCRIPT
    assert "parser.add_argument('--gpu', default='0,1')" in converted(script) and codes(script) == ["TMG332"]
    assert "args.gpu\n" in converted(script)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("default='0,1'", []),
        ("default=''", []),
        ("required=True", ["TMG330"]),
        ("default=pick()", ["TMG330"]),
        ("type=int, default=0", ["TMG330"]),
        ("default='0', choices=['0', '1']", ["TMG330"]),
    ],
)
def test_other_flags_for_gpus_stay(told: str, said: list[str]) -> None:
    script = BY_FLAG.format(told=told) + SET + SCRIPT
    assert f"parser.add_argument('--gpu', {told})" in converted(script) and codes(script) == said


def test_helpers_stand_below_tensorflow() -> None:
    text = converted(f"import os\n{ENVIRON}'0'\n" + SCRIPT)
    assert text.index("import tensorflow") < text.index("def shard(")


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (
            "config.gpu_options.visible_device_list = '0'",
            "config.gpu_options.visible_device_list = ','.join(str(gpu) for gpu in range(num_gpus))",
        ),
        ("config.device_count['GPU'] = 1", "config.device_count['GPU'] = num_gpus"),
        ("config.device_count['GPU'] = count()", "config.device_count['GPU'] = num_gpus if count() else 0"),
        ("config.device_count['GPU'] = 0 if cpu else 1",
         "config.device_count['GPU'] = num_gpus if (0 if cpu else 1) else 0"),
        ("config.device_count['GPU'] = gpus - 1", "config.device_count['GPU'] = num_gpus if (gpus - 1) else 0"),
        ("config.device_count['GPU'] = 4", "config.device_count['GPU'] = 4"),
        ("config.device_count['GPU'] = 0", "config.device_count['GPU'] = 0"),
        ("config.device_count['CPU'] = 1", "config.device_count['CPU'] = 1"),
        ("config.gpu_options.visible_device_list = '1,2'", "config.gpu_options.visible_device_list = '1,2'"),
    ],
)  # fmt: skip
def test_the_config(given: str, made: str) -> None:
    assert made in body(with_config(given + "\n"))
    assert run(with_config(given + "\n")).unread == ()


def test_a_config_in_one_call() -> None:
    config = "tf.ConfigProto(device_count={'GPU': 1}, gpu_options=tf.GPUOptions(visible_device_list='0'))"
    lines = body(SCRIPT.replace("tf.Session()", f"tf.Session(config={config})"))
    made = "device_count={'GPU': num_gpus}, gpu_options=tf.GPUOptions(visible_device_list="
    written = "".join(line.strip() for line in lines).replace(",gpu_options", ", gpu_options")
    assert made + "','.join(str(gpu) for gpu in range(num_gpus))" in written


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("count = {'GPU': 1}", "count = {'GPU': num_gpus}"),
        ("count = {'GPU': 0} if on_cpu else {'GPU': 1}", "count = {'GPU': 0} if on_cpu else {'GPU': num_gpus}"),
        ("count = {'CPU': 2}; count['GPU'] = 1", "count = {'CPU': 2}; count['GPU'] = num_gpus"),
        ("count = dict(GPU=1)", "count = dict(GPU=num_gpus)"),
        ("count = {'GPU': 8}", "count = {'GPU': 8}"),
        ("count = {'CPU': 1}", "count = {'CPU': 1}"),
        ("count = counted(), {'GPU': 1}", "count = counted(), {'GPU': 1}"),
    ],
)  # fmt: skip
def test_a_count_that_has_a_name(given: str, made: str) -> None:
    session = f"{given}\nwith tf.Session(config=tf.ConfigProto(device_count=count))"
    assert made in body(SCRIPT.replace("with tf.Session()", session))


def test_a_count_of_two_sessions_is_written_once() -> None:
    session = "with tf.Session(config=tf.ConfigProto(device_count=count))"
    more = f"\n{session} as other:\n    other.run(tf.global_variables_initializer())\n"
    lines = body(SCRIPT.replace("with tf.Session()", f"count = {{'GPU': 1}}\n{session}") + more)
    assert [line for line in lines if "count = " in line] == ["count = {'GPU': num_gpus}"]


def test_another_dict_of_that_name_stays() -> None:
    other = "def counts():\n    count = {'GPU': 1}\n    return count\n\n"
    session = "count = {'CPU': 2}\nwith tf.Session(config=tf.ConfigProto(device_count=count))"
    assert other in converted(other + SCRIPT.replace("with tf.Session()", session))


@pytest.mark.parametrize("gpus", ["str(gpu)", "'4,5,6'[:1]"])
def test_a_computed_list_is_refused(gpus: str) -> None:
    assert codes(with_config(f"config.gpu_options.visible_device_list = {gpus}\n")) == ["TMG264"]


def test_the_name_of_a_constant_gives_way_to_the_first_ones() -> None:
    text = "GPU = '1'\n" + with_config("config.gpu_options.visible_device_list = GPU\n")
    assert codes(text) == ["TMG332"]
    made = converted(text)
    assert "GPU = '1'\n" in made and "visible_device_list = ','.join(str(gpu) for gpu in range(num_gpus))" in made


@pytest.mark.parametrize(
    ("named", "said"), [("'1,2'", []), ("'1' if flag() else '0'", ["TMG264"]), ("pick()", ["TMG264"])]
)
def test_other_names_of_gpus_stay_or_are_refused(named: str, said: list[str]) -> None:
    text = f"GPU = {named}\n" + with_config("config.gpu_options.visible_device_list = GPU\n")
    assert codes(text) == said


@pytest.mark.parametrize("gpus", ["'3'", "'1'"])
def test_another_gpu_gives_way_to_the_first_ones(gpus: str) -> None:
    text = with_config(f"config.gpu_options.visible_device_list = {gpus}\n")
    assert codes(text) == ["TMG332"]
    assert "visible_device_list = ','.join(str(gpu) for gpu in range(num_gpus))" in converted(text)


def test_another_gpu_of_the_environment_gives_way_to_the_first_ones() -> None:
    text = f"import os\n{ENVIRON}'3'\n" + SCRIPT
    (said,) = run(text).diagnostics
    assert said.code == "TMG332" and "named fewer GPUs ('3') than there are towers" in said.message
    assert f"{ENVIRON}'0,1'\n" in converted(text)
    assert codes(text, num_gpus=1) == [] and f"{ENVIRON}'3'\n" in converted(text, num_gpus=1)


@pytest.mark.parametrize("value", ["args.gpu", "str(gpu)", "','.join(map(str, gpus))"])
def test_a_computed_one_is_warned_of(value: str) -> None:
    assert codes(f"import os\n{ENVIRON}{value}\n" + SCRIPT) == ["TMG330"]


FREEST = [
    "os.system('nvidia-smi -q -d Memory | grep -A4 GPU | grep Free > free')\n"
    "free = [int(line.split()[2]) for line in open('free')]\n",
    "import subprocess\nasked = ['nvidia-smi', '--query-gpu=memory.free', '--format=csv,nounits,noheader']\n"
    "free = [int(line) for line in subprocess.check_output(asked).decode().split()]\n",
    "asked = os.popen('nvidia-smi --query-gpu=memory.free --format=csv,noheader')\n"
    "free = [int(line) for line in asked.read().split()]\n",
]


@pytest.mark.parametrize("asked", FREEST)
@pytest.mark.parametrize("num_gpus", [2, None])
def test_the_gpu_with_most_free_memory_is_warned_of(asked: str, num_gpus: int | None) -> None:
    """Such a script shows itself one GPU: that must not stay without a word."""
    head = f"import os\nimport numpy\n{asked}"
    assert codes(f"{head}{ENVIRON}str(numpy.argmax(free))\n" + SCRIPT, num_gpus=num_gpus) == ["TMG330"]
    config = with_config("config.gpu_options.visible_device_list = str(numpy.argmax(free))\n")
    assert codes(head + config, num_gpus=num_gpus) == ["TMG264" if num_gpus else "TMG330"]


def test_counted_towers_are_as_many_as_are_shown() -> None:
    script = f"import os\n{ENVIRON}'0'\n" + SCRIPT
    assert codes(script, num_gpus=None) == ["TMG330"] and ENVIRON + "'0'" in converted(script, num_gpus=None)


def test_the_check_can_be_left_out() -> None:
    assert "os.environ.get('FEWER_GPUS')" in converted(SCRIPT)
    assert "check_gpus" in converted(SCRIPT) and "check_gpus" not in converted(SCRIPT, fewer_gpus="allow")


FLAGS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--{name}', type=int, default=1)
args = parser.parse_args()
"""


@pytest.mark.parametrize("name", ["num_gpus", "ngpu", "gpu_num"])
def test_a_flag_of_the_scripts_own_is_warned_of(name: str) -> None:
    script = FLAGS.format(name=name) + SCRIPT
    assert codes(script) == ["TMG334"]
    assert "num_gpus = 2" in converted(script) or "num_gpus_1 = 2" in converted(script)


@pytest.mark.parametrize("name", ["gpu", "gpu_id", "num_cpus", "gpu_memory"])
def test_other_flags_are_not(name: str) -> None:
    assert codes(FLAGS.format(name=name) + SCRIPT) == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("type=str, default='0'", ["TMG330"]),
        ("default='0,1'", ["TMG330"]),
        ("type=int, default=0", ["TMG330", "TMG334"]),
    ],
)
def test_a_flag_that_names_gpus_counts_none(kind: str, expected: list[str]) -> None:
    flag = FLAGS.format(name="gpus").replace("type=int, default=1", kind)
    shown = "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = str(args.gpus)\n"
    assert sorted(codes(flag + shown + SCRIPT)) == expected


FLAG = "tf.app.flags.DEFINE_string('gpu', {}, 'which GPU')\n"
LISTED = "config.gpu_options.visible_device_list = tf.app.flags.FLAGS.gpu\n"


def with_flag(default: str, config: str = LISTED) -> str:
    head, line, rest = with_config(config).partition("import tensorflow as tf\n")
    return head + line + FLAG.format(default) + rest


@pytest.mark.parametrize(
    ("default", "made"), [("'0'", "'0,1'"), ('"0"', '"0,1"'), ("'3'", "'0,1'"), ("'0,1'", "'0,1'")]
)
def test_a_flag_for_the_list_has_the_first_gpus_for_its_default(default: str, made: str) -> None:
    text = with_flag(default, LISTED + LISTED)
    assert codes(text) == (["TMG332"] if default != made else [])
    assert FLAG.format(made) in converted(text) and LISTED in converted(text)


@pytest.mark.parametrize("default", ["None", "first()", "1"])
def test_a_flag_without_names_by_default_is_refused(default: str) -> None:
    assert codes(with_flag(default)) == ["TMG264"]
