"""Values that no merging gives: computed once more after the loop, or refused."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, parts, run

PREDICTION = "prediction = tf.layers.dense(X, 1)\n"
TRAINED = "train_op = optimizer.apply_gradients(sum_gradients(tower_grads))"
LOSS = "loss = tf.reduce_mean(tf.square(prediction - Y))"


def script(between: str, loss: str, read: str) -> str:
    """A model with statements in front of its loss, and a reader of what they made."""
    return INPUTS + PREDICTION + between + "\n" + loss + "\n" + STEP + read + "\n" + TRAINING


def after_the_loop(between: str, used: str, read: str) -> list[str]:
    return parts(script(between, f"{LOSS} + {used}", read))[2]


@pytest.mark.parametrize(
    ("line", "merged"),
    [
        ("top = tf.reduce_max(prediction)", "prediction = tf.concat(tower_prediction, 0)"),
        ("top = tf.sqrt(tf.reduce_mean(prediction))", "prediction = tf.concat(tower_prediction, 0)"),
        ("m = tf.reduce_mean(prediction)\ntop = tf.sqrt(m)", "m = tf.add_n(tower_m)"),
        ("m = tf.reduce_sum(prediction)\nn = tf.reduce_sum(Y)\ntop = m / n", "n = tf.add_n(tower_n)"),
        ("m, v = tf.nn.moments(Y, [0])\ntop = tf.reduce_mean(v)", "X, Y = X_batch, Y_batch"),
    ],
    ids=["maximum", "root", "root of a mean", "ratio", "variance"],
)
def test_what_cannot_be_merged_is_computed_once_more(line: str, merged: str) -> None:
    after = after_the_loop(line, "0.1 * top", "tf.summary.scalar('top', top)")
    last = line.splitlines()[-1]
    assert after.index(merged) < after.index(last) < after.index("tf.summary.scalar('top', top)")


def test_a_chain_is_computed_once_more_in_its_order() -> None:
    lines = ["a = tf.reduce_max(prediction)", "b = a * a", "c = b + a"]
    after = after_the_loop("\n".join(lines), "0.1 * c", "tf.summary.scalar('c', c)")
    assert [line for line in after if line in lines] == lines


def test_a_sum_with_a_term_beside_it_is_not_added_up() -> None:
    line = "total = tf.reduce_sum(prediction) + 1.0"
    after = after_the_loop(line, "0.1 * tf.square(total)", "tf.summary.scalar('total', total)")
    assert after[1:4] == ["loss = tf.add_n(tower_loss)", "prediction = tf.concat(tower_prediction, 0)", line]


@pytest.mark.parametrize("count", ["n = tf.shape(X)[0]", "n = tf.to_float(tf.shape(X)[0])", "n = int(X.shape[0])"])
def test_a_number_of_examples_is_counted_once_more(count: str) -> None:
    rate = "tf.reduce_sum(prediction) / tf.to_float(n)"
    after = after_the_loop(count, rate, "rate = tf.reduce_sum(Y) / tf.to_float(n)")
    assert after.index(count) > after.index("X, Y = X_batch, Y_batch")


def test_the_scope_around_is_opened_once_more() -> None:
    lines = "with tf.name_scope('stats'):\n    m = tf.reduce_max(prediction)\n    top = tf.square(m, name='top')"
    after = after_the_loop(lines, "0.1 * top", "tf.summary.scalar('top', top)\ntf.summary.scalar('m', m)")
    place = after.index("with tf.name_scope('stats'):")
    assert after[place + 1 : place + 3] == ["m = tf.reduce_max(prediction)", "top = tf.square(m, name='top')"]
    assert after.count("with tf.name_scope('stats'):") == 1


@pytest.mark.parametrize(
    "lines",
    [
        "top = tf.reduce_max(tf.layers.dense(prediction, 3))",
        "top = tf.reduce_max(prediction + tf.random_normal([1]))",
        "top = tf.reduce_max(tf.nn.dropout(prediction, 0.5))",
        "if batch_size > 3:\n    top = tf.reduce_max(prediction)\nelse:\n    top = tf.reduce_min(prediction)",
        "p = prediction * 2\ntop = tf.reduce_max(p)\np = p + 1",
        "top = tf.reduce_mean(prediction)\ntop = tf.sqrt(top)",
        "top = tf.reduce_max(prediction)\ntop += 1",
        "with tf.control_dependencies([prediction]):\n    top = tf.reduce_max(prediction)",
        "def largest(x):\n    h = tf.layers.dense(x, 2)\n    return tf.reduce_max(h)\n\n\ntop = largest(prediction)",
    ],
    ids=[
        "variables",
        "random",
        "dropout",
        "branch",
        "read of another value",
        "rebound",
        "augmented",
        "control",
        "function",
    ],
)
def test_what_would_not_be_the_same_twice_is_refused(lines: str) -> None:
    loss = f"{LOSS} + 0.1 * top" + (" + tf.reduce_mean(p)" if lines.startswith("p =") else "")
    assert codes(script(lines, loss, "tf.py_func(decide, [top], [])"))[-1] == "TMG210"


def test_what_nobody_reads_is_not_repeated() -> None:
    after = after_the_loop("top = tf.reduce_max(prediction)", "0.1 * top", "")
    assert after[1:3] == ["loss = tf.add_n(tower_loss)", TRAINED]


DRAWN = "dist = tf.distributions.Normal(prediction, 1.0)"


def test_a_distribution_is_made_once_more_of_merged_parameters() -> None:
    after = after_the_loop(DRAWN, "tf.reduce_mean(dist.log_prob(Y))", "drawn = dist.sample()")
    merged = "prediction = tf.concat(tower_prediction, 0)"
    assert after.index(merged) < after.index(DRAWN) < after.index("drawn = dist.sample()")


def test_what_a_distribution_gives_is_merged_where_it_is_named_between_the_statements_of_the_model() -> None:
    between = f"{DRAWN}\ndrawn = dist.sample()\nlikely = dist.log_prob(Y)"
    _, inside, after = parts(script(between, f"{LOSS} - tf.reduce_mean(likely)", "print(drawn)"))
    assert inside.index(DRAWN) < inside.index("drawn = dist.sample()")
    assert after[1:4] == ["loss = tf.add_n(tower_loss)", "drawn = tf.concat(tower_drawn, 0)", TRAINED]


def test_a_distribution_of_no_batch_is_left_alone() -> None:
    prior = "prior = tf.distributions.Normal(0.0, 1.0)"
    after = after_the_loop(prior, "tf.reduce_mean(prior.log_prob(prediction))", "drawn = prior.sample(10)")
    assert after[1:4] == ["loss = tf.add_n(tower_loss)", TRAINED, "drawn = prior.sample(10)"]


def test_a_distribution_that_a_function_makes_beside_variables_is_refused_where_it_is_read_later() -> None:
    made = "def make(x):\n    return tf.distributions.Normal(tf.layers.dense(x, 1), 1.0)\n\n\ndist = make(X)"
    found = codes(script(made, f"{LOSS} - tf.reduce_mean(dist.log_prob(Y))", "drawn = dist.sample()"))
    assert found == ["TMG210"]


SCORES = """
import tensorflow as tf

batch_size = 32
users = tf.placeholder(tf.int32, [None])
items = tf.placeholder(tf.int32, [None])
user_table = tf.get_variable('users', [50, 8])
item_table = tf.get_variable('items', [60, 8])
u = tf.nn.embedding_lookup(user_table, users)
i = tf.nn.embedding_lookup(item_table, items)
{scores}
loss = tf.reduce_mean(tf.nn.softplus(-tf.reduce_sum(u * i, 1)))
train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        one, other = next_batch(batch_size)
        sess.run(train_op, {users: one, items: other})
    print(sess.run(scores, {users: [1, 2], items: range(60)}))
"""


@pytest.mark.parametrize(
    ("scores", "again", "merged"),
    [
        ("scores = tf.matmul(u, i, transpose_b=True)", ["u", "i"], []),
        ("scores = tf.matmul(u, u, transpose_b=True)", [], ["u"]),
        ("scores = tf.reduce_sum(u * i, 1)", [], ["u", "i"]),
    ],
    ids=["items for users", "users for users", "pairs"],
)
def test_scores_of_one_input_for_another_are_made_of_whole_inputs(
    scores: str, again: list[str], merged: list[str]
) -> None:
    """In a run that does not train there may be other numbers of them, which no shards fit both."""
    after = parts(SCORES.replace("{scores}", scores))[2]
    assert [line[0] for line in after if "embedding_lookup" in line] == again
    assert [line[0] for line in after if line.startswith(("u = tf.concat", "i = tf.concat"))] == merged


MODEL = """
class Ratings(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.y = tf.placeholder(tf.float32, [None])
        self.predict()
        {around}self.add_losses()
        self.step = tf.train.AdamOptimizer(0.1).minimize(self.loss)

    def predict(self):
        self.score = tf.reduce_sum(self.x * tf.get_variable('w', [3]), 1)

    def add_losses(self):
        with {scope}:
            {line}
            self.error = tf.reduce_mean(tf.square(self.y - self.score))
            self.loss = self.error + self.top


batch_size = 8
model = Ratings()
with tf.Session() as sess:
    for begin in range(0, 64, batch_size):
        batch = {model.x: images[begin:begin + batch_size], model.y: labels[begin:begin + batch_size]}
        sess.run(model.step, batch)
        print(sess.run([model.top, model.error, model.loss], batch))
"""
ROOT = "self.top = tf.sqrt(tf.reduce_mean(self.score))"


def model(line: str = ROOT, scope: str = "tf.name_scope('losses')", around: str = "") -> str:
    text = MODEL.replace("{line}", line).replace("{scope}", scope).replace("{around}", around)
    return "import tensorflow as tf\n" + text


@pytest.mark.parametrize("scope", ["tf.name_scope('losses')", "tf.variable_scope('losses')"])
def test_the_call_that_makes_it_is_repeated(scope: str) -> None:
    after = parts(model(scope=scope))[2]
    begin = after.index("self.add_losses()")
    assert after[begin - 1 : begin + 2] == [
        "self.score = tf.concat(tower_score, 0)",
        "self.add_losses()",
        "self.loss = tf.add_n(tower_loss)",
    ]
    assert "self.error = tf.add_n(tower_error)" not in after


def test_a_call_under_a_scope_is_repeated_under_it() -> None:
    after = parts(model(around="with tf.name_scope('all'):\n            "))[2]
    assert after[after.index("with tf.name_scope('all'):") + 1] == "self.add_losses()"


@pytest.mark.parametrize(
    "line",
    [
        f"{ROOT}\n            self.hidden = tf.layers.dense(self.x, 2)",
        f"{ROOT}\n            tf.summary.scalar('top', self.top)",
        "self.top = tf.sqrt(tf.reduce_mean(tf.nn.dropout(self.score, 0.5)))",
        f"{ROOT}\n            tf.add_to_collection('losses', self.top)",
        f"{ROOT}\n            self.score = self.score * 2",
    ],
    ids=["a layer", "a summary", "dropout", "a collection", "what it reads"],
)
def test_a_call_that_does_more_is_not_repeated(line: str) -> None:
    assert "TMG393" in codes(model(line))  # the value is only shown
    after = parts(model(line))[2]
    assert "self.top = merge_shown(tower_top)" in after and "self.add_losses()" not in after


def test_what_can_be_merged_is_merged() -> None:
    after = parts(model("self.top = tf.reduce_mean(self.score)"))[2]
    assert "self.add_losses()" not in after


TOGETHER = """\
def losses(prediction, wanted):
    error = tf.square(prediction - wanted)
    top = tf.reduce_max(error)
    return tf.reduce_mean(error), top


loss, top = losses(prediction, Y)
"""


@pytest.mark.parametrize("inside", ["", "    wanted = tf.identity(wanted)\n"])
def test_a_statement_that_makes_the_loss_beside_it_leaves_what_was_minimised(inside: str) -> None:
    model = TOGETHER.replace("    error =", f"{inside}    error =")
    after = parts(INPUTS + PREDICTION + model + STEP + "tf.summary.scalar('top', top)\n" + TRAINING)[2]
    assert after.index("loss, top = losses(prediction, Y)") < after.index("loss = tf.add_n(tower_loss)")
    assert after.count("loss = tf.add_n(tower_loss)") == 1


@pytest.mark.parametrize(("lines", "place"), [("top = tf.reduce_max(f(prediction))", " (line 4)"), ("top = f(X)", "")])
def test_a_refusal_says_where_the_rows_were_lost(lines: str, place: str) -> None:
    """The value itself is made of what the function gave, in another line."""
    model = INPUTS.replace("X = ", "def f(x): return tf.layers.dense(x[:7], 1)\nX = ") + PREDICTION + lines + "\n"
    read = "tf.py_func(decide, [top], [])\n"
    (found,) = [
        d for d in run(model + f"{LOSS} + 0.1 * top\n" + STEP + read + TRAINING).diagnostics if d.code == "TMG210"
    ]
    assert found.message.endswith(f"a part of the batch is taken{place}")


CHOSEN = """\
class A(object):
    def __init__(self, x):
        self.held = []
        self.build(x)

    def build(self, x):
        self.held.append(tf.layers.dense(x, 1))
        self.held.append(tf.py_func(f, [x], tf.float32))

    def get(self):
        return self.held


class B(A):
    def build(self, x):
        self.held.append(tf.layers.dense(x, 1))
        self.held.append(tf.py_func(g, [x], tf.float32))


net = {'a': A, 'b': B}[sys.argv[1]](X)
found = net.get()"""


def test_what_a_method_hands_out_is_not_asked_for_once_more() -> None:
    """It gives the last tower's list, in a place of an object that the loop's code cannot name."""
    text = script(CHOSEN, LOSS.replace("prediction", "found[0]"), "top = tf.image.resize_images(found[-1], [3, 4])")
    assert codes("import sys\n" + text.replace(PREDICTION, "")) == ["TMG210"]


RATED = """\
import tensorflow as tf

batch_size = 8


class Recommender(object):
    def __init__(self):
        self.u, self.p = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
        self.build()
        scores = tf.reduce_sum(self.users * self.items, 1)
        self.loss = tf.reduce_mean(tf.square(scores - tf.reduce_sum(self.bias, 1)))
        self.step = tf.train.AdamOptimizer(0.1).minimize(self.loss)

    def build(self):
        users, items = tf.get_variable('users', [20, 4]), tf.get_variable('items', [30, 4])
        {lookup}
        self.bias = tf.layers.dense(self.items, 1)
        {rated}


net = Recommender()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        sess.run(net.step, {{net.u: draw(batch_size), net.p: draw(batch_size)}})
    print(sess.run(net.ratings, {{net.u: some, net.p: others}}).argmax(1))
"""
LOOKUP = (
    "self.users = tf.nn.embedding_lookup(users, self.u)\n        self.items = tf.nn.embedding_lookup(items, self.p)"
)
OBJECT = LOOKUP.replace("embedding_lookup(users", "embedding_lookup(self.tables[0]").replace(
    "embedding_lookup(items", "embedding_lookup(self.tables[1]"
)
TABLES = "self.tables = [users, items]\n        " + OBJECT
RATINGS = "self.ratings = tf.matmul(self.users, self.items, transpose_b=True)"


def test_a_statement_of_a_method_is_computed_once_more() -> None:
    after = run(RATED.format(lookup=TABLES, rated=RATINGS)).text or ""
    _, _, after = after.partition("# From here on: the whole batch.")
    lines = [line.strip() for line in after.partition("def build")[0].splitlines()]
    first = "self.users = tf.nn.embedding_lookup(self.tables[0], self.u)"
    second = "self.items = tf.nn.embedding_lookup(self.tables[1], self.p)"
    assert lines.index(first) < lines.index(second) < lines.index(RATINGS)


@pytest.mark.parametrize(
    ("lookup", "rated"),
    [
        (LOOKUP, RATINGS),  # names of the method
        (TABLES, f"with tf.name_scope('rate'):\n            {RATINGS}"),
        (TABLES, f"for _ in range(1):\n            {RATINGS}"),
    ],
    ids=["local", "block", "loop"],
)
def test_what_means_something_else_behind_the_loop_is_not(lookup: str, rated: str) -> None:
    assert codes(RATED.format(lookup=lookup, rated=rated)) == ["TMG210"]
