"""Warnings as comments above the lines of the converted text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from converter.choices import Warnings
from converter.cli.app import main
from converter.conversion import Conversion, convert
from converter.conversion.warning_comments import with_remarks
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.source import from_bytes, read
from tests.conversions import conversion_of
from tests.goldens import FIXTURES
from tests.scripts import INPUTS, SCRIPT, STEP, TRAINING
from tests.test_projects import MODEL, TRAIN, put

MARK = "# tf-multigpu: TMG"
SUMMARY = INPUTS + """\
prediction = tf.layers.dense(X, 1)
squared = tf.square(prediction - Y)
loss = tf.sqrt(tf.reduce_mean(squared))
""" + STEP + TRAINING  # fmt: skip


def commented(script: str, warnings: Warnings = "comment", width: int = 100) -> Conversion:
    return convert(from_bytes("train.py", script.encode()), Options(line_length=width, warnings=warnings))


def bodies(text: str) -> list[str]:
    """The lines below the header."""
    return [line for line in text.splitlines() if not line.startswith(("# tf-multigpu 0", "# tf-multigpu: decided"))]


def test_a_warning_stands_above_its_line() -> None:
    done = commented(SUMMARY)
    (warning,) = done.diagnostics
    lines = (done.text or "").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(f"# tf-multigpu: {warning.code} "))
    end = next(number for number in range(begin + 1, len(lines)) if not lines[number].startswith("#     "))
    assert lines[end].startswith("train_op = ")
    said = " ".join([lines[begin].removeprefix("# tf-multigpu: "), *(ln[6:] for ln in lines[begin + 1 : end])])
    assert said == f"{warning.code} {warning.message}"


HEADER = ("# tf-multigpu 0", "# tf-multigpu: decided", "# tf-multigpu: helpers", "# tf-multigpu: end", "#   | ")


@pytest.mark.parametrize("name", ["crf", "moving_averages", "trained_and_sampled", "full_batch", "layers_cnn"])
def test_only_comments_are_added(name: str) -> None:
    single = read(str(FIXTURES / name / "single.py"))
    plain, done = (conversion_of(single, Options(warnings=kind)) for kind in ("report", "comment"))
    assert plain.text is not None and done.text is not None
    assert ast.dump(ast.parse(plain.text)) == ast.dump(ast.parse(done.text))
    added = [line.strip() for line in bodies(done.text) if line not in bodies(plain.text)]
    added = [line for line in added if not line.startswith(HEADER)]
    assert all(line.startswith(("# tf-multigpu: TMG", "#     ")) for line in added)
    assert bool(added) == bool(done.diagnostics) == (name != "layers_cnn")
    by_line = [[text.splitlines()[n - 1] for n, _ in trace]
               for text, trace in ((plain.text, plain.trace), (done.text, done.trace))]  # fmt: skip
    told = [[line for line in lines if not line.startswith(HEADER)] for lines in by_line]
    assert told[0] == told[1]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_the_scripts_own_layout(indent: str, newline: str) -> None:
    inner = "".join(f"    {line}\n" if line else "\n" for line in SUMMARY.splitlines()[1:])
    script = "import tensorflow as tf\ndef main():\n" + inner + "main()\n"
    text = commented(script.replace("    ", indent).replace("\n", newline), width=79).text or ""
    lines = text.split(newline)
    remark = [line for line in lines if line.startswith(f"{indent}{MARK}")]
    assert len(remark) == 1 and all("\r" not in line and "\n" not in line for line in lines)
    below = lines[lines.index(remark[0]) + 1 :]
    further = [line for line in below[:5] if line.startswith(f"{indent}#     ")]
    assert further and max(len(line.expandtabs(4)) for line in (*remark, *further)) <= 79


def test_a_file_beside_the_script(tmp_path: Path) -> None:
    model = MODEL.replace("= tf.losses.sparse_softmax_cross_entropy(self.y, self.logits)",
                          "= tf.sqrt(tf.reduce_mean(tf.square(self.logits[:, 0] - tf.to_float(self.y))))")  # fmt: skip
    put(tmp_path, train=TRAIN, model=model + "        tf.summary.scalar('cost', self.loss)\n")
    done = convert(read(str(tmp_path / "train.py")), Options(warnings="comment"), several=True)
    texts = {Path(done.source.path).name: done.text or "", **{Path(p.path).name: p.text for p in done.parts}}
    for warning in done.diagnostics:
        assert f"# tf-multigpu: {warning.code} " in texts[Path(warning.path).name]
    assert done.diagnostics and sum(text.count(MARK) for text in texts.values()) == len(done.diagnostics)


IGNORED = SUMMARY.replace("minimize(loss)", "minimize(loss)  # tf-multigpu: ignore[TMG302]")


@pytest.mark.parametrize("script", [SCRIPT, IGNORED])
def test_no_comment_without_a_warning(script: str) -> None:
    plain, done = commented(script, "report"), commented(script)
    assert plain.text is not None and done.text is not None
    assert bodies(done.text)[1:] == bodies(plain.text)[1:] and done.text.count(MARK) == 0


def test_a_strategy_s_warnings() -> None:
    done = convert(read(str(FIXTURES / "mirrored/keras_arrays/single.py")), Options(warnings="comment"))
    assert f"{MARK}382 " in (done.text or "") and "\nscore = model.evaluate(" in (done.text or "")


def test_a_line_that_is_gone_has_its_number() -> None:
    before, after = "a = 1\nif a:\n    b = old()\n", "'''doc'''\na = 1\nif a:\n    c = new()\n"
    gone = Diagnostic("TMG399", "s.py", 3, 5, "mind this\nand that", "", "warning")
    text, trace = with_remarks(before, ast.parse(before), after, ((4, ("TMG101",)),), [gone], 80)
    assert text.splitlines()[2] == "# tf-multigpu: TMG399 (line 3 of the original) mind this"
    assert trace == ((5, ("TMG101",)),)


def test_a_line_that_goes_on_another() -> None:
    text = "x = 1; \\\ny = 2\n"
    warned = Diagnostic("TMG399", "s.py", 2, 1, "mind \u00fc", "", "warning")
    remarked, _ = with_remarks(text, ast.parse(text), text, (), [warned, warned], 80)
    assert remarked == "# tf-multigpu: TMG399 mind \\xfc\n" + text


def test_check_and_other_options_know_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, train=SUMMARY)
    script, multi = tmp_path / "train.py", tmp_path / "mg.py"
    assert main(["convert", str(script), "-o", str(multi), "--warnings", "comment"]) == 0
    text = multi.read_text()
    assert "--batch per-gpu --warnings comment\n" in text and text.count(MARK) == 1
    assert main(["convert", "--check", str(multi)]) == 0
    assert main(["convert", str(script), "-o", str(multi), "--warnings", "comment"]) == 0
    assert multi.read_text() == text
    multi.write_text(text.replace(MARK, "# seen: TMG"))
    assert main(["convert", "--check", str(multi)]) == 1
    assert main(["convert", str(script), "--in-place", "--warnings", "comment"]) == 0
    capsys.readouterr()
    assert main(["convert", str(script), "--in-place", "--warnings", "comment"]) == 0
    assert main(["convert", str(script), "--in-place"]) == 2
    assert "TMG021" in capsys.readouterr().err
