"""What is computed once, and what is reached from something."""

from __future__ import absolute_import, division, print_function


class lazy(object):
    """A property that is computed when it is asked for first, and kept."""

    def __init__(self, compute):
        self._compute, self.__doc__ = compute, compute.__doc__

    def __get__(self, one, kind=None):
        value = one.__dict__[self._compute.__name__] = self._compute(one)
        return value


def reached(starts, onward):
    """These things, and all that `onward`, a function from one to the next ones, comes to from them."""
    seen, ahead = set(), list(starts)
    while ahead:
        one = ahead.pop()
        if one not in seen:
            seen.add(one)
            ahead.extend(onward(one))
    return seen
