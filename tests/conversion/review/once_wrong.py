"""Kinds of wrong conversions that were mended once: which script of `once_wrong_scripts`, and how they are put back."""

from __future__ import annotations

import re
from collections.abc import Callable

Change = Callable[[str], str]
FAULTS: dict[str, tuple[str, Change]] = {}  # how it was wrong -> the script, and what makes its conversion wrong


def fault(name: str, case: str, change: Change) -> None:
    FAULTS[name] = (case, change)


def swap(old: str, new: str) -> Change:
    def change(text: str) -> str:
        assert old in text, (old, text[-2500:])
        return text.replace(old, new)

    return change


def each(pattern: str, new: str) -> Change:
    def change(text: str) -> str:
        assert re.search(pattern, text, re.MULTILINE), pattern
        return re.sub(pattern, new, text, flags=re.MULTILINE)

    return change


def seq(*changes: Change) -> Change:
    def all_of_them(text: str) -> str:
        for change in changes:
            text = change(text)
        return text

    return all_of_them


def drop(part: str) -> Change:
    """Without the lines that hold a text."""

    def change(text: str) -> str:
        assert part in text, part
        return "\n".join(line for line in text.split("\n") if part not in line)

    return change


def move(begin: str, before: str = "", after: str = "", n: int = 1) -> Change:
    """The first n lines from one that begins so, before or after the last one that begins as is said."""

    def change(text: str) -> str:
        lines = text.split("\n")
        at = next(i for i, line in enumerate(lines) if line.strip().startswith(begin))
        block = lines[at : at + n]
        del lines[at : at + n]
        found = [i for i, line in enumerate(lines) if line.strip().startswith(before or after)]
        assert found, before or after
        beside = lines[found[-1]]
        width, own = (len(line) - len(line.lstrip()) for line in (beside, block[0]))
        place = found[-1] + (0 if before else 1)
        lines[place:place] = [" " * width + line[own:] for line in block]
        return "\n".join(lines)

    return change


fault("unnamed layer moved in front", "numbered layer in front", move("side = ", before="optimizer = "))
fault("unnamed layer moved behind", "numbered layer in front", move("side = ", after="loss = tf.add_n"))
fault(
    "unnamed layer of h behind",
    "numbered layer behind",
    seq(
        move("side = tf.layers", after="loss = tf.add_n"),
        swap("tower_side.append(side[:rows])", "tower_side.append(h[:rows])"),
        swap("side = tf.concat(tower_side, 0)", ""),
        swap("side = tf.layers.dense(h, 4)", "h = tf.concat(tower_side, 0)\nside = tf.layers.dense(h, 4)"),
    ),
)
fault(
    "made behind the towers that reuse it",
    "decoder made behind reuse",
    move("with tf.variable_scope('decoder'):", after="loss = tf.add_n", n=2),
)
fault(
    "uncut value merged as rows",
    "side merged as if cut",
    seq(
        swap("tower_loss, tower_grads = [], []", "tower_loss, tower_grads, tower_side = [], [], []"),
        each("^        tower_loss.append", "        tower_side.append(side[:rows])\n        tower_loss.append"),
        swap("loss = tf.add_n(tower_loss)", "loss = tf.add_n(tower_loss)\nside = tf.concat(tower_side, 0)"),
    ),
)
fault(
    "rows in a collection",
    "collection of rows",
    seq(move("tf.add_to_collection('rows'", after="h = tf.layers"), drop("h = tf.concat"), drop("tower_h.append")),
)
fault("counter not reset", "counter", drop("count[:] = first_count"))
fault("list of names not reset", "counter", drop("names[:] = first_names"))
fault("class attribute not reset", "class attribute counter", drop("Net.made = first_made"))
fault("cached attribute not reset", "cached attribute", drop("net.__dict__.pop"))
fault("list of decay not reset", "weight decay list", drop("decay[:] = first_decay"))
fault(
    "towers see each other's losses",
    "weight decay collection",
    swap(", \\\n            tower_collections.tower(gpu):", ":"),
)
fault(
    "summary of one tower",
    "summary of loss",
    seq(move("with tf.name_scope('summaries')", before="tower_grads.append", n=3)),
)
fault(
    "accuracy of one tower",
    "accuracy of one tower",
    seq(move("accuracy =", before="tower_p.append"), move("hit =", before="accuracy =")),
)
fault(
    "constructor's size not scaled",
    "two sizes of a class",
    swap("Model(16 * num_gpus, None)", "Model(16, None)"),
)
fault(
    "feed not scaled",
    "two sizes of a class",
    swap("global_batch_size = 16 * num_gpus", "global_batch_size = 16"),
)
fault(
    "epoch's count not scaled (literal)",
    "literal sizes",
    swap("(len(data) // (64 * num_gpus))", "(len(data) // 64)"),
)
fault("batch not scaled (literal)", "literal sizes", swap("next_batch(64 * num_gpus)", "next_batch(64)"))
fault("evaluation's rows scaled", "literal sizes", swap("test[:64]", "test[:64 * num_gpus]"))
fault("schedule's steps not scaled", "decay steps", swap("640 // batch_size", "640 // 16"))
fault("schedule's steps scaled twice", "decay steps", swap("640 // batch_size", "640 // (batch_size * num_gpus)"))
fault("pipeline not scaled", "dataset batch", swap(".batch(batch_size)", ".batch(16)"))
fault("pipeline's epoch not scaled", "dataset batch", swap("range(640 // batch_size)", "range(640 // 16)"))
fault(
    "mean of an epoch not scaled",
    "mean of epoch",
    swap("total += c / n_batches", "total += c / int(len(data) / 16)"),
)
fault(
    "divided by the whole batch",
    "static size in model",
    swap("tf.square(p - y)) / batch_size", "tf.square(p - y)) / global_batch_size"),
)
fault("session without config", "session config", swap("tf.Session(config=config)", "tf.Session()"))
fault(
    "clipped in each tower",
    "clipped",
    seq(
        move("opt = tf.train", before="x_batch, y_batch"),
        drop("pairs = tower_gradients"),
        drop("pairs = [(tf.clip"),
        swap(
            "        tower_loss.append(loss * weight)",
            "        pairs = opt.compute_gradients(loss * weight)\n"
            "        pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]\n        tower_loss.append(pairs)",
        ),
        swap("loss = tf.add_n(tower_loss)\n", ""),
        swap("apply_gradients(pairs)", "apply_gradients(sum_gradients(tower_loss))"),
    ),
)
fault("global step not counted", "global step", swap(", global_step=step", ""))
fault(
    "each tower minimises",
    "global step",
    seq(
        move("step = tf.Variable", before="optimizer ="),
        swap(
            "        tower_grads.append(optimizer.compute_gradients(loss * weight))",
            "        train_op = optimizer.minimize(loss * weight, global_step=step)",
        ),
        drop("train_op = optimizer.apply_gradients("),
    ),
)
fault("updates of all towers", "update ops", swap(", first_tower_updates(gpu):", ":"))
fault(
    "updates not apart",
    "update ops",
    swap("tower_collections.tower(gpu), first_tower_updates(gpu):", "first_tower_updates(gpu):"),
)
fault("saver of the last tower", "saver in between", drop("saver = tower_saver[0]"))
fault("saver in front of the variables", "saver after", move("saver =", before="optimizer ="))
fault("variables of each tower", "raw variables", swap(", shared_variables.tower(gpu):", ":"))
fault("no reuse of variables", "session config", swap(", reuse=gpu > 0):", "):"))
fault(
    "no device of the tower",
    "session config",
    swap("with tf.device(tower_device(gpu)), tf.name_scope", "with tf.name_scope"),
)
fault(
    "losses swapped",
    "two losses",
    swap("tower_gradients(optimizer_2, tower_loss)", "tower_gradients(optimizer_2, tower_other)"),
)
fault(
    "one optimizer for both",
    "two losses",
    swap("tower_gradients(optimizer_2, tower_loss)", "tower_gradients(optimizer, tower_loss)"),
)
fault(
    "applied by another optimizer",
    "two losses",
    swap("train_op = optimizer_2.apply", "train_op = optimizer.apply"),
)
fault("seed behind the model", "seed", move("tf.set_random_seed", after="loss = tf.add_n"))
fault("attribute not restored", "attribute bound to input", drop("self.inputs, self.y = inputs_batch"))
fault("reuse before it is made", "model elsewhere", move("shown =", before="optimizer ="))
fault("second model in the towers", "model elsewhere", move("shown =", before="tower_grads.append"))
fault(
    "cut along the steps",
    "time major",
    seq(
        swap(
            "(x,), rows_x, weight_x = shard_along([x_batch], [1], gpu)",
            "(x,), rows_x, weight_x = shard([x_batch], gpu)",
        )
    ),
)
fault("sum begun in front of the towers", "loss by turns", move("loss = 0.", before="optimizer ="))
fault(
    "term of a branch behind the towers",
    "loss in branch",
    seq(
        move("if wide:", after="loss = tf.add_n", n=2),
        swap("tower_loss, tower_grads = [], []", "tower_loss, tower_grads, tower_p = [], [], []"),
        each("^        tower_loss.append", "        tower_p.append(p[:rows])\n        tower_loss.append"),
        swap("loss = tf.add_n(tower_loss)\n", "loss = tf.add_n(tower_loss)\np = tf.concat(tower_p, 0)\n"),
    ),
)
fault(
    "value of a branch not merged",
    "attribute of one branch",
    seq(
        drop("if tower_more:"),
        drop("self.more = tf.concat"),
        drop("if hasattr(self, 'more')"),
        drop("tower_more.append"),
    ),
)
fault("item of a dict not merged", "returned dict", drop("p = tf.concat(tower_p, 0)"))
fault("item of a list not merged", "list of layers", drop("layers[1] = tf.concat"))
fault("another item merged", "list of layers", swap("layers[1] = tf.concat", "layers[2] = tf.concat"))
fault("print after the name is bound again", "name rebound print", move("print('h'", after="loss = tf.add_n"))
fault(
    "scores of a shard",
    "scores",
    seq(
        move("scores =", before="p = tf.layers"),
        swap("tower_u.append(u[:rows])", "tower_u.append(scores[:rows])"),
        swap("u = tf.concat(tower_u, 0)", "scores = tf.concat(tower_u, 0)"),
    ),
)
fault(
    "size of a flag counted twice",
    "flag size twice",
    swap("next_batch(config.batch_size)", "next_batch(config.batch_size * num_gpus)"),
)
fault(
    "epoch counted twice",
    "flag size twice",
    swap("640 // config.batch_size", "640 // (config.batch_size * num_gpus)"),
)
fault(
    "number of GPUs set after its use",
    "flag size twice",
    move("num_gpus = args.num_gpus", after="config.batch_size ="),
)
fault("learning rate scaled", "session config", swap("AdamOptimizer(0.01)", "AdamOptimizer(0.01 * num_gpus)"))
fault("examples not counted", "counted examples", swap("while step * batch_size <", "while step * 16 <"))
fault("optimizer in each tower", "session config", move("optimizer =", before="tower_grads.append"))
fault(
    "placeholder in each tower",
    "session config",
    seq(
        drop("(x, y), rows, weight"),
        drop("x_batch, y_batch = x, y"),
        drop("x, y = x_batch"),
        move("x = tf.placeholder", before="loss = tf.reduce"),
        move("y = tf.placeholder", before="loss = tf.reduce"),
        swap("* weight", "* (1. / num_gpus)"),
    ),
)
fault(
    "initializer in front of the variables",
    "session config",
    swap("x_batch, y_batch = x, y", "init = tf.global_variables_initializer()\nx_batch, y_batch = x, y"),
)
fault("averaged loss of one tower", "session config", swap("loss = tf.add_n(tower_loss)", "loss = tower_loss[0]"))
fault("loss not merged", "epoch not followed", drop("loss = tf.add_n(tower_loss)"))

fault(
    "list of the last tower, of the model that was built first",
    "lists of a model that is built twice",
    seq(drop(".append(self.layers["), drop("self.layers[1] = tf.concat("), drop("self.layers[2] = tf.concat(")),
)
