"""Which lines of the script made which operations, and whether the loss needs these.

TensorFlow keeps, for every operation, the file and line of each Python frame that built it.
"""

from __future__ import absolute_import, division, print_function

from tmgprobe.graph import graphs, places

# How an operation relates to the loss; a stack of lines counts as the last of these that holds for an operation of it.
OTHER, NEEDED, TRACED = 'other', 'needed', 'traced'
RANKS = (OTHER, NEEDED, TRACED)
# What an iterator of TensorFlow 2 makes of a sparse element that it gives, to know its shape.
UNPACKS = ('DeserializeSparse', 'Unpack', 'Pack', 'StridedSlice')

PARSES = ('ParseExample', 'ParseExampleV2')  # records to tensors, on the CPU in any case


def stacks(step, batches, job):
    """Every stack of lines of the script's project that made operations: [{'lines', 'rank', 'operation'}].

    batches: names of the tensors that bring examples in. lines: [(path from the script's folder, line)], outermost
    first. rank: 'traced' (needed by the loss and dependent on a batch), 'needed' (by the loss), 'other'.
    """
    losses = [loss.op for loss in step.losses]
    inputs = [step.graph.as_graph_element(name) for name in batches]
    fed = {tensor.op for tensor in inputs}  # the default of a placeholder may be made of another input
    below = graphs.ancestors(losses, fed)
    between = graphs.descendants(inputs, below) - fed
    reads = {script_lines(operation, job) for operation in fed if operation.type == 'IteratorGetNext'}
    between -= {op for op in between if op.type in UNPACKS and script_lines(op, job) in reads}
    between -= {op for op in between if op.type in PARSES}
    found = {}
    for operation in step.graph.get_operations():
        rank = TRACED if operation in between else NEEDED if operation in below else OTHER
        lines = script_lines(operation, job)
        if lines and RANKS.index(rank) >= RANKS.index(found.get(lines, (OTHER, ''))[0]):
            found[lines] = rank, operation.name
    return [
        {'lines': [list(line) for line in lines], 'rank': rank, 'operation': name}
        for lines, (rank, name) in sorted(found.items())
    ]


def script_lines(operation, job):
    """The frames that lie in the folder of the script's project, outermost first."""
    found = []
    # TensorFlow 1.x keeps the frames as they were; its `traceback` looks up the text of each one's line.
    for frame in getattr(operation, '_traceback', None) or operation.traceback or ():
        path, line = (frame.filename, frame.lineno) if hasattr(frame, 'filename') else (frame[0], frame[1])
        name = places.seen_from_script(job, path)
        if name is not None:
            found.append((name, line))
    return tuple(found)
