"""The original of a PyTorch conversion, which takes the batches of all of its processes.

A step of the conversion is the mean of the gradients that the original has on each process's batches (with the total
batch: one step of the original on all of them together). What the original counts of an epoch is what a process counts:
len() of its loader, and the number of a batch.
"""

from __future__ import absolute_import, division, print_function

from tmgprobe.ddp import watch as watches


class ProcessReplay(watches.ProcessWatch):
    """Notes what the original does with given batches.

    given: what the processes have recorded. at: how many of the processes' batches the next step has had.
    """

    def __init__(self, torch, steps, given, total, stop):
        watches.ProcessWatch.__init__(self, torch, steps, 0)
        self.given, self.total, self.stop = given, total, stop
        self.parts = 1 if total else len(given)
        self.at, self.averaged, self.replaying, self.same_begin = 0, False, False, None
        self.first = given[0]['training'][0]['number']
        self.turn, self.number = 0, 0

    def install(self):
        """Wraps, too, what must happen once for all of the processes' batches."""
        watches.ProcessWatch.install(self)
        torch = self.torch
        self._once(torch.optim.Optimizer, 'zero_grad', lambda: self.at == 0)
        self._once(torch.nn.Module, 'zero_grad', lambda: self.at == 0)
        schedules = torch.optim.lr_scheduler
        for name in ('LRScheduler', 'ReduceLROnPlateau'):
            if hasattr(schedules, name):
                self._once(getattr(schedules, name), 'step', lambda: self.at == 0)
        for name in ('clip_grad_norm_', 'clip_grad_value_'):
            self._clip(torch.nn.utils, name)
        self._count()

    def _count(self):
        """The training loader has as many batches as that of a process, and its batches have their numbers there."""
        loaders, replay, first = self.torch.utils.data.DataLoader, self, self.given[0]['training'][0]
        length = loaders.__len__
        loaders.__len__ = lambda own: first['length'] if own.tmg_number == first['loader'] else length(own)

        def counted(iterable, start=0):
            count, steps = start, iter(iterable)
            while True:
                turn = replay.turn
                try:
                    item = next(steps)
                except StopIteration:
                    return
                yield (start + replay.number if replay.turn != turn else count), item
                count += 1

        self.names_in_script = (('enumerate', counted),)

    def _once(self, owner, name, now):
        plain, replay = getattr(owner, name), self

        def called(own, *args, **kwargs):
            if not replay.replaying or now():
                return plain(own, *args, **kwargs)

        setattr(owner, name, called)

    def _clip(self, owner, name):
        plain, replay = getattr(owner, name), self

        def clip(*args, **kwargs):
            if not replay.replaying:
                return plain(*args, **kwargs)
            if replay.at < replay.parts - 1:
                return replay.torch.zeros(())
            replay.average()
            return plain(*args, **kwargs)

        setattr(owner, name, clip)

    def items(self, now, begin):
        """The recorded batches in the first pass through the training data, else what the loader gives."""
        if now.number != self.first:
            return begin(now.loader)
        self.loader = now.loader
        self.begin_training(now)
        now.limit = None
        return self.recorded()

    def recorded(self):
        """The processes' batches, in the order of the steps and within a step of the processes."""
        self.begin_as_given()
        self.replaying = True
        begun = 0
        for step in range(len(self.given[0]['batches'])):
            of_ranks = [one['batches'][step] for one in self.given]
            lists = [[_joined(self.torch, parts) for parts in zip(*of_ranks)]] if self.total else of_ranks
            for items in lists:
                for place, item in enumerate(items):
                    self.turn, self.number = self.turn + 1, begun + place
                    yield item
            begun += len(of_ranks[0])
        self.replaying = False

    def begin_as_given(self):
        """Sets the weights with which the conversion began."""
        if not self.optimizers:
            self.stop('makes its optimizer after its first batch')
        mine = [p for group in self.optimizers[0].param_groups for p in group['params']]
        theirs = self.given[0]['weights'][0]
        self.same_begin = len(mine) == len(theirs) and all(
            p.shape == one.shape and bool((p.detach().cpu().numpy() == one).all()) for p, one in zip(mine, theirs)
        )
        with self.torch.no_grad():
            for p, one in zip(mine, theirs):
                if tuple(p.shape) == one.shape:
                    p.copy_(self.torch.from_numpy(one))

    def take(self, optimizer, now, args, kwargs):
        """A step with the mean gradient, once the batches of all processes had their turn."""
        if not self.replaying:
            return watches.ProcessWatch.take(self, optimizer, now, args, kwargs)
        if self.at < self.parts - 1:
            self.at += 1
            return None
        self.average()
        result = watches.ProcessWatch.take(self, optimizer, now, args, kwargs)
        self.at, self.averaged = 0, False
        return result

    def average(self):
        """Turns the sum of the gradients into their mean."""
        if self.averaged:
            return
        self.averaged = True
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                for p in group['params']:
                    if p.grad is not None:
                        p.grad.div_(self.parts)


def _joined(torch, parts):
    """The batches of all processes as one."""
    first = parts[0]
    if isinstance(first, torch.Tensor):
        return torch.cat(list(parts)) if first.dim() else first
    if isinstance(first, dict):
        return {name: _joined(torch, [part[name] for part in parts]) for name in first}
    if isinstance(first, (list, tuple)) and first and not isinstance(first[0], (str, int, float)):
        return [_joined(torch, few) for few in zip(*parts)]
    return [one for part in parts for one in part]
