"""The tasks of a cluster: workers note the inputs and the results of their first steps, parameter servers serve.

A worker that has its token of a step has the update of that step behind it, and the next one waits for its gradient:
what the chief reads between its steps are the values after one update, and before the next.
"""

from __future__ import absolute_import, division, print_function

import os
import pickle
import re

from tmgprobe.graph import graphs
from tmgprobe.roles import record
from tmgprobe.session import initial
from tmgprobe.session import step as steps

TASK = re.compile(r'/job:(\w+)(?:/replica:\d+)?/task:(\d+)')


class Serving(object):
    """A parameter server: it is ended from outside."""

    def __init__(self, tf, watch, channel, job):
        self.watch, self.message = watch, None

    def step(self, call):
        """Never called: the script stays in the statement that makes its server."""
        return call.as_given()

    def finish(self):
        """Sends nothing."""


class Worker(record.Record):
    """Keeps its own part of each step; the chief keeps the variables, too. The job's `record` is this worker's file."""

    def __init__(self, tf, watch, channel, job):
        record.Record.__init__(self, tf, watch, channel, job)
        self.facts, self.written = {}, []
        self._watch_files()

    def step(self, call):
        """Takes one training step on this worker's rows; the last one ends the process."""
        chief = self.job['chief']
        store = call.store() if chief else None
        if not self.kept:
            self._begin(call)
            if chief:
                self.first['initial'] = initial.read(call, store, store.read())
        before = store.read() if chief else {}
        paces = self._rates(call, None, before)
        result, applied, losses = call.run(
            [call.fetches, self._applied(call), call.step.losses], call.arrays, call.options, call.metadata
        )
        self.kept.append(
            {
                'triggered': [apply.index for apply in call.step.applies],
                'drawn': call.step.numbers_drawn(),
                'arrays': call.arrays,
                'inputs': call.step.describe(call.arrays, call.sources, call.sparse),
                'before': before,
                'after': store.read() if chief else {},
                'applied': self._values(call, applied),
                'losses': losses,
                'rates': paces,
            }
        )
        if chief and len(self.kept) == 1:
            path = os.path.join(self.job['work'], 'converted.ckpt')
            saver = steps.saver(self.tf, call.session.graph, self._listed(call))
            self.first['saved'] = saver.save(call.session, path, write_meta_graph=False)
        self.channel.send('step', number=len(self.kept))
        if len(self.kept) >= self.job['steps']:
            self.finish()
        return result

    def aside(self, call):
        """Takes a run without a train op as it is."""
        return call.as_given()

    def finish(self):
        """Writes what was kept and ends the process."""
        if not self.kept:
            return
        with open(self.job['record'], 'wb') as file:
            pickle.dump({'steps': self.kept, 'first': self.first, 'error': self.message}, file, 2)
        first = {'initial': self.first.get('initial', {})}
        self.channel.leave(
            'recorded', steps=len(self.kept), error=self.message, facts=self.facts, first=first, written=self.written
        )

    def _begin(self, call):
        """Notes the facts about this worker's graph."""
        graph = call.session.graph
        self.facts = call.facts()
        variables = graphs.variables(self.tf, graph)
        listed = [one.op for name, one in sorted(variables.items()) if name in self._listed(call)]
        heavy = [op for op in call.step.backward if graphs.HEAVY.search(op.type)]
        self.facts['held_on'] = _tasks(listed)
        self.facts['computed_on'] = _tasks(heavy or call.step.backward)

    def _watch_files(self):
        from tensorflow.python.summary.writer import writer
        from tensorflow.python.training import saver

        written = self.written

        def noting(owner, name, what):
            plain = getattr(owner, name)

            def called(this, *args, **kwargs):
                if what not in written:
                    written.append(what)
                return plain(this, *args, **kwargs)

            setattr(owner, name, called)

        noting(saver.Saver, 'save', 'checkpoints')
        noting(writer.FileWriter, '__init__', 'event files')


def _tasks(operations):
    """{task: number of these operations that are placed on it}; '' for those that TensorFlow may place anywhere."""
    counts = {}
    for operation in operations:
        found = TASK.search(operation.device or '')
        name = ' '.join(found.groups()) if found else ''
        counts[name] = counts.get(name, 0) + 1
    return counts
