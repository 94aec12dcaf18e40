"""Reads a traced step: where and when each part of it ran, and which tensors crossed devices."""

from __future__ import absolute_import, division, print_function

from tmgprobe.graph import graphs
from tmgprobe.session import watch as watching
from tmgprobe.values.lazy import reached

SPANS = 400  # bars to draw for one part on one device, at most
# what cuts and casts a batch without computing on it
PREPARING = graphs.SLICES + ('Cast', 'ConcatV2', 'ExpandDims', 'Identity', 'Pack', 'RealDiv', 'Reshape', 'Shape',
                             'Squeeze')


def read(step, arrays, metadata):
    """A traced run of this step, by the parts 'input', 'forward', 'gradient', 'average', 'update', 'other'.

    Returns lists for JSON: boxes [device, part, operations, microseconds]; edges [device, part, device,
    part, tensors] between boxes; spans [device, part, begin, end] in microseconds from the first
    operation on; variables {device: number of those that the step reads}.
    """
    ran = _ran(step.graph, metadata)
    parts = _parts(step, arrays, set(ran))
    boxes, spans, variables = {}, {}, {}
    for op, (device, begin, end) in ran.items():
        if op.type in graphs.HANDLES:
            variables[device] = variables.get(device, 0) + 1
            continue
        if op not in parts:
            continue
        place = (device, parts[op])
        count, micros = boxes.get(place, (0, 0))
        boxes[place] = count + 1, micros + end - begin
        spans.setdefault(place, []).append((begin, end))
    start = min([begin for several in spans.values() for begin, _ in several] or [0])
    return {
        'boxes': [[device, part, count, micros] for (device, part), (count, micros) in sorted(boxes.items())],
        'edges': _edges(ran, parts),
        'spans': [
            [device, part, begin - start, end - start]
            for (device, part), several in sorted(spans.items())
            for begin, end in joined(several, SPANS)
        ],
        'variables': variables,
    }


def _ran(graph, metadata):
    """{operation: (device, begin, end)} of those that the trace names; copies between devices are not in it."""
    named = {op.name: op for op in graph.get_operations()}
    found = {}
    for device, name, node in graphs.ran(metadata):
        if name in named:
            begin = node.all_start_micros + node.op_start_rel_micros
            end = node.all_start_micros + max(node.op_end_rel_micros, node.op_start_rel_micros)
            found[named[name]] = (device, begin, end)
    return found


def _parts(step, arrays, ran):
    """{operation: part} of the operations that ran, without those of the probe."""
    order = {op: index for index, op in enumerate(step.graph.get_operations())}
    tensors = [step.graph.as_graph_element(name) for name in arrays]
    needed = graphs.ancestors(loss.op for loss in step.losses)
    computing = graphs.descendants(tensors, needed) if tensors else needed
    preparing, differentiating = _preparing(tensors, computing, order), step.differentiating
    applying = step.applying
    parts = {}
    for op in ran:
        if op.name.startswith(watching.SCOPE):
            continue
        if op in differentiating:
            parts[op] = 'gradient'
        elif graphs.written([op]) or op in applying and op not in step.backward:
            parts[op] = 'update'
        elif op in preparing:
            parts[op] = 'input'
        elif op in computing:
            parts[op] = 'forward'
        elif op in step.backward and op not in needed:
            parts[op] = 'average'
        else:
            parts[op] = 'other'
    return parts


def _preparing(tensors, computing, order):
    """The operations that only cut, cast or count the inputs, of all that compute with them."""
    sources = {tensor.op for tensor in tensors}
    found = set(sources)
    for op in sorted(computing, key=lambda op: order[op]):
        whole = all(tensor.op in found or tensor.op not in computing for tensor in op.inputs)
        counting = bool(op.outputs) and op.outputs[0].dtype.base_dtype.is_integer
        # rows that the inputs pick out of something else, as of an embedding, are computed
        cutting = op.type in PREPARING and len(op.inputs) and op.inputs[0].op in found
        if whole and (counting or cutting):
            found.add(op)
    return found


def _edges(ran, parts):
    """How many tensors go from one box to another, looking through what the probe put between."""
    counts = {}
    for op, part in parts.items():
        for source in _sources(op, parts):
            edge = (ran[source][0], parts[source], ran[op][0], part)
            if edge[:2] != edge[2:]:
                counts[edge] = counts.get(edge, 0) + 1
    return [list(edge) + [count] for edge, count in sorted(counts.items())]


def _sources(op, parts):
    def passed(source):
        through = source not in parts and source.name.startswith(watching.SCOPE)
        return [tensor.op for tensor in source.inputs] if through else ()

    return {source for source in reached([tensor.op for tensor in op.inputs], passed) if source in parts}


def joined(spans, most):
    """Spans in order, those that touch or lie closest joined until there are no more than `most`."""
    result = []
    for begin, end in sorted(spans):
        if result and begin <= result[-1][1]:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([begin, end])
    if len(result) > most:
        gaps = sorted(later[0] - earlier[1] for earlier, later in zip(result, result[1:]))
        widest = gaps[len(result) - most - 1]
        kept = [result[0]]
        for span in result[1:]:
            if span[0] - kept[-1][1] <= widest:
                kept[-1][1] = max(kept[-1][1], span[1])
            else:
                kept.append(span)
        result = kept
    return result
