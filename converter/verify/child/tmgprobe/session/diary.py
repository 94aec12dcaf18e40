"""Records what a script does beside its training steps: files saved, summaries written, lines printed, values fetched.

Every note says how many training steps came before it. Errors that arise here are the script's own.
"""

from __future__ import absolute_import, division, print_function

import sys
import threading

import numpy as np
from tmgprobe.graph import graphs
from tmgprobe.session import draws
from tmgprobe.values import rows
from tmgprobe.values.summary import untowered

MOST = 4096  # notes of each kind
MANY_HOURS = 10000  # what TensorFlow takes for never (training/saver.py)
LONGEST = 500  # characters of a line that is kept
ROWS, MOST_ROWS = 4096, 100000  # of one result, and of all, that are remembered
FETCHED = 64  # scalars of one run that are kept


class Diary(object):
    """Notes of one script, in their order.

    steps: the number of training steps so far. notes: {kind: [note]}, see the methods that make them; each has
    its place among all of them, `order`. savers: each with the number of steps before it was made. writers:
    of summaries, in the order of their first ones.
    """

    def __init__(self):
        self.steps, self.order, self.notes, self.draws = 0, 0, {}, draws.Draws()
        self.savers, self.writers = [], []
        self.results = set()  # marks of the rows that runs gave, which later steps may be fed
        self.unordered = set()  # those of them that were read in an order which nothing sets
        self.graph_seeds = {}  # of each graph, in its first training step: a script may set one for the next graph

    def install(self, tf):
        """Begins to watch."""
        from tensorflow.python.summary.writer import writer
        from tensorflow.python.training import saver

        self.draws.install(tf)
        self.draws.install_for_data_sets()
        self._watch_savers(saver.Saver)
        self._watch_writers(tf, writer.SummaryToEventTransformer)

    def begin(self):
        """The script begins now: what it prints and seeds from here on is its own."""
        self.draws.forget()
        sys.stdout = Printing(sys.stdout, lambda line: self.note('printed', line=line[:LONGEST]))

    def note(self, kind, **what):
        """Adds a note; of what another thread does, such as a supervisor's that saves by the clock, only that it does.

        Which step that comes after is left to chance.
        """
        if threading.current_thread().name != 'MainThread':
            kind, what = 'elsewhere', {'kind': kind}
        kept = self.notes.setdefault(kind, [])
        self.order += 1
        if len(kept) < MOST:
            kept.append(dict(what, steps=self.steps, order=self.order))

    def fetched(self, session, fetches, values, trains, unordered=False):
        """Notes the numbers that one run gave to the script.

        unordered: whether it has read examples in an order that nothing sets.
        """
        if trains:
            self.graph_seeds.setdefault(session.graph, session.graph.seed)
        pairs = graphs.elements(session.graph, fetches, values)
        scalars = graphs.scalars(pairs)
        numbers = [scalars[place] for place in sorted(scalars)]
        found = [
            mark
            for _, value in pairs
            if np.ndim(value) and getattr(value, 'dtype', np.dtype('O')).kind == 'f' and len(value) <= ROWS
            for mark in (rows.marks(value, 0) if len(self.results) < MOST_ROWS else ())
        ]
        self.results.update(found)
        self.unordered.update(found if unordered else ())
        if len(numbers) <= FETCHED:
            self.note('run', trains=trains, numbers=numbers)

    def given_before(self, arrays):
        """The names of the inputs all of whose rows earlier runs gave to the script, as those of a state."""
        numbers = {name: array for name, array in arrays.items() if np.ndim(array) and array.dtype.kind == 'f'}
        return [
            name
            for name, array in sorted(numbers.items() if self.results else ())
            if len(array) and self.results.issuperset(rows.marks(array, 0))
        ]

    def has_values(self):
        """Whether some run gave numbers or rows to the script."""
        return bool(self.results) or any(note['numbers'] for note in self.notes.get('run', ()))

    def facts(self, graph):
        """All of it as plain data; graph: that of the training steps."""
        made = [(_keys(saver), steps) for saver, steps in self.savers if not _own(saver)]
        made = sorted(pair for pair in made if pair[0] is not None)
        keeping = [saver.saver_def for saver, _ in self.savers if not _own(saver) and _keys(saver) is not None]
        keeping = [(one, float(one.keep_checkpoint_every_n_hours)) for one in keeping]
        return {
            'notes': self.notes,
            'steps': self.steps,
            'savers': [keys for keys, _ in made],
            'savers made': [steps for _, steps in made],
            # how many files each keeps (0: all of them), and every how many hours one for good (0: none)
            'kept': sorted([int(one.max_to_keep), hours if hours < MANY_HOURS else 0.0] for one, hours in keeping),
            'seeds': self.draws.seeds,
            'graph seed': self.graph_seeds.get(graph, graph.seed),
            'shuffling': draws.shuffling(graph),
            'buffers': draws.buffers(graph),
        }

    def _watch_savers(self, kind):
        diary, start, save, restore = self, kind.__init__, kind.save, kind.restore

        def initialise(self, *args, **kwargs):
            start(self, *args, **kwargs)
            diary.savers.append((self, diary.steps))

        def saved(self, sess, save_path, global_step=None, *args, **kwargs):
            path = save(self, sess, save_path, global_step, *args, **kwargs)
            if not _own(self):
                diary.note('saved', file=_plain(save_path), number=_count(sess, global_step), keys=_keys(self))
            return path

        def restored(self, sess, save_path):
            result = restore(self, sess, save_path)
            if not _own(self):
                diary.note('restored', file=_plain(save_path), number=None, keys=_keys(self))
            return result

        kind.__init__, kind.save, kind.restore = initialise, saved, restored

    def _watch_writers(self, tf, kind):
        diary, add = self, kind.add_summary

        def add_summary(self, summary, global_step=None):
            result = add(self, summary, global_step)
            read = tf.Summary.FromString(summary) if isinstance(summary, bytes) else summary
            diary.writers += [] if any(self is one for one in diary.writers) else [self]
            place = [one is self for one in diary.writers].index(True)
            of = 'writer %d: ' % (place + 1) if place else ''  # as one for evaluations, behind that for training
            tags = sorted({of + untowered(value.tag) for value in read.value})
            diary.note('summary', tags=tags, number=None if global_step is None else int(global_step))
            return result

        kind.add_summary = add_summary


class Printing(object):
    """A standard output that tells of whole lines."""

    def __init__(self, stream, tell):
        self._stream, self._tell, self._begun = stream, tell, ''

    def write(self, text):
        """Writes on, and tells of the lines that end."""
        result = self._stream.write(text)
        lines = (self._begun + (text if hasattr(text, 'isalpha') else '')).split('\n')
        self._begun = lines.pop()[-LONGEST:]
        for line in lines:
            self._tell(line.split('\r')[-1])
        return result

    def writelines(self, lines):
        """As `write`, line by line."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def __iter__(self):
        return iter(self._stream)


def _keys(saver):
    """The names under which a saver writes to its files; None where it has no graph yet."""
    from tensorflow.python.framework import ops

    definition = saver.saver_def
    if definition is None:
        return None
    listed = getattr(saver, '_var_list', None) or ()
    listed = list(listed.values() if hasattr(listed, 'values') else listed)
    graph = (getattr(listed[0], 'graph', None) if listed else None) or ops.get_default_graph()
    try:
        saves = graph.get_tensor_by_name(definition.save_tensor_name).op
    except (KeyError, ValueError):
        return None
    found = set()
    for op in graphs.ancestors([saves]):
        if op.type in ('SaveV2', 'SaveSlices', 'Save') and op.inputs[1].op.type == 'Const':
            found.update(_plain(key) for key in op.inputs[1].op.get_attr('value').string_val)
    return sorted(found)


def _own(saver):
    definition = saver.saver_def
    return definition is not None and definition.save_tensor_name.startswith(draws.OWN)


def _count(session, number):
    """The number in a checkpoint's name: a number, or a variable's value."""
    if number is None or isinstance(number, (int, float)):
        return number
    try:
        return int(session.run(number)) if hasattr(number, 'op') else int(number)
    except (TypeError, ValueError):
        return None


def _plain(text):
    return text.decode('utf-8', 'replace') if isinstance(text, bytes) else u'%s' % (text,)
