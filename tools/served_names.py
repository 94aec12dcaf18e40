"""Writes the lines of docs/verify.md that say which parts of TensorFlow 1.x scripts find on TensorFlow 2.

    served_names.py DOCUMENT [--check]

What 1.15 has is asked of .venv-tf1.15, what is served of verify/child/tmgprobe/process/api.py on the TensorFlow
of the interpreter that runs this.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLD = ROOT / ".venv-tf1.15/bin/python"
BEGIN, END = "<!-- served names: tools/served_names.py -->\n", "<!-- end of served names -->"
CONTRIB = ["slim", "layers", "rnn", "framework", "training", "losses", "metrics", "data"]
CONTRIB += ["crf", "seq2seq", "legacy_seq2seq", "opt"]
CORE = ["app", "flags", "logging", "gfile", "python_io", "keras"]

# a module's public names; not the modules that it happens to import, nor `from __future__` features
LIST = """
import json, sys, types, warnings
warnings.simplefilter('ignore')
import tensorflow as tf
names = {}
for part in json.loads(sys.argv[1]):
    module = tf
    for step in part.split('.'):
        module = getattr(module, step)
    whole = part.endswith(('keras', 'app', 'gfile', 'logging'))
    names[part] = sorted(
        name for name in dir(module)
        if not name.startswith('_') and type(getattr(module, name)).__name__ != '_Feature'
        and (whole or not isinstance(getattr(module, name), types.ModuleType))
    )
print(json.dumps(names))
"""
ASK = """
import json, sys
sys.path.insert(0, sys.argv[2])
from tmgprobe.process import api
tf = api.load()
lacks = {}
for part, names in json.loads(sys.argv[1]).items():
    module = tf
    for step in part.split('.'):
        module = getattr(module, step, None)
    lacks[part] = [name for name in names if not hasattr(module, name)]
print(json.dumps([lacks, tf.__version__]))
"""


def ask(python: str, code: str, *arguments: str) -> str:
    """The last line that a piece of code prints."""
    done = subprocess.run([python, "-c", code, *arguments], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return done.stdout.strip().splitlines()[-1]


def lines() -> Iterator[str]:
    """One line for the modules that are there with all of their names, one for those with some, one for the others."""
    parts = [f"contrib.{name}" for name in CONTRIB] + CORE
    names = json.loads(ask(str(OLD), LIST, json.dumps(parts)))
    child = ROOT / "converter/verify/child"
    lacks, version = json.loads(ask(sys.executable, ASK, json.dumps(names), str(child)))
    whole = [part for part in parts if not lacks[part]]
    nothing = [part for part in parts if len(lacks[part]) == len(names[part])]
    some = [
        f"tf.{part} ({len(names[part]) - len(lacks[part])} of {len(names[part])} names)"
        for part in parts
        if part not in (*whole, *nothing)
    ]
    yield f"- on TensorFlow {version} as on 1.15: {', '.join(f'tf.{part}' for part in whole)}"
    yield f"- in part: {', '.join(some)}"
    yield f"- not there: {', '.join(f'tf.{part}' for part in nothing)}"


def main() -> int:
    """Writes the lines, or says whether they are what they should be."""
    path = Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    wanted = text[:begin] + "\n" + "\n".join(lines()) + "\n\n" + text[end:]
    if "--check" in sys.argv:
        if wanted != text:
            print(f"{path}: run {Path(__file__).name}", file=sys.stderr)
        return int(wanted != text)
    path.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
