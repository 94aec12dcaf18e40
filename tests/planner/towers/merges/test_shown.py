"""Values without a known merge: those that are only shown are merged by their form, others are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.rule import find_rule
from converter.source import read
from tests.scripts import codes, converted, run

SCRIPT = find_rule("TMG393").before
PRINTED = "        print(step, shown)\n"
RUN = "        _, shown = sess.run([train_op, variance], {X: images, Y: labels})\n"


def test_one_warning_names_all_values() -> None:
    (finding,) = run(SCRIPT).diagnostics
    assert finding.code == "TMG393" and "variance" in finding.message


@pytest.mark.parametrize(
    "shown",
    [
        "print('%d %s' % (step, shown))",
        "print('{}'.format(shown.max()))",
        "print('{} {}'.format(images, shown))",
        "print('%s %s' % (images, shown))",
        "print(f'{shown}')",
        "text = str(shown)\n        print(text)",
        "values = []\n        values.append(shown)\n        print(sum(values))",
        "import logging\n        logging.info('%s', shown)",
        "import numpy as np\n        print(np.mean(shown))",
        "shown",  # nothing reads it
        "for each in shown:\n            print(each)",
        "print([round(each, 2) for each in shown])",
        "table = {'variance': shown}\n        print(table['variance'])",
        "one, two = step, shown\n        if one > 5:\n            print(two)",
        "print('{} {}'.format(elapsed(step), shown))",
        "table = {}\n        table[step] = shown",
    ],
)
def test_what_is_only_shown(shown: str) -> None:
    assert codes(SCRIPT.replace(PRINTED, f"        {shown}\n")) == ["TMG393"]


@pytest.mark.parametrize(
    "deciding",
    [
        "if shown.max() > 3.0:\n            break",
        "while shown > 3.0:\n            break",
        "best = min(shown)\n        worse = best < 3.0\n        if worse:\n            break",
        "assert not shown.any()",
        "if '{}'.format(shown) == '3.0':\n            break",
        "text = '{} {}'\n        print(text.format(images, shown))",
        "import numpy as np\n        np.save('variance.npy', shown)",
        "open('variance.txt', 'w').write(str(shown))",
        "history.append(shown)\n        if history[-1] > 3.0:\n            break",
        "images = shown",  # and fed in the next turn
        "sess.run(train_op, {X: shown, Y: labels})",
        "for each in shown:\n            sess.run(train_op, {X: images, Y: labels})",
        "keep(shown)",
        "keep('{}'.format(shown))",
        "table = {}\n        table[step] = shown\n        keep(table)",
        "table = {}\n        table[step] = shown\n        if table[0] > 3.0:\n            break",
        "print([each for each in shown if each > 1.0])",
        "table = {'variance': shown}\n        if table['variance'] > 3.0:\n            break",
        "one, two = step, shown\n        if two > 5:\n            print(one)",
        "tf.assign(rate, shown)",
    ],
)
def test_what_decides_is_refused(deciding: str) -> None:
    assert "TMG210" in codes(SCRIPT.replace(PRINTED, f"        {deciding}\n"))


REPORT = """\
def report(step, value):
    print('step', step, value)


"""
RETURNED = """\
def returned(sess, feed):
    return sess.run([train_op, variance], feed)[1]


"""


METHOD = """\
class Net(object):
    def summarise(self, value):
        {does}


"""


@pytest.mark.parametrize(
    ("does", "found"),
    [
        ("tf.summary.histogram('net/' + value.op.name, value)", "TMG393"),
        ("self.kept = value", "TMG393"),
        ("tf.assign(tf.get_variable('kept', [64]), value)", "TMG210"),
    ],
)
def test_methods_of_the_script_are_followed(does: str, found: str) -> None:
    script = SCRIPT.replace("def layer(", METHOD.format(does=does) + "def layer(", 1)
    assert found in codes(
        script.replace("\nwith tf.Session", "net = Net()\nnet.summarise(variance)\n\nwith tf.Session", 1)
    )


@pytest.mark.parametrize(
    ("function", "used", "found"),
    [
        (REPORT, "report(step, shown)", "TMG393"),
        (RETURNED, "print(returned(sess, {X: images, Y: labels}))", "TMG393"),
        (REPORT, "report(shown, step)", "TMG393"),
        (REPORT.replace("print(", "return keep("), "report(shown, step)", "TMG210"),
        (RETURNED, "if returned(sess, {X: images, Y: labels}) > 3.0:\n            break", "TMG210"),
        (RETURNED, "ask = returned\n        print(ask(sess, {X: images, Y: labels}))", "TMG210"),
    ],
)
def test_functions_of_the_script_are_followed(function: str, used: str, found: str) -> None:
    script = SCRIPT.replace("X = tf.placeholder", function + "X = tf.placeholder", 1)
    assert found in codes(script.replace(PRINTED, f"        {used}\n"))


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("tf.summary.histogram('variance', variance)", "TMG393"),
        ("tf.summary.scalar('largest', tf.reduce_max(variance))", "TMG393"),
        ("tf.summary.scalar('none', tf.nn.zero_fraction(variance))", "TMG393"),
        ("tf.summary.scalar('many', tf.reduce_sum(tf.cast(tf.greater(variance, 1e-5), tf.float32)))", "TMG393"),
        ("tf.summary.scalar('many', tf.reduce_sum(tf.cast(tf.greater(variance, Y), tf.float32)))", "TMG210"),
        ("rate = tf.Print(variance, [X])\ntf.assign(tf.get_variable('kept', [64]), rate)", "TMG210"),
        ("update = tf.assign(tf.get_variable('kept', [64]), variance)", "TMG210"),
        ("named = tf.get_default_graph().get_tensor_by_name('moments/variance:0')", "TMG209"),
    ],
)
def test_readers_in_the_graph(made: str, found: str) -> None:
    script = SCRIPT.replace("\nwith tf.Session", f"{made}\n\nwith tf.Session", 1)
    assert found in codes(script)


@pytest.mark.parametrize(
    "shown",
    [
        "print(step, np.mean(shown == labels))",
        "print(step, np.abs(shown - labels).max())",
        "print(step, shown[step])",
        "print(step, [a for a, b in zip(shown, labels)])",
    ],
)
def test_a_share_that_meets_the_whole_batch_is_refused(shown: str) -> None:
    """Of a share there are fewer rows than labels: the script would end there, or print another number."""
    assert codes("import numpy as np\n" + SCRIPT.replace("print(step, shown)", shown)) == ["TMG210"]


@pytest.mark.parametrize("shown", ["print(step, shown / 2.0)", "print('%d %s' % (step, shown))", "print(shown[0])"])
def test_plain_numbers_beside_a_share_are_shown_with_it(shown: str) -> None:
    assert codes(SCRIPT.replace("print(step, shown)", shown)) == ["TMG393"]


NUMBER = SCRIPT.replace("0.001), variance", "0.001), tf.reduce_max(variance)")


@pytest.mark.parametrize(
    ("used", "found"),
    [
        ("print(step, 0.5 * shown + cost)", "TMG393"),
        ("both = 0.5 * shown + cost\n        print(step, both)", "TMG393"),
        ("print(step, np.mean([shown, cost]), np.abs(shown - labels).max())", "TMG393"),
        ("both = shown + cost\n        if both < 3.0:\n            break", "TMG210"),
        ("sess.run(train_op, {X: images * (shown + cost), Y: labels})", "TMG210"),
        ("np.save('both.npy', shown + cost)", "TMG210"),
        ("if not np.isfinite(shown): raise ValueError('diverged')", "TMG393"),
        ("assert not np.isnan(shown), 'diverged'", "TMG393"),
        ("if np.isnan(shown):\n            print(step)\n            sys.exit(1)", "TMG393"),
        ("if np.isnan(shown): break", "TMG210"),
        ("if np.isnan(shown):\n            raise ValueError\n        else:\n            rate *= 0.9", "TMG210"),
    ],
)
def test_a_number_is_shown_beside_any_other(used: str, found: str) -> None:
    """A number fits beside rows of the whole batch: what is printed of both is as near as the number itself."""
    run_both = RUN.replace("_, shown", "_, cost, shown").replace("train_op, variance", "train_op, loss, variance")
    script = NUMBER.replace(RUN, run_both).replace(PRINTED, f"        {used}\n")
    assert found in codes("import numpy as np\n" + script)


@pytest.mark.parametrize(
    ("used", "found"),
    [
        ("open('log.txt', 'a').write('%d %f' % (step, shown))", "TMG393"),
        ("total = 0.0\n        total += shown\n        log.write(str(total / 2) + '\\n')", "TMG393"),
        ("csv.writer(log).writerow([step, shown])", "TMG393"),
        ("log.save(shown)", "TMG210"),
        ("queue.put('%f' % shown)", "TMG210"),
    ],
)
def test_a_number_in_a_line_of_a_log_is_shown(used: str, found: str) -> None:
    assert found in codes(NUMBER.replace(PRINTED, f"        {used}\n"))


def test_rows_in_a_file_are_a_result() -> None:
    assert "TMG210" in codes(SCRIPT.replace(PRINTED, "        log.write('%d %s' % (step, shown))\n"))


RATIOS = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])


def layers(x):
    found = {kept}
    for name in names():
        x = tf.layers.dense(x, 10)
        {put}
        x /= {get}
    return x, found


logits, found = layers(X)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
{read}
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        shown = sess.run([train_op, {fetched}], {{X: images, Y: labels}})[1]
        print(shown)
"""
DICT = {"kept": "{}", "put": "found[name] = tf.reduce_max(x)", "get": "found[name]", "fetched": "loss"}
LIST = {"kept": "[]", "put": "found.append(tf.reduce_max(x))", "get": "found[-1]", "fetched": "loss"}


@pytest.mark.parametrize(
    ("nest", "read"),
    [
        (DICT, "for name in names():\n    tf.summary.scalar(name, found[name])"),
        (DICT, "for name, one in found.items():\n    tf.summary.scalar(name, one)"),
        (DICT, "for one in found.values():\n    tf.summary.scalar('largest', one)"),
        (DICT | {"fetched": "found"}, ""),
        (LIST, "for one in found:\n    tf.summary.scalar('largest', one)"),
        (LIST, "for one in found + [loss]:\n    tf.summary.scalar(one.op.name, one)"),
        (LIST, "tf.summary.scalar('last', found[-1])"),
        (LIST | {"fetched": "found"}, ""),
        (LIST | {"fetched": "found[1:]"}, ""),
    ],
)
def test_a_list_or_dict_that_is_only_shown(nest: dict[str, str], read: str) -> None:
    script = RATIOS.format(**nest, read=read)
    assert "TMG393" in codes(script)
    named = ", name=plain_name" if "one.op.name" in read else ""
    assert f"found = merge_shown(tower_found{named})" in converted(script)


@pytest.mark.parametrize(
    ("nest", "read"),
    [
        (DICT, "update = [tf.assign(tf.get_variable(n, []), found[n]) for n in names()]"),
        (DICT, "rate = [one for one in found.values()][0]\nsess2.run(rate)"),
        (DICT, "save(found)"),
        (DICT, "keep = {name: one * 2.0 for name, one in found.items()}\nsave(keep)"),
        (LIST, "largest = tf.assign(tf.get_variable('kept', []), found[0])"),
        (LIST | {"fetched": "found"}, "shown = 1"),
    ],
)
def test_a_list_or_dict_that_decides_something_is_refused(nest: dict[str, str], read: str) -> None:
    stops = "history.append(max(shown))\n        stop(history)"
    script = RATIOS.format(**nest, read=read).replace("print(shown)", stops)
    assert codes(script) and all(code in ("TMG208", "TMG210", "TMG302") for code in codes(script))
    assert {"TMG208", "TMG210"} & {*codes(script)}


BRANCHES = """\
def a_ratio(x):
    return x, tf.reduce_max(x) / tf.reduce_mean(x)


def a_mean(x):
    return x, tf.reduce_mean(x)


build = a_ratio if os.path.exists('ratio') else a_mean
"""


@pytest.mark.parametrize(("used", "found"), [("print(step, shown)", "TMG393"), ("save(shown)", "TMG210")])
def test_what_one_of_several_functions_makes(used: str, found: str) -> None:
    script = NUMBER.replace("X = tf.placeholder", f"{BRANCHES}\n\nX = tf.placeholder", 1)
    script = script.replace("layer(X)", "build(tf.layers.dense(X, 64))").replace("print(step, shown)", used)
    assert found in codes("import os\n" + script)


@pytest.mark.parametrize(
    ("module", "helper", "found"),
    [
        ("plots", "", "TMG393"),
        ("plots", "from helper import *\n", "TMG393"),
        ("plots", "from train import *\n", "TMG210"),
        ("plots", "from train import shown\n", "TMG210"),
        ("plots", "from .train import other, shown\n", "TMG210"),
        ("plots", "from . import shown\n", "TMG210"),
        ("plots", "from train import other\n", "TMG393"),
    ],
)
def test_a_name_of_the_module_that_other_files_may_import(module: str, helper: str, found: str, tmp_path: Path) -> None:
    """What `from plots import *` brings here takes no name away."""
    script = SCRIPT.replace("import tensorflow as tf", f"import tensorflow as tf\nfrom {module} import *", 1)
    (tmp_path / "train.py").write_text(script.replace(PRINTED, "        show(shown)\n"))
    (tmp_path / f"{module}.py").write_text(helper + "def show(value):\n    print(value)\n")
    (tmp_path / "helper.py").write_text("import sys\n")
    made = convert(read(str(tmp_path / "train.py")), Options())
    assert [d.code for d in made.diagnostics] == [found]


@pytest.mark.parametrize(
    "shown", ["shown.transpose()", "np.array(shown).transpose([0])", "shown.T.transpose().tolist()"]
)
def test_methods_of_arrays(shown: str) -> None:
    script = "import numpy as np\n" + SCRIPT.replace("print(step, shown)", f"print(step, {shown})")
    assert codes(script) == ["TMG393"]
