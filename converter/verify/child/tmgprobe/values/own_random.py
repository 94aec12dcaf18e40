"""Random numbers of the comparison itself.

The script's generators are watched (session/draws.py). One that the comparison makes must not be among them: what it
draws would look as if the script had drawn new examples.
"""

from __future__ import absolute_import, division, print_function

from numpy.random import RandomState

Generator = RandomState  # NumPy's own class, as it is before the watch takes its place
