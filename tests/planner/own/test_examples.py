"""An input of its own for each tower, fed with what as many calls of the script's reader give."""

from __future__ import annotations

import pytest

from tests.own_examples import DICTS, READER
from tests.scripts import body, codes, converted, run

MODEL = """\
image = tf.placeholder(tf.float32, [1, None, None, 3])
boxes = tf.placeholder(tf.float32, [None, 4])
hidden = tf.layers.conv2d(image, 8, 3)
guess = tf.layers.dense(tf.reduce_mean(hidden, [1, 2]), 4)
box_loss = tf.reduce_mean(tf.square(boxes - guess))
loss = box_loss + 0.1 * tf.reduce_mean(tf.square(hidden))
train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
reader = Reader(20)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
"""
LOOP = """\
for step in range(30):
    blobs = reader.forward()
    feed = {image: blobs['image'], boxes: blobs['boxes']}
    _, value, part = sess.run([train_op, loss, box_loss], feed_dict=feed)
    print(step, value, part)
"""
SCRIPT = READER + MODEL + LOOP
METHOD = (
    READER
    + """\

class Net(object):
    def __init__(self):
        self.image = tf.placeholder(tf.float32, [1, None, None, 3], name='image')
        self.boxes = tf.placeholder(tf.float32, [None, 4])
        self.keep = tf.placeholder(tf.float32)
        hidden = tf.nn.dropout(tf.layers.conv2d(self.image, 8, 3), self.keep)
        self.guess = tf.layers.dense(tf.reduce_mean(hidden, [1, 2]), 4)

    def train_step(self, sess, blobs, train_op):
        feed_dict = {self.image: blobs['image'], self.boxes: blobs['boxes'], self.keep: 0.5}
        sess.run(train_op, feed_dict)


def train(steps):
    net = Net()
    reader = Reader(20)
    loss = tf.reduce_mean(tf.square(net.boxes - net.guess))
    train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        step = 0
        while step < steps:
            blobs = reader.forward()
            net.train_step(sess, blobs, train_op)
            step += 1
        held = Reader(5).forward()
        print(sess.run(loss, {net.image: held['image'], net.boxes: held['boxes'], net.keep: 1.0}))


train(30)
"""
)


def test_placeholders_of_the_script() -> None:
    lines = body(SCRIPT)
    assert "        (image, boxes), rows, weight = own_inputs([image_batch, boxes_batch], gpu)" in lines
    assert "    blobs = read_for_towers(reader.forward)" in lines
    assert any("feed_dict=feed_for_towers(feed))" in line for line in lines)
    assert "        tower_box_loss.append(box_loss * weight)" in lines  # a term of the loss is a mean, as the loss is
    assert codes(SCRIPT) == []


def test_placeholders_of_a_model_that_is_fed_in_a_method() -> None:
    lines = body(METHOD)
    assert "    tower_inputs = OwnInputs()" in lines
    assert "            blobs = read_for_towers(reader.forward)" in lines
    assert "        sess.run(train_op, feed_for_towers(feed_dict))" in lines
    assert any("net.image" in line and "tower_inputs.whole(net.image)" in line for line in lines)
    assert codes(METHOD) == []


def test_a_step_that_fails_may_be_left_out() -> None:
    step = "            net.train_step(sess, blobs, train_op)\n"
    script = METHOD.replace(
        step, f"            try:\n    {step}            except Exception:\n                continue\n"
    )
    assert "            blobs = read_for_towers(reader.forward)" in body(script)


def test_an_evaluation_goes_on_feeding_one_example() -> None:
    more = "held = Reader(5).forward()\nprint(sess.run(loss, {image: held['image'], boxes: held['boxes']}))\n"
    assert "".join(line + "\n" for line in body(SCRIPT + more)).endswith(more)


def test_what_is_decided_says_it() -> None:
    (inputs,) = [one.text for one in run(SCRIPT).decisions if one.topic == "inputs"]
    assert inputs == "image, boxes for each tower, each step reads an example for each"


def test_a_summary_of_an_input_shows_the_first_tower_s() -> None:
    more = "tf.summary.image('input', image)\nsummary = tf.summary.merge_all()\nreader = "
    script = SCRIPT.replace("reader = ", more, 1).replace("[train_op, loss,", "[(train_op, summary), loss,")
    assert "read_for_towers(" in converted(script)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("blobs = reader.forward()", "picture, things = reader.both()"),
        ("blobs = reader.forward()", "blobs = next(examples)"),
        ("blobs = reader.forward()", "blobs = read_one('train')"),
        ("blobs = reader.forward()", "blobs = read_one(split='train')"),
        ("range(30)", "range(10, 30 * 2)"),
        ("print(step, value, part)", "print('%d of %d' % (step, 30), value, part)"),
        ("print(step, value, part)", "if step % 10 == 0:\n        print(step, value, part)"),
    ],
)
def test_other_ways_to_read(old: str, new: str) -> None:
    more = """\
    def both(self):
        blobs = self.forward()
        return blobs['image'], blobs['boxes']


def endless(reader):
    while True:
        yield reader.forward()


def read_one(split):
    return Reader(len(split)).forward()


"""
    script = SCRIPT.replace("\nimage = tf", more + "\nimage = tf", 1).replace(old, new)
    script = script.replace("for step", "examples = endless(reader)\nfor step")
    if "picture" in new:
        script = script.replace("blobs['image'], boxes: blobs['boxes']", "picture, boxes: things")
    assert "read_for_towers(" in converted(script)


# Near misses: N calls in a row would not be N steps of the script, or something else sees the examples.
@pytest.mark.parametrize(
    ("old", "new"),
    [
        # the call does not give another example, or cannot be repeated
        ("blobs = reader.forward()", "blobs = read_at(step)"),
        ("blobs = reader.forward()", "blobs = data[step]"),
        ("blobs = reader.forward()", "reader.place = step\n    blobs = reader.forward()"),
        ("blobs = reader.forward()", "move(reader, step)\n    blobs = reader.forward()"),
        ("blobs = reader.forward()", "try:\n        blobs = next(examples)\n    except StopIteration:\n        break"),
        ("blobs = reader.forward()", "reader = Reader(step + 1)\n    blobs = reader.forward()"),
        ("blobs = reader.forward()", "blobs = unknown_reader.forward()"),
        # the loop looks at how far the reader has come
        ("print(step, value, part)", "print(step, value, part)\n    if reader.place == 0:\n        evaluate()"),
        ("print(step, value, part)", "print(step, value, part)\n    if at_start(reader):\n        evaluate()"),
        ("print(step, value, part)", "print(step, value, part)\n    if other.place == 0:\n        evaluate()"),
        ("blobs = reader.forward()", "blobs = next(examples)\n    if reader.place == 0:\n        evaluate()"),
        ("blobs = reader.forward()", "reader.place = step\n    blobs = next(examples)"),
        # the same example is used once more
        ("print(step, value, part)", "print(step, value, part, blobs['boxes'].shape)"),
        ("print(step, value, part)", "history.append(blobs)"),
        ("feed = {image: blobs['image'],", "feed = {image: blobs['image'] / 255.0,"),
        ("feed = {image: blobs['image'],", "feed = {image: preprocess(blobs['image']),"),
        ("    _, value", "    feed[image] = feed[image] / 255.0\n    _, value"),
        ("print(step, value, part)", "sess.run(loss, {image: feed[image], boxes: feed[boxes]})"),
        # the loop counts examples
        ("range(30)", "range(len(data))"),
        ("range(30)", "range(reader.count)"),
        ("range(30)", "range(num_examples)"),
        ("range(30)", "range(0, 30, 2)"),
        ("range(30)", "data"),
        ("print(step, value, part)", "if step % len(data) == 0:\n        print(step, value, part)"),
        # a value of one example decides
        ("print(step, value, part)", "if sess.run(tf.reduce_max(hidden), feed) > 3.0:\n        break"),
        # a value of the first tower's example alone
        ("[train_op, loss, box_loss]", "[train_op, loss, largest]"),
        # not every input comes from the reader
        ("boxes: blobs['boxes']}", "boxes: data[0]}"),
        # examples are fed in a way that is not seen
        ("feed_dict=feed", "feed_dict=dict(feed)"),
    ],
)
def test_near_misses(old: str, new: str) -> None:
    before = """\
num_examples, largest = 500, tf.reduce_max(image)
data, history, other = load(), [], reader


def at_start(reader):
    return reader.place == 0


def move(reader, step):
    reader.place = step


def read_at(step):
    return Reader(step + 1).forward()


def evaluate():
    print(sess.run(loss, feed_dict={image: np.ones([1, 9, 9, 3]), boxes: np.ones([2, 4])}))


def endless():
    while True:
        yield reader.forward()


examples = endless()
"""
    assert "read_for_towers(" in converted(READER + MODEL + before + LOOP)
    conversion = run(READER + MODEL + before + LOOP.replace(old, new))
    assert "read_for_towers(" not in (conversion.text or "")


def test_the_script_s_batch_as_the_total_cannot_be_shared() -> None:
    assert "TMG218" in codes(SCRIPT, batch="total")


def test_examples_of_one_shape_are_no_inputs_of_their_own() -> None:
    script = SCRIPT.replace("[1, None, None, 3]", "[4, 9, 9, 3]").replace("[None, 4]", "[3, 4]")
    assert "read_for_towers(" not in (run(script).text or "")


def test_two_losses_that_are_fed_one_example() -> None:
    two = "other_op = tf.train.AdamOptimizer().minimize(box_loss)\nreader = "
    script = SCRIPT.replace("reader = ", two, 1).replace("[train_op, loss", "[(train_op, other_op), loss")
    assert run(script).status == "refused"


def test_values_in_dicts_that_are_put_into_others() -> None:
    lines = body(DICTS)
    assert "        self.results['target'] = merge_shown(tower_target)" in lines
    assert "        self.losses['near'] = tf.add_n(tower_near)" in lines
    assert codes(DICTS) == ["TMG393"]


def test_a_dict_of_the_towers_that_gets_more_behind_the_loop() -> None:
    begins = "        layers = {'hidden': hidden}\n"
    script = DICTS.replace(begins, "").replace("        guess = tf.layers", f"{begins}        guess = tf.layers", 1)
    total = "        self.losses['total'] ="
    script = script.replace(total, f"        layers['far'] = self.losses['size']\n{total}")
    script = script.replace("+ 0.1 * self.losses['size']", "+ 0.1 * layers['far']")
    lines = body(script)
    assert "        layers['far'] = tf.add_n(tower_far)" in lines
    assert not any("tower" in line and "layers['guess']" in line for line in lines)  # it is not there yet


def test_a_value_out_of_such_a_dict_that_decides() -> None:
    read = "feed = {self.net.image: blobs['image'], self.net.boxes: blobs['boxes']}\n"
    decides = "            if sess.run(layers['guess'], feed).max() > 2.0:\n                break\n"
    script = DICTS.replace("            step += 1\n", f"            {read}{decides}            step += 1\n")
    assert run(script).status == "refused"
