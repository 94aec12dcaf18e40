"""Measures what a training step of a script costs: runs it once as it is, with a trace, and reads the figures off."""

from __future__ import absolute_import, division, print_function

from tmgprobe.graph import cost, graphs
from tmgprobe.roles.role import Role

RUNS = 8  # run calls to wait for train ops that take turns


class Profiler(Role):
    """Traces the first run of every train op: train ops that take turns make up one step."""

    def __init__(self, tf, watch, channel, job):
        Role.__init__(self, tf, watch, channel, job)
        self.seen, self.found, self.calls = set(), [], 0

    def step(self, call):
        """Takes one training step; the last one that is needed ends the process."""
        self.calls += 1
        triggered = {apply.index for apply in call.step.applies}
        if triggered <= self.seen:
            result = call.as_given()
        else:
            self.seen |= triggered
            result = self._trace(call)
        if len(self.seen) == len(call.step.watched.applies) or self.calls >= RUNS:
            self.finish()
        return result

    def finish(self):
        """Sends what was found and ends the process."""
        if self.found:
            self.channel.leave('profiled', runs=self.found)

    def _trace(self, call):
        options, metadata = call.full_trace()
        options.output_partition_graphs = True
        result = call.as_given(options, metadata)
        trace = cost.NodeTrace(self.tf, metadata)
        crossed, unsized = cost.edges(call.step, call.fed, trace, metadata)
        operations, without = cost.flops(call.session.graph, call.fed, trace)
        self.found.append(
            {
                'edges': crossed,
                'unsized': unsized,
                'flops': operations,
                'without': without,
                'operations': {device: sum(runs.values()) for device, runs in trace.runs.items()},
                'towers': towers(call.step, trace),
                'fed': sum(value.nbytes for value in call.fed.values()),
                'rows': rows(call.fed.values()),
                'read': sum(trace.sent.get(cost.tuple_of(name), 0) for name in call.sources),
                'trained': variables_bytes(call),
            }
        )
        return result


def rows(fed):
    """The length that most of the fed arrays have, the longest of several; 0 where no array is fed."""
    lengths = [len(value) for value in fed if getattr(value, 'ndim', 0)]
    return max(lengths, key=lambda length: (lengths.count(length), length)) if lengths else 0


def towers(step, trace):
    """The devices beside the host that computed gradients."""
    backward = {operation.name for operation in step.differentiating}
    return sorted(device for device, runs in trace.runs.items() if device != cost.HOST and backward.intersection(runs))


def variables_bytes(call):
    """{name: bytes} of the variables that this run trains."""
    known = graphs.variables(call.tf, call.session.graph)
    found = {}
    for name in {name for apply in call.step.applies for name in apply.variables}:
        if name in known:
            found[name] = cost.count(known[name].get_shape().as_list()) * known[name].dtype.base_dtype.size
    return found
