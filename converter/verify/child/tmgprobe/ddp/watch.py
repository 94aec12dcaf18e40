"""Records the first steps of a PyTorch script, and what it loads, evaluates and saves in a shortened run.

The first pass through the training data ends after the compared steps, each later one after one step; the first two
evaluations go through all of their data, later ones through one batch.
"""

from __future__ import absolute_import, division, print_function

import gc
import os
import types

WHOLE = 2  # evaluations that are not cut short


class LoaderPass(object):
    """One way through a loader. given: the batches since the last step; seen: how many examples there were."""

    def __init__(self, number, loader, limit):
        self.number, self.loader, self.limit = number, loader, limit
        self.given, self.seen, self.steps, self.trains = [], 0, 0, False


class ProcessWatch(object):
    """Notes what one script does.

    weights: of the optimizer's parameters, a list of arrays before the first step and after each. gradients: those that
    each step applies. batches: of each step, a list of what the loader gave. hyper: the optimizer's settings then.
    """

    def __init__(self, torch, steps, rank):
        self.torch, self.steps, self.rank = torch, steps, rank
        self.passes, self.loaders, self.open, self.loader = 0, 0, [], None
        self.weights, self.gradients, self.batches, self.hyper, self.names = [], [], [], [], []
        self.training, self.evaluations, self.saved, self.held = [], [], [], [0]
        self.optimizers, self.save = [], torch.save
        self.names_in_script = ()  # what stands in the script for Python's own functions

    def install(self):
        """Wraps what the script will call."""
        torch, watch = self.torch, self
        loaders = torch.utils.data.DataLoader
        begin, build = loaders.__iter__, loaders.__init__

        def built(loader, *args, **kwargs):
            loader.tmg_number = watch.loaders = watch.loaders + 1
            build(loader, *args, **kwargs)

        loaders.__init__ = built
        loaders.__iter__ = lambda loader: watch.iterate(loader, begin)
        optimizers = torch.optim.Optimizer
        make = optimizers.__init__

        def made(optimizer, *args, **kwargs):
            make(optimizer, *args, **kwargs)
            watch.optimizers.append(optimizer)
            optimizer.step = types.MethodType(lambda own, *a, **k: watch.on_step(own, a, k), optimizer)

        optimizers.__init__ = made
        save = self.save

        def saving(value, target, *args, **kwargs):
            name = os.path.basename(target) if isinstance(target, str) else type(target).__name__
            watch.saved.append((name, _keys(value)))
            return save(value, target, *args, **kwargs)

        torch.save = saving
        _hold_dropout(torch, self.held)

    def iterate(self, loader, begin):
        """Goes through a loader as far as it is looked at."""
        now = LoaderPass(self.passes, loader, None)
        self.passes += 1
        if loader is self.loader:
            self.begin_training(now)
        self.open.append(now)
        try:
            for item in self.items(now, begin):
                now.given.append(item)
                now.seen += _count(self.torch, item)
                yield item
                if now.limit is not None and now.steps >= now.limit:
                    return
                if not now.trains and len(self.evaluations) >= WHOLE and loader is not self.loader and self.loader:
                    return
        finally:
            self.open = [one for one in self.open if one is not now]
            if not now.trains:
                self.evaluations.append((len(self.training), now.seen, len(loader.dataset), loader is self.loader))

    def items(self, now, begin):
        """What a loader gives."""
        return begin(now.loader)

    def begin_training(self, now):
        """Notes which examples a process is to take in this pass."""
        now.trains = True
        now.limit = 1 if self.training else self.steps
        sampler = now.loader.sampler
        own = type(sampler).__name__ == 'DistributedSampler'
        try:
            length = len(now.loader)
        except TypeError:  # a stream
            length = None
        self.training.append({
            'number': now.number,
            'loader': now.loader.tmg_number,
            'length': length,
            'indices': list(sampler) if own else None,
            'shuffled': bool(getattr(sampler, 'shuffle', type(sampler).__name__ == 'RandomSampler')),
            'examples': len(now.loader.dataset),
            'size': now.loader.batch_size,
        })

    def on_step(self, optimizer, args, kwargs):
        """The optimizer's step, with what it does noted down."""
        now = self.open[-1] if self.open else None
        if now is not None and not now.trains and self.loader is None:
            self.loader = now.loader
            self.begin_training(now)
        self.take(optimizer, now, args, kwargs)

    def take(self, optimizer, now, args, kwargs):
        """One step for real."""
        compared = now is not None and len(self.training) == 1 and len(self.weights) <= self.steps
        if compared and not self.weights:
            self.names = _names(self.torch, optimizer)
            self.weights.append(_arrays(optimizer))
        if compared:
            self.hyper.append(_settings(optimizer))
            self.gradients.append(_gradients(optimizer))
        result = type(optimizer).step(optimizer, *args, **kwargs)
        if compared:
            self.weights.append(_arrays(optimizer))
            self.batches.append(now.given)
        if now is not None:
            now.given = []
            now.steps += 1
        return result

    def record(self):
        """All of it, for a file."""
        names = ('weights', 'gradients', 'batches', 'hyper', 'names', 'training', 'evaluations', 'saved')
        return dict(((name, getattr(self, name)) for name in names), norm=self.norm())

    def norm(self):
        """Whether a model has statistics of batches."""
        kind = self.torch.nn.modules.batchnorm._BatchNorm
        return any(isinstance(one, kind) for one in gc.get_objects())


def _arrays(optimizer):
    return [p.detach().cpu().numpy().copy() for group in optimizer.param_groups for p in group['params']]


def _gradients(optimizer):
    held = [p for group in optimizer.param_groups for p in group['params']]
    return [None if p.grad is None else p.grad.detach().to_dense().cpu().numpy().copy() for p in held]


def _settings(optimizer):
    """The numbers of each group of parameters: rates, decays, momenta."""
    plain = (int, float, bool, tuple)
    return [
        sorted((name, value) for name, value in group.items() if isinstance(value, plain) and name != 'params')
        for group in optimizer.param_groups
    ]


def _names(torch, optimizer):
    """The names of the optimizer's parameters in the model that holds them."""
    wanted = [id(p) for group in optimizer.param_groups for p in group['params']]
    best = {}
    for one in gc.get_objects():
        if isinstance(one, torch.nn.Module) and type(one).__name__ != 'DistributedDataParallel':
            found = {id(p): name for name, p in one.named_parameters()}
            held = sum(number in found for number in wanted)
            if held > sum(number in best for number in wanted):
                best = found
    return [best.get(number, 'parameter %d' % place) for place, number in enumerate(wanted)]


def _count(torch, item):
    """How many examples a batch has."""
    if isinstance(item, torch.Tensor):
        return len(item) if item.dim() else 1
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, (list, tuple)) and item:
        return _count(torch, item[0]) if not isinstance(item[0], (str, int, float)) else len(item)
    return 1


def _keys(value, before=''):
    """The keys of the saved object, as paths."""
    if isinstance(value, dict):
        return sorted(key for name, one in value.items() for key in _keys(one, '%s/%s' % (before, name)))
    return [before or type(value).__name__]


def _still_draw(plain, held):
    """Noise beside a value of the model, as variational autoencoders add it, is the same in every process."""
    def draw(input, *args, **kwargs):
        drawn = plain(input, *args, **kwargs)
        if not input.requires_grad:
            return drawn
        held[0] += 1
        return drawn.fill_(0.5)

    return draw


def _hold_dropout(torch, held):
    """Dropout lets everything through, and noise that the model adds is held still."""
    functional = torch.nn.functional

    def still(name):
        plain = getattr(functional, name)

        def through(input, p=0.5, training=True, inplace=False):
            held[0] += bool(training and p)
            return plain(input, 0.0, training, inplace)

        setattr(functional, name, through)

    for name in ('dropout', 'alpha_dropout', 'dropout1d', 'dropout2d', 'dropout3d', 'feature_alpha_dropout'):
        if hasattr(functional, name):
            still(name)
    for name in ('randn_like', 'rand_like'):
        setattr(torch, name, _still_draw(getattr(torch, name), held))
    recurrent = torch.nn.RNNBase
    make = recurrent.__init__

    def made(layer, *args, **kwargs):
        make(layer, *args, **kwargs)
        held[0] += bool(layer.dropout)
        layer.dropout = 0.0

    recurrent.__init__ = made
