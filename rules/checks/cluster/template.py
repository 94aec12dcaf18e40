"""Scripts that are not of the shape that workers can run."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import changed

SAVER, SAVED = "saver = tf.train.Saver()\n", "    saver.save(sess, 'model')\n"
ACCURACY = "accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))\n"
SHOWN = "print(sess.run(accuracy, {x: images, y: labels}))\n"

RULES = (
    Rule(
        code="TMG259",
        title="the script has another shape than workers can run",
        why="A worker runs a script of one shape: a graph that is finished before the session is opened, one `with "
        "tf.Session()`, and in it plain for loops with one training step whose batch is fed by a dict that is "
        "written out. All workers must take the same number of steps, so that no break may end the loop in one of "
        "them. What a monitored session cannot do (eval, restore, new operations) is refused, too. The message "
        "names what is in the way, the hint the smallest edit.",
        before=changed(SAVER, "", SAVED, f"    {ACCURACY}    {SHOWN}"),
        after=changed(SAVER, ACCURACY, SAVED, f"    {SHOWN}"),
        options=("--target", "cluster"),
    ),
)
