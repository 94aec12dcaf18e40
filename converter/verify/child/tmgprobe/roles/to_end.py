"""A script's run from its beginning to its end, as it is: how many steps it takes, on what, and what it does beside.

Each side keeps marks of the examples that go into its steps and into the runs between them (reference/stream.py).
The conversion's process writes its marks to a file, the original's holds them against its own. What was seen when the
first epoch ended is kept, too: it is compared where one of both scripts does not end in time.
"""

from __future__ import absolute_import, division, print_function

import copy
import json
import threading

from tmgprobe.graph import rates
from tmgprobe.reference import stream
from tmgprobe.roles.role import Role

FEW, ENOUGH = 5, 20  # steps of the original's other run that tell whether it repeats itself, if there are so many


class WholeRun(Role):
    """Lets a script run to its end, to the end of so many epochs, or until its time is up.

    The job has `inputs`, {train op as text: see `described` in reference/stream.py}; `seconds`;
    `epochs` (0: all); `theirs`: whether this is the conversion; and `computed`: the original's names of the inputs
    that the compared steps have shown to be computed from each batch.
    """

    def __init__(self, tf, watch, channel, job):
        Role.__init__(self, tf, watch, channel, job)
        self.streams, self.evaluations = stream.Streams(), stream.EvaluationFeeds()
        self.graph, self.computed = None, set(job['computed'])
        self.epochs = stream.Epochs(1 if job['total'] or not job['theirs'] else job['gpus'])
        self.rates = []  # those that a schedule gives or the script sets, in the first step and in the last one
        self.epoch = None  # what was seen when the first epoch ended
        self._leaving, self.message = threading.Lock(), None  # why the script has ended, where it has failed
        clock = threading.Timer(job['seconds'], self._leave, ['time'])
        clock.daemon = True
        clock.start()

    def step(self, call):
        """Takes one training step as it is."""
        self.graph = call.session.graph
        kind = tuple(apply.index for apply in call.step.applies)
        pairs = self.job['inputs'].get(stream.text_of(kind))
        step = {} if pairs is None else stream.step_of(pairs, call.arrays)
        if self.epochs.ends_within(step, kind) and self.streams.kinds:
            if 0 < self.job['epochs'] <= self.epochs.count:
                self._leave('epochs')
            self.epoch = self.epoch or self._seen('epochs').kept()
        if not call.step.rates_write:  # the script is to run as it is
            mine = [rate for rate in call.step.rates if rate.key[0] != rates.MODEL]
            found = rates.recorded(mine, lambda tensors: call.run(tensors, call.arrays))
            found = [found[key]['value'] for key in sorted(found)] + self._numbers_set(call)
            self.rates = self.rates[:1] + [found] if found else self.rates
        self.streams.take(kind, step, self.watch.diary)
        self.streams.note_sources(call, self.job['total'])
        if self.watch.diary.steps % 10 == 0:
            self.channel.send('step', number=self.watch.diary.steps)
        return call.as_asked()

    @staticmethod
    def _numbers_set(call):
        """The numbers that variables hold and no step writes, by their names: a rate may be, which the script sets."""
        names = call.step.numbers_read
        values = call.store().read(names) if names else {}
        return [float(values[name]) for name in names if name in values]

    def aside(self, call):
        """Takes a run without a train op as it is."""
        self.evaluations.add(self.watch.diary.steps, call, self.watch.diary)
        return call.as_asked()

    def finish(self):
        """The script has ended."""
        self._leave('error: ' + self.message if self.message else 'end')

    def _seen(self, how):
        """All that was seen until now."""
        ran = {'ended': how, 'epochs': self.epochs.count, 'steps': self.watch.diary.steps, 'rates': self.rates}
        if self.graph is not None:
            ran['diary'] = self.watch.diary.facts(self.graph)
        return Seen(ran, self.streams, self.evaluations.runs)

    def _leave(self, how):
        """Sends what was seen, once, whichever thread comes first."""
        self._leaving.acquire()
        seen = self._seen(how)
        ran = dict(seen.ran, epoch=self.epoch and self.epoch.ran)
        if self.job['theirs']:
            seen.write(self.job['record'])
            if self.epoch:
                self.epoch.write(self.job['epoch record'])
            self.channel.leave('ran', **ran)
        self.channel.send('ran', **ran)
        asked = self.channel.receive()
        with open(asked['record']) as file:
            theirs = json.load(file)
        self.channel.leave('compared', **self._compared(self.epoch if asked['epoch'] else seen, theirs))

    def _compared(self, seen, theirs):
        """Compares what both scripts were fed."""
        streams, runs = seen.streams, seen.runs
        with open(self.job['again']) as file:
            again = json.load(file)
        towers = 1 if self.job['total'] else self.job['gpus']
        kinds = {kind: theirs['kinds'].get(stream.text_of(kind), []) for kind in streams.kinds}
        kinds = {kind: steps for kind, steps in kinds.items() if steps}
        other = stream.Streams()
        other.kinds, other.used = kinds, theirs['used']
        other.states = streams.states  # compared in the first steps
        other.turns = [tuple(kind) for kind in theirs['turns']]
        own = stream.lists(streams.kinds)
        mine = copy.copy(self.evaluations)
        mine.runs, others = ([(0, run) for _, run in each] for each in (runs, theirs['evaluations']))
        repeats, drawing = _repeats(own, again), streams
        if towers == 1 and repeats:  # each batch is one of the original's: drawn alike, it is the same one
            drawing = copy.copy(streams)
            drawing.drawn, drawing.used = {}, []
        return {
            'fed': stream.figures(drawing, other, towers, streams.unordered, self.computed),
            'sets': stream.sets(streams.kinds, kinds),
            'epoch': stream.epoch(streams.kinds, kinds),
            # how many different examples of the original's other run, of a few steps, this one has not taken
            'again': len(_marks(again) - _marks(own)),
            'repeats': repeats,
            'evaluated': stream.compared_runs(drawing, other, mine, others, towers),
            'after': [
                sum(steps >= last for steps, _ in each)
                for each, last in (
                    (runs, seen.ran['steps']),
                    (theirs['evaluations'], max([steps for steps, _ in theirs['evaluations']] or [0])),
                )
            ],
        }


def _marks(lists):
    """All marks in what `stream.lists` gives."""
    return {mark for steps in lists.values() for marks in steps for mark in marks}


def _repeats(own, again):
    """Whether two runs of the original take the same examples in the same order, as far as one may tell.

    own, again: see `stream.lists`. Each run has weights of its own, the other one those of the conversion: what a
    script draws by what its model gives is drawn otherwise there.
    """
    pairs = [(mine, again.get(kind, [])) for kind, mine in own.items()]
    same = all(mine[: len(steps)] == steps[: len(mine)] for mine, steps in pairs)
    seen, all_ = sum(min(map(len, pair)) for pair in pairs), sum(map(len, own.values()))
    return same and seen >= FEW and seen >= min(all_, ENOUGH)


class Seen(object):
    """What a run has shown up to some moment. ran: figures; streams: what was trained with; runs: those between."""

    def __init__(self, ran, streams, runs):
        self.ran, self.streams, self.runs = ran, streams, runs

    def kept(self):
        """The same, and it stays so while the script goes on."""
        return Seen(copy.deepcopy(self.ran), self.streams.so_far(), list(self.runs))

    def write(self, path):
        """Writes the marks of what went in."""
        marks = {stream.text_of(kind): steps for kind, steps in self.streams.kinds.items()}
        seen = {'kinds': marks, 'turns': self.streams.turns, 'used': self.streams.used, 'evaluations': self.runs}
        with open(path, 'w') as file:
            json.dump(seen, file)
