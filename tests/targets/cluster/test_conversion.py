"""Workers of a cluster: what is written, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.report.text import diagnostics
from converter.source import encode, from_bytes, read
from converter.source.header import HELPERS, HELPERS_END
from tests import goldens
from tests.scripts import as_written_by

FIXTURES = goldens.FIXTURES / "cluster"
SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 64
images, labels = np.load('images.npy'), np.load('labels.npy')
x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
rate = 0.001
logits = tf.layers.dense(x, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
optimizer = tf.train.AdamOptimizer(rate)
train_op = optimizer.minimize(loss)
init = tf.global_variables_initializer()

with tf.Session() as sess:
    sess.run(init)
    for begin in range(0, len(images), batch_size):
        feed = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        sess.run(train_op, feed_dict=feed)
    print(sess.run(loss, {x: images, y: labels}))
"""
TRAINS = "        sess.run(train_op, feed_dict=feed)\n"


def converted(text: str, **options: object) -> Conversion:
    given = Options(target="cluster", **options)  # type: ignore[arg-type]
    return convert(from_bytes("train.py", text.encode()), given)


def changed(*edits: tuple[str, str]) -> Conversion:
    text = SCRIPT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return converted(text)


@pytest.mark.parametrize("name", sorted(path.parent.name for path in FIXTURES.glob("*/single.py")))
def test_the_golden_is_the_conversion(name: str) -> None:
    source = read(str(FIXTURES / name / "single.py"))
    conversion = convert(source, Options(target="cluster", helpers="package"))
    assert conversion.text is not None
    assert encode(source, conversion.text) == as_written_by("single.py", FIXTURES / name / "multi.py")


def test_the_statements_of_the_script_are_kept() -> None:
    done = converted(SCRIPT)
    assert done.status == "converted" and done.diagnostics == () and done.text is not None
    lines = done.text.splitlines()
    assert [line for line in SCRIPT.splitlines() if line not in lines] == ["batch_size = 64"]
    assert "batch_size = 64 * cluster.size" in lines and "cluster = Cluster(__name__ == '__main__')" in lines
    compile(done.text, "train.py", "exec")
    assert converted(done.text).status == "unchanged"


@pytest.mark.parametrize(("helpers", "module"), [("module", "cluster_helpers"), ("package", "tf_multigpu_cluster")])
def test_the_helpers_are_a_module(helpers: str, module: str) -> None:
    done, inline = converted(SCRIPT, helpers=helpers), converted(SCRIPT)
    assert done.text is not None and inline.text is not None
    (begin, own), (_, same) = (text.split(f"{HELPERS_END}\n") for text in (done.text, inline.text))
    assert own == same and begin.endswith(f"{HELPERS}\nfrom {module} import Cluster\n")
    assert [(part.path, part.text.count("class Cluster(object)")) for part in done.parts] == (
        [("cluster_helpers.py", 1)] if helpers == "module" else []
    )
    assert converted(done.text).status == "unchanged"


def test_a_module_of_that_name_that_is_the_users_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    source, options = read(str(tmp_path / "train.py")), Options(target="cluster", helpers="module")
    (part,) = convert(source, options).parts
    Path(part.path).write_text(part.text)
    assert [again.path for again in convert(source, options).parts] == [part.path]
    Path(part.path).write_text("mine = 1\n")
    done = convert(source, options)
    assert [other.path for other in done.parts] == [str(tmp_path / "cluster_helpers_2.py")]
    assert done.text is not None and "\nfrom cluster_helpers_2 import Cluster\n" in done.text


def test_a_class_of_the_scripts_own_keeps_its_name() -> None:
    done = converted(SCRIPT.replace("rate = 0.001", "Cluster = rate = 0.001"), helpers="package")
    assert done.text is not None and "import Cluster as Cluster_2\n" in done.text and "= Cluster_2(" in done.text


def test_names_of_the_script_are_left_to_it() -> None:
    done = changed(
        ("rate = 0.001", "cluster = 0.001"), ("(rate)", "(cluster)"), ("import numpy", "import _os\nimport numpy")
    )
    assert done.text is not None
    assert "cluster_2 = Cluster(__name__" in done.text and "tf.train.AdamOptimizer(cluster)" in done.text
    assert "import os as _os_2" in done.text and "_os_2.environ" in done.text


# Where the worker starts: the line in front of which it stands.
PLACES = [
    ("import numpy as np\n", "import numpy as np\n", "batch_size = "),
    ("\nbatch_size", "import os\nos.environ['A'] = '1'\nimport sys\nbatch_size", "batch_size = "),
    ("\nbatch_size", "def f():\n    return 1\n\n\nimport sys\nbatch_size", "batch_size = "),
    ("\nbatch_size", "try:\n    import json\nexcept ImportError:\n    json = None\nbatch_size", "batch_size = "),
    ("\nbatch_size", "one = tf.constant(1)\nimport sys\nbatch_size", "one = tf.constant(1)"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "below"), PLACES)
def test_the_worker_starts_below_the_imports(old: str, new: str, below: str) -> None:
    done = changed((old, new))
    assert done.text is not None
    lines = done.text.splitlines()
    started = next(number for number, line in enumerate(lines) if line.startswith("cluster = Cluster("))
    assert next(line for line in lines[started + 1 :] if line).startswith(below)


# What changes in the script, and how its batches are dealt: True for rows of one batch, False for whole batches.
DEALT = [
    (("rate = 0.001", "rate = tf.placeholder(tf.float32)"), ("feed = {x", "feed = {rate: 0.1, x"), True),
    (("dense(x, 10)", "dense(tf.layers.batch_normalization(x, training=True), 10)"), ("", ""), True),
    ((TRAINS, TRAINS + "        if begin > 99:\n            break\n"), ("", ""), True),
    (("    for begin in range(0, len(images), batch_size):\n", "    begin = 0\n    while begin < len(images):\n"),
     (TRAINS, TRAINS + "        begin += batch_size\n"), True),
    ((TRAINS, TRAINS + "        print(loss.eval({x: images, y: labels}))\n"), ("", ""), True),
    (("[None, 784]", "[64, 784]"), ("    print(sess.run(loss, {x: images, y: labels}))\n", ""), False),
    (("[None, 784]", "[784, None]"), ("dense(x, 10)", "dense(tf.transpose(x), 10)"), False),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "rows"), DEALT)
def test_batches_are_dealt_by_rows_or_whole(first: tuple[str, str], second: tuple[str, str], rows: bool) -> None:
    done = changed(first, second) if second[0] else changed(first)
    assert done.status == "converted" and done.text is not None, done.diagnostics
    assert ("deal='batches'" in done.text.split("cluster = Cluster(")[1].splitlines()[0]) is not rows
    warned = [d.code for d in done.diagnostics if d.code == "TMG376"]
    assert warned == ([] if rows else ["TMG376"])


def test_a_batch_with_sparse_labels_counts_as_one() -> None:
    """What is fed to a sparse placeholder, indices, values and shape, has no row for each example."""
    script = (
        "import tensorflow as tf\n\nbatch_size = 8\nx = tf.placeholder(tf.float32, [None, 20, 6])\n"
        "labels = tf.sparse_placeholder(tf.int32)\n"
        "loss = tf.reduce_mean(tf.nn.ctc_loss(labels, tf.layers.dense(x, 5), [20] * batch_size))\n"
        "train_op = tf.train.AdamOptimizer(0.01).minimize(loss)\n\nwith tf.Session() as sess:\n"
        "    for step in range(30):\n        a, b = next_batch(batch_size)\n"
        "        sess.run(train_op, {x: a, labels: b})\n"
    )
    done = convert(from_bytes("train.py", script.encode()), Options(target="cluster"))
    assert done.text is not None and "deal='batches', by_rows=False" in done.text


def test_the_total_batch_is_cut_by_rows_or_refused() -> None:
    done = converted(SCRIPT, batch="total")
    assert (
        done.text is not None
        and "batch_size = 64\n" in done.text
        and "deal='batches'" not in done.text.split("\ncluster = ")[1]
    )
    fixed = SCRIPT.replace("[None, 784]", "[784, None]").replace("dense(x, 10)", "dense(tf.transpose(x), 10)")
    refused = converted(fixed, batch="total")
    assert [d.code for d in refused.diagnostics if d.severity == "error"] == ["TMG259"]


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("with tf.Session()", "server = tf.train.Server({})\nwith tf.Session(server.target)", "TMG217", 15),
        ("rate = 0.001", "rate = tf.train.ClusterSpec({})", "TMG217", 8),
        ("rate = 0.001", "rate = '--task_index'", "TMG259", 8),
        ("rate = 0.001", "rate = np.random.RandomState()", "TMG260", 8),
        ("rate = 0.001", "import random\nrate = random.SystemRandom()", "TMG260", 9),
    ],
)
def test_what_is_refused(old: str, new: str, code: str, line: int) -> None:
    done = changed((old, new))
    assert done.status == "refused" and done.text is None
    assert (code, line) in [(d.code, d.line) for d in done.diagnostics if d.severity == "error"], done.diagnostics


def test_all_that_is_in_the_way_is_named_and_the_decisive_first() -> None:
    """What no edit mends comes first, and a refusal does not say what a conversion would warn of."""
    done = changed(
        ("rate = 0.001", "rate = np.random.RandomState()\nflag = '--task_index'"),
        ("with tf.Session()", "server = tf.train.Server({})\nwith tf.Session(server.target)"),
    )
    assert [d.code for d in done.diagnostics] == ["TMG217", "TMG260", "TMG259"]
    assert [line.split()[1] for line in diagnostics(done.diagnostics).splitlines() if "train.py:" in line] == [
        "TMG217", "TMG260", "TMG259",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "new", ["rate = np.random.RandomState(3).rand()", "rate = 0.001  # Server", "np.random.seed(7)\nrate = 1"]
)
def test_near_misses_are_converted(new: str) -> None:
    assert changed(("rate = 0.001", new)).status == "converted"


@pytest.mark.parametrize("more", ["", "tf.GradientTape()\ntf.train.AdamOptimizer().apply_gradients(pairs)\n"])
def test_a_script_without_a_graph_that_trains_is_refused(more: str) -> None:
    done = converted(f"import tensorflow as tf\n{more}")
    assert [d.code for d in done.diagnostics] == ["TMG280"]


def test_training_in_a_file_that_the_script_imports_is_found(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import tensorflow as tf\n\n\ndef train(loss):\n    return tf.train.AdamOptimizer().minimize(loss)\n"
    )
    (tmp_path / "train.py").write_text("import tensorflow as tf\nimport net\n\nnet.train(tf.get_variable('v', []))\n")
    done = convert(read(str(tmp_path / "train.py")), Options(target="cluster"))
    assert done.status == "converted" and done.text is not None and "deal='batches'" in done.text
