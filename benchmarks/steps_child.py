"""Runs scripts in turn in one process, step by step, on virtual CPU devices, and measures the steps of each.

Usage: python steps_child.py TOWERS SCRIPT:ARGUMENT:… …

Each script has a graph and a thread of its own; one at a time runs, up to its next `Session.run`. So what else the
machine does falls on all of them alike. Whichever follows a script of another kind finds the caches colder, and its
step takes a few hundredths longer: in every other turn each pair, the first and the second, the third and the fourth,
runs the other way round, so their number is even. `/gpu:i` of a script is CPU i + 1 of TOWERS + 1; one thread computes.
Prints a line of JSON: for each script the processor seconds of each run of a step and of building its graph, the
number of operations, and how many of these are the model's: what lies between inputs and gradients.
"""


import json
import os
import sys
import threading
import time

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import tensorflow.compat.v1 as tf  # noqa: E402

VARIABLES = ("Variable", "VariableV2", "VarHandleOp", "Placeholder")
UPDATES = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply", "Scatter", "ResourceScatter")


class Turn(threading.Thread):
    """One script; it computes only while it has the turn."""

    def __init__(self, path, arguments):
        threading.Thread.__init__(self)
        self.daemon = True
        self.path, self.arguments = path, arguments
        self.mine, self.given_back = threading.Semaphore(0), threading.Semaphore(0)
        self.seconds, self.built, self.graph, self.error, self.done = [], 0.0, tf.Graph(), None, False

    def go_on(self):
        """Lets the script run up to its next session run, or to its end."""
        self.mine.release()
        self.given_back.acquire()

    def run(self):
        self.mine.acquire()
        with open(self.path) as stream:
            text = stream.read().replace("'/gpu:%d' % gpu", "'/cpu:%d' % (gpu + 1)")
        self.began = time.process_time()
        try:
            with self.graph.as_default():
                sys.argv = [self.path] + self.arguments
                exec(compile(text, self.path, "exec"), {"__name__": "__main__"})
        except Exception as error:
            self.error = repr(error)
        self.done = True
        self.given_back.release()


def measure(towers):
    """Sessions have as many devices as there are towers, and one more; their runs take turns, and are timed."""
    init, run = tf.Session.__init__, tf.Session.run

    def with_devices(session, target="", graph=None, config=None):
        made = tf.ConfigProto()
        if config is not None:
            made.CopyFrom(config)
        made.device_count["CPU"] = towers + 1
        made.allow_soft_placement = True
        made.intra_op_parallelism_threads = made.inter_op_parallelism_threads = 1
        init(session, target, graph, made)

    def in_turn(session, fetches, feed_dict=None, options=None, run_metadata=None):
        turn = threading.current_thread()
        if feed_dict is None:
            turn.built = time.process_time() - turn.began
            return run(session, fetches)
        turn.given_back.release()
        turn.mine.acquire()
        start = time.process_time()
        result = run(session, fetches, feed_dict)
        turn.seconds.append(time.process_time() - start)
        return result

    tf.Session.__init__, tf.Session.run = with_devices, in_turn


def model_operations(graph):
    """How many operations lie between the inputs and the gradients, both left out."""
    todo = [i.op for op in graph.get_operations() if op.type.startswith(UPDATES) for i in op.inputs]
    seen = set()
    while todo:
        op = todo.pop()
        if op not in seen and op.type not in VARIABLES and not op.type.startswith(("Assign",) + UPDATES):
            seen.add(op)
            todo += [i.op for i in op.inputs] + list(op.control_inputs)
    return len(seen)


def main():
    measure(int(sys.argv[1]))
    turns = [Turn(*(lambda parts: (parts[0], parts[1:]))(spec.split(":"))) for spec in sys.argv[2:]]
    for turn in turns:
        turn.start()
        turn.go_on()
    order = list(turns)
    while any(not turn.done for turn in turns):
        for turn in order:
            if not turn.done:
                turn.go_on()
        order[::2], order[1::2] = order[1::2], order[::2]
    print(json.dumps([figures(turn) for turn in turns]))


def figures(turn):
    return {
        "seconds": turn.seconds,
        "built": turn.built,
        "operations": len(turn.graph.get_operations()),
        "model": model_operations(turn.graph),
        "error": turn.error,
    }


main()
