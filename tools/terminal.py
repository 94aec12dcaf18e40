"""Draws docs/terminal.svg: a conversion and its check, as a terminal shows them. Both commands are really run.

Usage: python tools/terminal.py docs/terminal.svg [INTERPRETER for verify]
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from converter.cli.terminal import shown  # noqa: E402

SCRIPT = ROOT / "fixtures/layers_cnn/single.py"
WIDTH = 62  # columns: as many as a phone shows in letters that can be read
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # the picture loads nothing
_REMARK = re.compile(r" *<!--.*?-->\n")


class _Window(io.StringIO):
    """A terminal of the picture's width."""

    def isatty(self) -> bool:
        return True


def main() -> None:
    os.environ |= {"COLUMNS": str(WIDTH), "TERM": "xterm"}
    os.environ.pop("NO_COLOR", None)
    python = sys.argv[2:3] or [sys.executable]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_bytes(SCRIPT.read_bytes())
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
        for words in (
            ["convert", "train.py", "-o", "train_mg.py", "--num-gpus", "4"],
            ["verify", "train.py", "train_mg.py"],
        ):
            console.print(Text(f"$ tf-multigpu {' '.join(words)}", "bold"))
            more = ["--python", str(Path(python[0]).absolute())] if words[0] == "verify" else []
            command = [sys.executable, "-m", "tf_multigpu", *words, *more]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})
            if done.returncode:
                sys.exit(done.stderr)
            console.print(Text.from_ansi(shown(done.stdout + done.stderr, _Window())))
        svg = console.export_svg(title="tf-multigpu", unique_id="tf-multigpu")
    Path(sys.argv[1]).write_text(_REMARK.sub("", _FONTS.sub("", svg)))


if __name__ == "__main__":
    main()
