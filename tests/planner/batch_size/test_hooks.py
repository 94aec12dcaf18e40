"""Batches that the hooks of a monitored session feed: found as those of a feed_dict, or named with the hook's line."""

from __future__ import annotations

import textwrap

import pytest

from tests.scripts import INPUTS, MODEL, STEP, body, codes, run

GRAPH = INPUTS + MODEL + STEP + "import random\nimages, targets = load()\n"
FEED = "{X: random.sample(images, batch_size), Y: random.sample(targets, batch_size)}"
SESSION = """\
with tf.train.MonitoredTrainingSession(hooks=[HOOK]) as sess:
    while not sess.should_stop():
        sess.run(train_op)
"""


def hooked(methods: str, session: str = SESSION, hook: str = "Feed()", base: str = "tf.train.SessionRunHook") -> str:
    """A script with a class of hooks whose methods are these."""
    made = f"class Feed({base}):\n" + textwrap.indent(textwrap.dedent(methods), "    ")
    return GRAPH + made + session.replace("HOOK", hook)


BEFORE = "def before_run(self, run_context):\n"
FED = BEFORE + f"    return tf.train.SessionRunArgs(loss, feed_dict={FEED})\n"
BY_POSITION = BEFORE + f"    return tf.train.SessionRunArgs(None, {FEED})\n"
MADE_BEFORE = f"""\
def begin(self):
    self.x, self.y = X, Y
def after_create_session(self, session, coord):
    self.size = batch_size
{BEFORE}    feed = {{self.x: random.sample(images, self.size), self.y: random.sample(targets, self.size)}}
    return tf.train.SessionRunArgs(fetches=[], feed_dict=feed)
"""
IN_ONE_BRANCH = (
    BEFORE
    + f"""\
    if self.quiet():
        return tf.train.SessionRunArgs(None, {FEED})
    return tf.train.SessionRunArgs({{'loss': loss}}, {FEED})
"""
)
AFTER = (
    FED
    + """\
def after_run(self, run_context, run_values):
    print(run_values.results)
    run_context.request_stop()
"""
)


@pytest.mark.parametrize("methods", [FED, BY_POSITION, MADE_BEFORE, IN_ONE_BRANCH, AFTER])
def test_a_hook_of_the_script_feeds(methods: str) -> None:
    script = hooked(methods)
    assert codes(script) == []
    assert "batch_size = 32 * num_gpus" in body(script)


@pytest.mark.parametrize(
    "session",
    [
        SESSION,
        SESSION.replace("MonitoredTrainingSession", "SingularMonitoredSession"),
        SESSION.replace("MonitoredTrainingSession(hooks=[HOOK])", "MonitoredSession(None, [HOOK])"),
        SESSION.replace("hooks=[HOOK]", "chief_only_hooks=(HOOK, tf.train.StopAtStepHook(9))"),
        "hooks = [tf.train.LoggingTensorHook([loss], 10)]\nhooks.append(HOOK)\n" + SESSION.replace("[HOOK]", "hooks"),
        SESSION.replace("sess.run(train_op)", "sess.run_step_fn(lambda context: context.run_with_hooks(train_op))"),
        "tf.contrib.training.train(train_op, None, hooks=[HOOK])\n",
    ],
)
def test_where_hooks_are_given(session: str) -> None:
    assert "batch_size = 32 * num_gpus" in body(hooked(FED, session))


@pytest.mark.parametrize(
    "hook",
    [
        "tf.train.FeedFnHook(lambda: FEED)",
        "tf.train.FeedFnHook(feed_fn=feed)",
        "tf.estimator.FeedFnHook(feed)",
        "tf.compat.v1.train.FeedFnHook(feed)",
    ],
)
def test_a_function_feeds(hook: str) -> None:
    function = f"def feed():\n    return {FEED}\n"
    script = GRAPH + function + SESSION.replace("HOOK", hook.replace("FEED", FEED))
    assert codes(script) == []
    assert "batch_size = 32 * num_gpus" in body(script)


def test_a_part_may_be_fed_by_the_run() -> None:
    labels = BEFORE + "    return tf.train.SessionRunArgs(None, {Y: targets[:batch_size]})\n"
    script = hooked(labels, SESSION.replace("run(train_op)", "run(train_op, {X: random.sample(images, batch_size)})"))
    assert codes(script) == []
    assert "batch_size = 32 * num_gpus" in body(script)


def test_a_run_of_the_session_below_the_hooks_is_fed_by_itself() -> None:
    """`run_context.session` is TensorFlow's plain one: an evaluation in a hook is no step, and is fed alone."""
    evaluation = "def after_run(self, context, values):\n    context.session.run(loss, {X: images, Y: targets})\n"
    assert codes(hooked(FED + evaluation)) == []


SIZE = GRAPH.count("\n") + 1


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (hooked("pass\n", base="tf.train.FeedFnHook", hook="Feed(lambda: 0)"), SIZE),
        (hooked(BEFORE + "    return ask()\n"), SIZE),
        (hooked(BEFORE + "    return tf.train.SessionRunArgs(loss, feed_dict=fed())\n"), SIZE),
        (hooked("pass\n", base="other.Hook"), SIZE),
        (GRAPH + SESSION.replace("HOOK", "make_hook(X, Y)"), SIZE),
        (GRAPH + SESSION.replace("HOOK", "tf.train.FeedFnHook(other.feed)"), SIZE),
    ],
)
def test_a_hook_that_is_not_followed_is_named(script: str, line: int) -> None:
    (found,) = run(script).diagnostics
    assert (found.code, found.line) == ("TMG303", line)
    assert "fed by this hook of the session" in found.message


@pytest.mark.parametrize(
    "methods",
    [
        "pass\n",
        BEFORE + "    return tf.train.SessionRunArgs([loss, prediction])\n",
        BEFORE + "    return None\n",
        BEFORE + "    self.begun = 1\n",
    ],
)
def test_a_hook_that_feeds_nothing_is_not_named(methods: str) -> None:
    fed = SESSION.replace("run(train_op)", f"run(train_op, {FEED})")
    assert codes(hooked(methods, fed)) == []
    (found,) = run(hooked(methods)).diagnostics
    assert found.code == "TMG303" and "hook" not in found.message


def test_what_a_hook_fetches_is_of_the_whole_batch() -> None:
    """Rows that only a hook reads leave the towers as rows of the whole batch."""
    fetched = BEFORE + f"    return tf.train.SessionRunArgs(prediction, {FEED})\n"
    lines = body(hooked(fetched))
    assert "prediction = tf.concat(tower_prediction, 0)" in lines
