"""Every form of a session gets a config for several GPUs, and keeps the one it has."""

from __future__ import annotations

import ast

import pytest

from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, body, codes, converted

GRAPH = INPUTS + MODEL + STEP
SOFT = "config = tf.ConfigProto(allow_soft_placement=True)"
MADE = "config = tf.ConfigProto(allow_soft_placement=True, gpu_options=tf.GPUOptions(allow_growth=True))"
SOFTLY = "config.allow_soft_placement = True"
GROWTH = "config.gpu_options.allow_growth = True"
RUN = "sess.run(train_op, {X: xs[:batch_size], Y: ys[:batch_size]})"


def session_lines(session: str, **options: object) -> list[str]:
    """What stands in the place of a session statement, up to its first run."""
    lines = body(GRAPH + "xs, ys = load()\n" + session, **options)
    ast.parse("\n".join(lines))
    start = lines.index("xs, ys = load()") + 1
    return [line for line in lines[start:] if "sess.run" not in line]


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        ("with tf.Session() as sess:\n    " + RUN, [MADE, "with tf.Session(config=config) as sess:"]),
        ("sess = tf.Session()\n" + RUN, [MADE, "sess = tf.Session(config=config)"]),
        (
            "sess = tf.InteractiveSession()\n" + RUN,
            [MADE, "sess = tf.InteractiveSession(config=config)"],
        ),
        ("sess = tf.Session('')\n" + RUN, [MADE, "sess = tf.Session('', config=config)"]),
        ("sess = tf.Session('', None, None)\n" + RUN, [MADE, "sess = tf.Session('', None, config)"]),
        (
            "sess = tf.Session(graph=None)\n" + RUN,
            [MADE, "sess = tf.Session(graph=None, config=config)"],
        ),
        ("sess = tf.Session(config=None)\n" + RUN, [MADE, "sess = tf.Session(config=config)"]),
        (
            "sess = tf.train.MonitoredTrainingSession()\n" + RUN,
            [MADE, "sess = tf.train.MonitoredTrainingSession(config=config)"],
        ),
        *(
            (f"sess = {given}\n" + RUN, [MADE, f"sess = {wanted}"])
            for given, wanted in [
                ("tf.train.SingularMonitoredSession()", "tf.train.SingularMonitoredSession(config=config)"),
                (
                    "tf.train.MonitoredSession()",
                    "tf.train.MonitoredSession(session_creator=tf.train.ChiefSessionCreator(config=config))",
                ),
                (
                    "tf.train.MonitoredSession(None, hooks)",
                    "tf.train.MonitoredSession(tf.train.ChiefSessionCreator(config=config), hooks)",
                ),
                (
                    "tf.train.MonitoredSession(session_creator=tf.train.ChiefSessionCreator())",
                    "tf.train.MonitoredSession(session_creator=tf.train.ChiefSessionCreator(config=config))",
                ),
                (
                    "tf.train.MonitoredSession(tf.train.WorkerSessionCreator(scaffold, ''))",
                    "tf.train.MonitoredSession(tf.train.WorkerSessionCreator(scaffold, '', config=config))",
                ),
                (
                    "tf.train.Supervisor().PrepareSession()",
                    "tf.train.Supervisor().PrepareSession(config=config)",
                ),
                (
                    "tf.train.SessionManager().recover_session('', config=None)[0]",
                    "tf.train.SessionManager().recover_session('', config=config)[0]",
                ),
                (
                    "tf.train.SessionManager().wait_for_session('')",
                    "tf.train.SessionManager().wait_for_session('', config=config)",
                ),
            ]
        ),
        *(  # a config that is given by its place is completed there
            (
                f"sess = {made}tf.ConfigProto())\n" + RUN,
                ["config = tf.ConfigProto()", SOFTLY, GROWTH, f"sess = {made}config)"],
            )
            for made in [
                "tf.train.Supervisor().managed_session('', ",
                "tf.train.Supervisor().prepare_or_wait_for_session('', ",
                "tf.train.SingularMonitoredSession(None, None, '', ",
                "tf.train.MonitoredTrainingSession('', True, None, None, None, None, 600, 100, None, ",
                "tf.train.SessionManager().wait_for_session('', ",
            ]
        ),
        (
            "sess = tf.Session(config=tf.ConfigProto())\n" + RUN,
            ["config = tf.ConfigProto()", SOFTLY, GROWTH, "sess = tf.Session(config=config)"],
        ),
        (
            "sess = tf.Session(config=tf.ConfigProto(log_device_placement=True))\n" + RUN,
            [
                "config = tf.ConfigProto(log_device_placement=True)",
                SOFTLY,
                GROWTH,
                "sess = tf.Session(config=config)",
            ],
        ),
        (
            "sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))\n" + RUN,
            [SOFT, GROWTH, "sess = tf.Session(config=config)"],
        ),
        (
            "sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=False))\n" + RUN,
            [
                "config = tf.ConfigProto(allow_soft_placement=False)",
                SOFTLY,
                GROWTH,
                "sess = tf.Session(config=config)",
            ],
        ),
        (
            "config = tf.ConfigProto()\nsess = tf.Session(config=config)\n" + RUN,
            ["config = tf.ConfigProto()", SOFTLY, GROWTH, "sess = tf.Session(config=config)"],
        ),
        (
            "config = tf.ConfigProto()\nconfig.allow_soft_placement = False\nsess = tf.Session(config=config)\n" + RUN,
            [
                "config = tf.ConfigProto()",
                "config.allow_soft_placement = False",
                SOFTLY,
                GROWTH,
                "sess = tf.Session(config=config)",
            ],
        ),
        (
            "config = tf.ConfigProto()\nconfig.allow_soft_placement = True\nsess = tf.Session(config=config)\n" + RUN,
            ["config = tf.ConfigProto()", SOFTLY, GROWTH, "sess = tf.Session(config=config)"],
        ),
        pytest.param(
            "config = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
            "sess = tf.Session(config=config)\n" + RUN,
            ["config = tf.ConfigProto()", GROWTH, SOFTLY, "sess = tf.Session(config=config)"],
        ),
        pytest.param(
            "config = tf.ConfigProto(allow_soft_placement=True)\nconfig.gpu_options.allow_growth = True\n"
            "sess = tf.Session(config=config)\n" + RUN,
            [SOFT, GROWTH, "sess = tf.Session(config=config)"],
        ),
        (
            "options = tf.GPUOptions(per_process_gpu_memory_fraction=0.3)\n"
            "sess = tf.Session(config=tf.ConfigProto(gpu_options=options))\n" + RUN,
            [
                "options = tf.GPUOptions(per_process_gpu_memory_fraction=0.3)",
                "config = tf.ConfigProto(gpu_options=options)",
                SOFTLY,
                "sess = tf.Session(config=config)",
            ],
        ),
        (
            "sess = tf.Session('', None, tf.ConfigProto())\n" + RUN,
            ["config = tf.ConfigProto()", SOFTLY, GROWTH, "sess = tf.Session('', None, config)"],
        ),
        (
            "sess = tf.Session(\n    graph=None,\n)\n" + RUN,
            [MADE, "sess = tf.Session(", "    graph=None, config=config", ")"],
        ),
    ],
)
def test_config(session: str, expected: list[str]) -> None:
    assert session_lines(session + "\n") == expected


@pytest.mark.parametrize(
    ("memory", "given"),
    [
        ("growth", ", gpu_options=tf.GPUOptions(allow_growth=True)"),
        ("all", ""),
        (0.4, ", gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.4)"),
    ],
)
def test_memory(memory: str | float, given: str) -> None:
    session = "sess = tf.Session()\n" + RUN + "\n"
    lines = session_lines(session, gpu_memory=memory, line_length=120)
    assert lines == [SOFT[:-1] + given + ")", "sess = tf.Session(config=config)"]


@pytest.mark.parametrize("memory", ["growth", "all"])
def test_a_fraction_of_the_scripts_own_stays(memory: str | float) -> None:
    config = "config = tf.ConfigProto()\nconfig.gpu_options.per_process_gpu_memory_fraction = 0.3\n"
    lines = session_lines(config + "sess = tf.Session(config=config)\n" + RUN + "\n", gpu_memory=memory)
    fractions = [line for line in lines if "fraction" in line]
    assert fractions[-1] == "config.gpu_options.per_process_gpu_memory_fraction = 0.3"


def test_two_sessions_each_get_a_config() -> None:
    lines = session_lines("with tf.Session() as sess:\n    " + RUN + "\nwith tf.Session() as sess:\n    " + RUN + "\n")
    assert lines == [MADE, "with tf.Session(config=config) as sess:"] * 2


def test_one_config_for_two_sessions_is_completed_once() -> None:
    lines = session_lines(
        "config = tf.ConfigProto()\nfor turn in range(2):\n    sess = tf.Session(config=config)\n    " + RUN + "\n"
    )
    assert lines.count("    " + SOFTLY) + lines.count(SOFTLY) == 1


@pytest.mark.parametrize("head", ["with tf.Graph().as_default():\n", "if True:\n", "for turn in range(2):\n"])
def test_inside_a_block(head: str) -> None:
    lines = session_lines(head + "    with tf.Session() as sess:\n        " + RUN + "\n")
    assert lines == [
        head.strip(),
        "    " + MADE,
        "    with tf.Session(config=config) as sess:",
    ]


def test_a_session_between_two_withs_of_one_statement() -> None:
    lines = session_lines("with tf.Graph().as_default(), tf.Session() as sess:\n    " + RUN + "\n")
    assert lines == [MADE, "with tf.Graph().as_default(), tf.Session(config=config) as sess:"]


@pytest.mark.parametrize(
    "session",
    [
        "from mylib import Session\nsess = Session()\n",
        "sess = make_session()\n",
        "tf.Session\nsess = other.Session()\n",
    ],
)
def test_other_sessions_stay(session: str) -> None:
    lines = session_lines(session + RUN + "\n")
    assert lines == session.splitlines()


PARTS = """\
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        run = sess.partial_run_setup([prediction, train_op], [X, Y])
        sess.partial_run(run, {first})
        sess.partial_run(run, {second})
"""


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("prediction, {X: xs}", "train_op, {Y: ys}", []),
        ("prediction, {X: xs, Y: ys}", "train_op", []),
        ("[], {X: xs}", "train_op, {Y: np.ones([n, 1])}", []),  # the first part tells the size
        ("[], {Y: ys}", "train_op, {X: xs}", ["TMG242"]),
    ],
)
def test_runs_in_parts(first: str, second: str, found: list[str]) -> None:
    assert codes(INPUTS + MODEL + STEP + PARTS.format(first=first, second=second)) == found


def test_each_run_in_parts_is_looked_at_by_itself() -> None:
    right = PARTS.format(first="prediction, {X: xs}", second="train_op, {Y: ys}")
    wrong = PARTS.format(first="[], {Y: ys}", second="train_op, {X: xs}")
    assert codes(INPUTS + MODEL + STEP + right + wrong) == ["TMG242"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "tf.contrib.slim.learning.train(train_op, 'logs')",
            [MADE, "tf.contrib.slim.learning.train(train_op, 'logs', session_config=config)"],
        ),
        (
            "tf.contrib.training.train(train_op, 'logs')",
            [MADE, "tf.contrib.training.train(train_op, 'logs', config=config)"],
        ),
        (
            "own = tf.ConfigProto()\ntf.contrib.slim.learning.train(train_op, 'logs', session_config=own)",
            [
                "own = tf.ConfigProto()",
                "own.allow_soft_placement = True",
                "own.gpu_options.allow_growth = True",
                "tf.contrib.slim.learning.train(train_op, 'logs', session_config=own)",
            ],
        ),
        (
            "tf.contrib.training.train(\n    train_op,  # one step\n    'logs',  # where to\n)",
            [
                MADE,
                "tf.contrib.training.train(",
                "    train_op,  # one step",
                "    'logs', config=config  # where to",
                ")",
            ],
        ),
    ],
)
def test_functions_that_train(call: str, expected: list[str]) -> None:
    script = GRAPH.replace(
        INPUTS,
        "import tensorflow as tf\n\nbatch_size = 32\n"
        "X, Y = tf.train.batch([tf.zeros([4]), tf.zeros([1])], batch_size)\n",
    )
    lines = body(script + call + "\n")
    ast.parse("\n".join(lines))
    assert lines[-len(expected) :] == expected


@pytest.mark.parametrize("queue", ["tf.contrib.slim.prefetch_queue", "slim.prefetch_queue"])
def test_a_prefetch_queue_is_made_once(queue: str) -> None:
    script = (
        "import tensorflow as tf\nslim = tf.contrib.slim\nbatch_size = 32\n"
        "X, Y = tf.train.batch([tf.zeros([4]), tf.zeros([1])], batch_size)\n"
        f"queue = {queue}.prefetch_queue([X, Y], capacity=2)\nX, Y = queue.dequeue()\n" + MODEL + STEP
    )
    lines = body(script + "slim.learning.train(train_op, 'logs')\n")
    loop = next(i for i, line in enumerate(lines) if line.startswith("for gpu"))
    made = next(i for i, line in enumerate(lines) if "prefetch_queue(" in line)
    assert made < loop and lines[loop + 3].strip() == "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)"


CREATOR = """\
class Creator(tf.train.SessionCreator):
    def create_session(self):
        return tf.Session()


with tf.train.MonitoredSession(Creator()) as sess:
    """


def test_the_session_of_a_creator_of_the_script_gets_a_config() -> None:
    lines = session_lines(CREATOR + RUN)
    assert "        return tf.Session(config=config)" in lines
    assert "with tf.train.MonitoredSession(Creator()) as sess:" in lines


RUNS_ITSELF = """\
with tf.train.MonitoredSession() as sess:
    sess.run_step_fn(lambda step_context: step_context.session.run(train_op, {X: xs[:batch_size], Y: ys[:batch_size]}))
"""


@pytest.mark.parametrize("session", ["tf.train.MonitoredSession()", "tf.train.SingularMonitoredSession()"])
def test_the_batch_size_is_seen_where_a_monitored_session_is_fed(session: str) -> None:
    script = GRAPH + f"xs, ys = load()\nwith {session} as sess:\n    " + RUN
    assert codes(script) == []
    assert "batch_size = 32 * num_gpus" in body(script)


def test_a_function_that_runs_a_step_is_followed() -> None:
    script = GRAPH + "xs, ys = load()\n" + RUNS_ITSELF
    assert codes(script) == []
    assert "batch_size = 32 * num_gpus" in body(script)


TUNED = """\
def train(sess):
    for begin in range(0, 64, batch_size):
        sess.run(train_op, {{X: xs[begin:begin + batch_size], Y: ys[begin:begin + batch_size]}})


class Objective(object):
    def {name}(self, trial):
        sess = tf.Session()
        train(sess)
        return trial


study = optuna.create_study()
study.optimize({given})
train(tf.Session())
"""


@pytest.mark.parametrize(
    ("name", "given", "changed"),
    [
        ("__call__", "Objective()", 2),
        ("measure", "Objective().measure", 2),
        ("measure", "objective=Objective().measure", 2),
        ("measure", "Objective()", 1),  # nothing calls it
    ],
)
def test_what_other_code_calls_back_has_sessions_too(name: str, given: str, changed: int) -> None:
    text = "import optuna\n" + GRAPH + "xs, ys = load()\n" + TUNED.format(name=name, given=given)
    lines = [line for line in body(text) if "tf.Session(config=config)" in line]
    assert len(lines) == changed


@pytest.mark.parametrize("comment", ["", "  # of the graph"])
def test_a_call_that_gets_an_argument_keeps_its_lines(comment: str) -> None:
    """Its numbers and quotes, too, stay as the script has them."""
    call = f'tf.Session(\n    target="",{comment}\n    graph=tf.get_default_graph()\n)'
    made = converted(SCRIPT.replace("tf.Session()", call))
    assert call.replace("graph()", "graph(), config=config") in made
