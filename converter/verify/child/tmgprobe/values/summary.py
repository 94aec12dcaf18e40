"""Fetched values taken apart into parts that can be compared: summaries by their tags."""

from __future__ import absolute_import, division, print_function

import re

import numpy as np

TOWER = re.compile(r'^(|.*?/)tower_\d+/')
PASSING = ('Identity', 'Merge', 'Switch')
SHOWN = re.compile(r'/(image|audio)(/[0-9]+)?$')  # one of the images or sounds of a batch
# what makes a name in a graph unique; how much a queue holds (TensorFlow 1.15, training/input.py)
NUMBERED = re.compile(r'_[0-9]+(?=/|$)|(?<=/fraction_of)_[0-9]+(?=_full)|(?<=/fraction_over)_[0-9]+_of_[0-9]+(?=_full)')


def is_summary(tensor):
    """Whether a tensor is a serialised Summary."""
    operation = tensor.op
    for _ in range(20):
        if 'Summary' in operation.type:
            return True
        if operation.type not in PASSING or not len(operation.inputs):
            return False
        operation = operation.inputs[0].op
    return False


def plain(tag):
    """A tag without the numbers of names that were taken already, and of queues that hold more of a larger batch."""
    return NUMBERED.sub('', tag)


def untowered(tag):
    """A tag without a tower's name scope, and without the scope around it where the tower opens that a second time.

    `net/tower_0/net/loss` is `net/loss`: a variable scope that is opened anew opens its last name scope, too.
    """
    match = TOWER.match(tag)
    if match is None:
        return tag
    around, own = match.group(1), tag[match.end():]
    again = around.rstrip('/').rpartition('/')[2] + '/'
    return around + (own[len(again):] if around and own.startswith(again) else own)


def parts(tf, value):
    """({tag: numbers}, {tags of one tower only}, [tags that are there twice]) of a serialised Summary; None of no such.

    Tags are without the scope of a tower: what a model summarises in the towers has it in front.
    """
    found, single, twice = {}, set(), []
    try:
        entries = tf.Summary.FromString(bytes(value)).value
    except Exception:  # protobuf's own: the other script fetches another text in its place
        return None
    for entry in entries:
        tag = untowered(entry.tag)
        if tag in found:
            twice.append(tag)
        if tag != entry.tag:
            single.add(tag)
        found[tag] = _numbers(entry)
    return found, single, twice


def with_more_shown(values, found):
    """The parts of a summary, with as many images and sounds as another has that shows a larger batch."""
    shown = {SHOWN.sub(r'/\1', tag): values[tag] for tag in values if SHOWN.search(tag)}
    more = {tag: shown[SHOWN.sub(r'/\1', tag)] for tag in found if SHOWN.sub(r'/\1', tag) in shown}
    kept = {tag: number for tag, number in values.items() if tag not in shown or tag + '/0' not in found}
    return dict(more, **kept)


def _numbers(entry):
    """The numbers of one entry; of images and sounds only their shapes."""
    kind = entry.WhichOneof('value')
    if kind == 'simple_value':
        return np.array(entry.simple_value)
    if kind == 'histo':
        drawn = entry.histo
        return np.array([drawn.num, drawn.min, drawn.max, drawn.sum / drawn.num if drawn.num else 0.0])
    if kind == 'image':
        return np.array([entry.image.height, entry.image.width, entry.image.colorspace])
    return np.array(0)


def joined(pieces, sizes, combine):
    """One entry's numbers out of those of several shards; `combine` is for scalars."""
    if all(np.array_equal(piece, pieces[0]) for piece in pieces) or pieces[0].shape not in ((), (4,)):
        return pieces[0]
    if pieces[0].shape == ():
        return combine(pieces, sizes)
    count, low, high, mean = np.transpose(pieces)
    return np.array([np.sum(count), np.min(low), np.max(high), np.sum(mean * count) / np.sum(count)])
