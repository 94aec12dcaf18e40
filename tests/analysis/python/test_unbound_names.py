"""Branches that end with a NameError, as they read a name that nothing binds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from converter.analysis import read_facts
from converter.options import Options
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


STARS = """
import sys
from nets import *

if sys.argv[1] == 'large':
    net = Large
else:
    net = Small
result = net.width
"""


@pytest.mark.parametrize(
    ("nets", "known"),
    [
        ("class Small(object):\n    width = 3\n", True),
        ("from small import *\n", True),
        ("from small import *\nfrom nets import *\n", True),
        ("from small import *\nfrom elsewhere import *\n", False),
        ("from small import *\nfor Large in []: pass\n", False),
        ("from small import *\nglobals().update(make())\n", False),
        ("from small import *\nimport sys\nsetattr(sys.modules[__name__], make(), None)\n", False),
    ],
)
def test_a_star_brings_the_names_of_a_module_that_is_followed(tmp_path: Path, nets: str, known: bool) -> None:
    (tmp_path / "small.py").write_text("class Small(object):\n    width = 3\n")
    (tmp_path / "nets.py").write_text(nets)
    script = tmp_path / "train.py"
    script.write_text(STARS)
    assert is_small(script) is known


def is_small(script: Path) -> bool:
    facts = read_facts(str(script), ast.parse(script.read_text()), Options())
    return shown(facts.module.locals["result"]) == 3


MISSING = """
import sys
from nets.small import Small

if sys.argv[1] == 'large':
    from nets.{module} import Large
    net = Large
else:
    net = Small
result = net.width
"""


@pytest.mark.parametrize(
    ("module", "files", "taken"),
    [
        ("large", [], True),
        ("large", ["large.pyx"], False),
        ("large", ["large.cpython-37m-x86_64-linux-gnu.so"], False),
        ("large", ["slow.pyx"], False),  # which may give a module of another name
        ("large_pb2", [], False),  # made of a protocol, wherever that stands
        ("sub.large", [], False),
    ],
)
def test_a_branch_that_imports_what_its_package_does_not_have(
    tmp_path: Path, module: str, files: list[str], taken: bool
) -> None:
    folder = tmp_path / "nets"
    folder.mkdir()
    (folder / "small.py").write_text("class Small(object):\n    width = 3\n")
    for name in files:
        (folder / name).write_text("")
    script = tmp_path / "train.py"
    script.write_text(MISSING.format(module=module))
    assert is_small(script) is taken
