"""Branches that end with a NameError, as they read a name that nothing binds."""

from __future__ import annotations

import pytest

from tests.analysis.readings import shown, value_of

CHOICE = """
import sys

class Small(object):
    width = 3

{before}
if sys.argv[1] == 'large':
    {branch}
else:
    net = Small
result = net.width
"""


@pytest.mark.parametrize("branch", ["net = Large", "net = nets.Large", "net = make('large')", "fail(); net = 7"])
def test_a_branch_that_reads_an_unbound_name_is_not_taken(branch: str) -> None:
    assert shown(value_of(CHOICE.format(before="", branch=branch))) == 3


@pytest.mark.parametrize(
    "before",
    [
        "from nets import *",
        "globals().update(make())",
        "exec(open('nets.py').read())",
        "def load():\n    global Large\n    Large = make()",
        "from nets import Large",
        "import nets as Large",
        "for Large in nets(): pass",
        "with nets() as Large: pass",
        "try:\n    Small\nexcept NameError as Large:\n    pass",
    ],
)
def test_names_that_something_may_bind(before: str) -> None:
    assert shown(value_of(CHOICE.format(before=before, branch="net = Large"))) != 3


@pytest.mark.parametrize("branch", ["net = raw_input", "net = 7 if Large else 5", "net = lambda: Large"])
def test_builtins_of_python_2_and_names_that_may_not_be_read(branch: str) -> None:
    assert shown(value_of(CHOICE.format(before="", branch=branch))) != 3
