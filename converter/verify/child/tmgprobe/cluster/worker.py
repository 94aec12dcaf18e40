"""The workers of a cluster note the inputs and the results of their first steps, the chief the variables, too."""

from __future__ import absolute_import, division, print_function

import atexit
import os
import pickle

from tmgprobe.roles import record
from tmgprobe.session import initial


class Worker(record.Recorder):
    """Keeps its own part of each step; the chief keeps the variables, too. The job's `record` is this worker's file."""

    def __init__(self, tf, watch, channel, job):
        record.Recorder.__init__(self, tf, watch, channel, job)
        self.facts, self.written = {}, []
        self._watch_files()

    def step(self, call):
        """Takes one training step on this worker's rows; the last one ends the process."""
        chief = self.job['chief']
        store = call.store() if chief else None
        if not self.kept:
            self.facts = call.facts()
            if chief:
                self.first['initial'] = initial.read(call, store, store.read())
        before = store.read() if chief else {}
        paces = self._rates(call, None, before)
        result, applied, losses = call.run(
            [call.fetches, self._applied(call), call.step.losses], call.arrays, call.options, call.metadata
        )
        after = store.read() if chief else {}
        self.kept.append(self._step(call, before, after, (applied, losses), rates=paces))
        if chief and len(self.kept) == 1:
            self._save_first(call)
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
        # Not by `open`: the script has changed that for the files it writes.
        kept = os.open(self.job['record'], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(kept, 'wb') as file:
            pickle.dump({'steps': self.kept, 'first': self.first, 'error': self.message}, file, pickle.HIGHEST_PROTOCOL)
        atexit._run_exitfuncs()  # one that is gone could not send the others its part of the last step
        first = {'initial': self.first.get('initial', {})}
        self.channel.leave(
            'recorded', steps=len(self.kept), error=self.message, facts=self.facts, first=first, written=self.written
        )

    def _watch_files(self):
        from tensorflow.python.summary.writer import event_file_writer
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
        noting(event_file_writer.EventFileWriter, '__init__', 'event files')
