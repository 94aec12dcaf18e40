"""What `a += b` reads stands where the statement stands, also in another file of the project."""

from __future__ import annotations

import ast
from pathlib import Path

from converter.analysis import read_facts
from converter.options import Options

OTHER = """\
class Batches(object):
    def __init__(self, size):
        self.size, self.begin, self.taken = size, 0, [0]

    def next(self):
        self.begin += self.size
        self.taken[0] += 1
        count = 1
        count += self.begin
        return count
"""
SCRIPT = (
    "import tensorflow as tf\nfrom other import Batches\nbatches = Batches(32)\nx = tf.zeros([batches.next(), 3])\n"
)


def test_what_a_line_adds_to_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(OTHER)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    facts = read_facts(str(script), ast.parse(SCRIPT), Options())
    added = [access for access in facts.accesses if isinstance(access.site.stmt, ast.AugAssign)]
    assert {access.place.key for access in added} >= {"begin", "0", "count"}
    assert {facts.path_of(access.node) for access in added} == {str(tmp_path / "other.py")}
