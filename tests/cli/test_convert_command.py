"""`convert`: what goes where, what is said, and with which exit status."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from converter.options import Options
from converter.source.header import find_header, from_flags
from tests.cli.standins import BOTH_PYTHONS, NO_TRAINING, PLAIN, TRAINING, Engine, Run, files, put

ROOT = Path(__file__).resolve().parent.parent.parent

# --- Where it goes ----------------------------------------------------------------------------------


def test_one_script_goes_to_standard_output(project: Path, run: Run) -> None:
    put("train.py")
    done = run("convert", "train.py")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(TRAINING + b"towers()")
    assert b"converted from train.py sha256:" in done.out
    assert files(project) == ["train.py"]


def test_standard_input_goes_to_standard_output(project: Path, run: Run) -> None:
    done = run("convert", "-", stdin=TRAINING)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(TRAINING + b"towers()")
    assert b"converted from <stdin> sha256:" in done.out


def test_standard_input_goes_to_a_file(project: Path, run: Run) -> None:
    assert run("convert", "-", "-o", "out.py", stdin=TRAINING).code == 0
    assert Path("out.py").read_bytes().endswith(TRAINING + b"towers()")


def test_output_may_be_standard_output_by_name(project: Path, run: Run) -> None:
    put("train.py")
    assert run("convert", "train.py", "-o", "-").out.endswith(b"towers()")
    assert files(project) == ["train.py"]


def test_output_to_a_file(project: Path, run: Run) -> None:
    put("train.py").chmod(0o755)
    done = run("convert", "train.py", "-o", "multi.py")
    assert (done.code, done.out) == (0, b"")
    assert done.err == "train.py: converted, written to multi.py\n"
    assert Path("train.py").read_bytes() == TRAINING
    assert stat.S_IMODE(Path("multi.py").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("target", "name"),
    [("multi.py", "train.py"), ("out/multi.py", "../train.py"), ("../multi.py", "sub/train.py")],
)
def test_the_header_names_the_source_as_the_output_sees_it(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, target: str, name: str
) -> None:
    put("sub/train.py")
    Path("sub/out").mkdir()
    monkeypatch.chdir("sub")
    assert run("convert", "train.py", "-o", target).code == 0
    header = find_header(Path(target).read_text())
    assert header is not None and header.source == name


def test_in_place(project: Path, run: Run) -> None:
    put("sub/train.py").chmod(0o700)
    done = run("convert", "--in-place", "sub/train.py")
    assert (done.code, done.out) == (0, b"")
    header = find_header(Path("sub/train.py").read_text())
    assert header is not None and header.source == "train.py"
    assert stat.S_IMODE(Path("sub/train.py").stat().st_mode) == 0o700
    before = Path("sub/train.py").read_bytes()
    again = run("convert", "--in-place", "sub/train.py")
    said = "sub/train.py:1:1: TMG009 converted before\nsub/train.py: unchanged\n"
    assert (again.code, again.out, again.err) == (0, b"", said)
    for more in ("--quiet", "--hook"):
        silent = run("convert", "--in-place", "sub/train.py", more)
        assert (silent.code, silent.out, silent.err) == (0, b"", "")
    assert Path("sub/train.py").read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_device_without_an_end_is_not_read(project: Path, run: Run) -> None:
    put("train.py")
    done = run("convert", "train.py", "-o", "/dev/full")
    assert (done.code, done.out) == (2, b"")
    assert done.err.splitlines()[0] == "/dev/full: TMG007 cannot be written: No space left on device"


def test_a_diff_exits_1_and_writes_nothing(project: Path, run: Run) -> None:
    put("train.py")
    done = run("convert", "--diff", "train.py")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith(b"--- a/train.py\n+++ b/train.py\n@@ -1,2 +1,5 @@\n+# tf-multigpu")
    assert files(project) == ["train.py"]


@pytest.mark.parametrize(
    "data",
    [
        TRAINING,
        TRAINING.rstrip(),
        TRAINING.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TRAINING.replace(b"\n", b"\r\n"),
        b"# coding: latin-1\n# gr\xf6\xdfe\x0c\n" + TRAINING,
        "größe = 1\n".encode() + TRAINING,
    ],
)
def test_a_diff_applied_is_the_conversion(project: Path, run: Run, data: bytes) -> None:
    put("train.py", data)
    converted = run("convert", "train.py").out
    diff = run("convert", "--diff", "train.py").out
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=diff, check=True)
    assert Path("train.py").read_bytes() == converted
    assert data.rstrip(b"\r\n").removeprefix(b"\xef\xbb\xbf") in converted
    assert converted.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")


def test_a_diff_without_what_is_only_indented(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the real engine
    monkeypatch.chdir(project)
    put("train.py", (ROOT / "fixtures/logistic_regression/single.py").read_bytes())
    whole = run("convert", "--diff", "train.py").out.splitlines()
    short = run("convert", "--diff", "-w", "train.py").out.splitlines()
    assert sum(line[:1] == b"-" for line in short) < sum(line[:1] == b"-" for line in whole)
    removed = [line[1:].split() for line in short if line[:1] == b"-"]
    added = [line[1:].split() for line in short if line[:1] == b"+"]
    assert not [line for line in removed if line and line in added]


@pytest.mark.parametrize("where", [(), ("-o", "out.py"), ("--check",)])
def test_blanks_are_of_no_account_without_a_diff(project: Path, run: Run, where: tuple[str, ...]) -> None:
    put("train.py")
    done = run("convert", "train.py", "-w", *where)
    assert done.code == 2 and "needs --diff" in done.err


def test_a_folder_into_a_folder(project: Path, run: Run) -> None:
    put("src/train.py")
    put("src/nets/deep.py")
    put("src/nets/model.py", NO_TRAINING)
    put("src/data.py", PLAIN)
    put("src/__init__.py", b"")
    put("src/notes.txt", b"x")
    done = run("convert", "src", "-o", "out")
    assert done.code == 0
    assert files(project / "out") == [
        "__init__.py",
        "data.py",
        "nets/deep.py",
        "nets/model.py",
        "notes.txt",
        "train.py",
    ]
    assert Path("out/data.py").read_bytes() == PLAIN
    assert Path("out/nets/deep.py").read_bytes().endswith(b"towers()")
    assert b"converted from ../../src/nets/deep.py sha256" in Path("out/nets/deep.py").read_bytes()
    assert done.err.endswith("2 converted, 4 copied\n")


def test_writing_the_same_again_touches_nothing(project: Path, run: Run) -> None:
    put("src/train.py")
    put("src/data.py", PLAIN)
    run("convert", "src", "-o", "src/out/")
    before = [os.stat(path).st_ino for path in files(project)]
    assert run("convert", "src", "-o", "src/out/").code == 0
    assert [os.stat(path).st_ino for path in files(project)] == before
    assert files(project) == ["src/data.py", "src/out/data.py", "src/out/train.py", "src/train.py"]


@pytest.mark.parametrize("arguments", [("a.py", "b.py", "-o", "out"), ("a.py", "-o", "out/"), ("a.py", "-o", "there")])
def test_scripts_into_a_folder(project: Path, run: Run, arguments: tuple[str, ...]) -> None:
    put("a.py")
    put("b.py")
    Path("there").mkdir()
    assert run("convert", *arguments).code == 0
    folder = Path(arguments[-1])
    assert files(folder) == [name for name in arguments if name in ("a.py", "b.py")]


# --- What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "TMG003"),
        (BOTH_PYTHONS, "TMG004"),
        (b"import tensorflow\nf(\n", "TMG005"),
        (b"import tensorflow\n#\xff\n", "TMG002"),
        (NO_TRAINING, "TMG201"),
    ],
)
@pytest.mark.parametrize("where", [("-o", "out.py"), (), ("--diff",)])
def test_bad_input_is_refused_and_nothing_written(
    project: Path, run: Run, where: tuple[str, ...], data: bytes, code: str
) -> None:
    put("bad.py", data)
    done = run("convert", "bad.py", *where)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("bad.py:") and f": {code} " in done.err
    assert files(project) == ["bad.py"]


def test_a_file_without_tensorflow_has_no_conversion_to_write_but_an_empty_diff(project: Path, run: Run) -> None:
    put("bad.py", PLAIN)
    for where in (("-o", "out.py"), ()):
        done = run("convert", "bad.py", *where)
        assert (done.code, done.out) == (2, b"")
        assert done.err.startswith("bad.py: TMG201 ")
    assert run("convert", "bad.py", "--diff").out == b""
    assert (run("convert", "bad.py", "--diff").code, files(Path())) == (0, ["bad.py"])


@pytest.mark.parametrize(("data", "code"), [(BOTH_PYTHONS, "TMG004"), (NO_TRAINING, "TMG201")])
def test_bad_input_stays_as_it_is_in_place(project: Path, run: Run, data: bytes, code: str) -> None:
    put("bad.py", data)
    done = run("convert", "--in-place", "bad.py")
    assert done.code == 2 and code in done.err
    assert Path("bad.py").read_bytes() == data


def test_standard_input_is_refused_under_its_name(project: Path, run: Run) -> None:
    done = run("convert", "-", stdin=BOTH_PYTHONS)
    assert done.code == 2
    assert done.err.startswith("<stdin>:2:1: TMG004 ")


def test_a_header_that_cannot_be_read_is_a_refusal(project: Path, run: Run) -> None:
    put("multi.py", b"# tf-multigpu 0.2.0: converted from train.py\n" + TRAINING)
    done = run("convert", "multi.py", "-o", "out.py")
    assert done.code == 2 and "multi.py:1:1: TMG010 " in done.err


def test_a_converted_script_is_not_converted_again(project: Path, run: Run) -> None:
    put("train.py")
    run("convert", "train.py", "-o", "multi.py")
    done = run("convert", "multi.py", "-o", "out.py")
    assert done.code == 2 and "TMG009" in done.err
    assert not Path("out.py").exists()
    assert run("convert", "multi.py", "--diff").code == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("gone.py",), "TMG001"),
        (("gone.py", "-o", "out.py"), "TMG001"),
        (("empty", "-o", "out"), "TMG006"),
        (("empty", "--in-place"), "TMG006"),
        (("a.py", "-o", "gone/out.py"), "TMG007"),
        (("a.py", "-o", "a.py"), "TMG008"),
        (("a.py", "-o", "./x/../a.py"), "TMG008"),
        (("a.py", "-o", "link.py"), "TMG008"),
        (("a.py", "b.py", "-o", "."), "TMG008"),
        (("a.py", "x/a.py", "-o", "out"), "TMG008"),
        (("x", "y", "-o", "out"), "TMG008"),
        (("x/a.py", "b.py", "-o", "x"), "TMG008"),
        (("a.py", "-o", "b.py/"), "TMG007"),
    ],
)
def test_files_that_cannot_be(project: Path, run: Run, arguments: tuple[str, ...], code: str) -> None:
    for name in ("a.py", "b.py", "x/a.py", "y/a.py"):
        put(name)
    put("empty/notes.txt")
    Path("link.py").symlink_to("a.py")
    before = files(project)
    done = run("convert", *arguments)
    assert done.code == 2
    assert f": {code} " in done.err
    assert [name for name in files(project) if name not in before] in ([], ["out/b.py"], ["x/b.py"])
    assert all(Path(name).read_bytes() == TRAINING for name in before if name.endswith(".py"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument"),
        (("a.py", "b.py"), "several scripts need"),
        ((".",), "several scripts need"),
        (("a.py", "--in-place", "-o", "b.py"), "exclude each other"),
        (("a.py", "--diff", "-o", "b.py"), "exclude each other"),
        (("a.py", "--diff", "--in-place"), "exclude each other"),
        (("a.py", "--check", "--diff"), "exclude each other"),
        (("a.py", "--check", "--verify"), "exclude each other"),
        (("a.py", "--quiet", "--verbose"), "exclude each other"),
        (("a.py", "--force"), "--force writes over files"),
        (("a.py", "--force", "--diff"), "--force writes over files"),
        (("a.py", "--force", "--check"), "--force writes over files"),
        (("a.py", "-o", "b.py", "--data", "link"), "--data says what becomes of folders"),
        (("a.py", "--diff", "--data", "none"), "--data says what becomes of folders"),
        (("a.py", "-o", "b.py", "--copy-limit", "3"), "--copy-limit says what becomes of large files"),
        (("a.py", "-o", "b.py", "--exclude", "x"), "--exclude leaves files out of folders"),
        (("-", "--exclude", "x"), "--exclude leaves files out of folders"),
        (("a.py", "-o", "b.py", "--python", "p"), "--python is the interpreter of --verify and --trace"),
        (("-", "a.py", "-o", "out"), "standard input"),
        (("-", "--in-place"), "standard input"),
        (("-", "--check"), "standard input"),
        (("-", "--verify"), "standard input"),
        (("-", "-o", "out/"), "standard input"),
        (("a.py", "--num-gpus", "0"), "--num-gpus"),
        (("a.py", "--num-gpus", "many"), "--num-gpus"),
        (("a.py", "--batch", "half"), "--batch"),
        (("a.py", "--variables", "gpu:1"), "--variables"),
        (("a.py", "--scale-lr", "2"), "--scale-lr"),
        (("a.py", "--gpu-memory", "1.5"), "--gpu-memory"),
        (("a.py", "--shared", "x y"), "--shared"),
        (("a.py", "--batch-axis", "x"), "--batch-axis"),
        (("a.py", "--line-length", "wide"), "--line-length"),
        (("a.py", "--no-such-option"), "No such option"),
    ],
)
def test_bad_usage(project: Path, run: Run, engine: Engine, arguments: tuple[str, ...], message: str) -> None:
    put("a.py")
    put("b.py")
    done = run("convert", *arguments, stdin=TRAINING)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())
    assert files(project) == ["a.py", "b.py"]
    assert engine.asked == []


# --- Several files ----------------------------------------------------------------------------------


def test_one_bad_file_does_not_stop_the_others(project: Path, run: Run) -> None:
    put("src/a.py", BOTH_PYTHONS)
    put("src/b.py", b"import tensorflow  # crash\n")
    put("src/c.py")
    done = run("convert", "src", "-o", "out")
    assert done.code == 4
    assert files(project / "out") == ["a.py", "b.py", "c.py"]
    assert Path("out/a.py").read_bytes() == BOTH_PYTHONS
    assert "src/a.py:2:1: TMG004 " in done.err
    assert "src/b.py: TMG090 internal error: KeyError: 'no such tower'" in done.err
    assert "Traceback" not in done.err
    assert done.err.endswith("1 converted, 1 refused, 1 failed\n")
    assert 'raise KeyError("no such tower")' in run("convert", "src", "-o", "out", "--verbose").err


@pytest.mark.parametrize(
    ("names", "code"),
    [("plain", 0), ("plain train", 1), ("train python2", 2), ("python2 crash", 4), ("crash train", 4)],
)
def test_the_worst_file_gives_the_exit_status(project: Path, run: Run, names: str, code: int) -> None:
    texts = {"plain": PLAIN, "train": TRAINING, "python2": BOTH_PYTHONS, "crash": b"import tensorflow # crash\n"}
    for name in names.split():
        put(f"src/{name}.py", texts[name])
    assert run("convert", "--diff", "src").code == code


@pytest.mark.parametrize("mode", ["--in-place", "--check"])
@pytest.mark.parametrize("named", [True, False])
def test_files_without_tensorflow_pass_in_silence(
    project: Path, run: Run, engine: Engine, mode: str, named: bool
) -> None:
    data = {"a.py": PLAIN, "__init__.py": b"", "latin.py": b"#\xff\n", "two.py": b'print "x"\n'}
    for name, content in data.items():
        put(name, content)
    done = run("convert", mode, *(data if named else ["."]))
    assert (done.code, done.out, done.err) == (0, b"", "")
    # The long way, which --verbose takes, gives the same.
    assert run("convert", mode, "--verbose", *(data if named else ["."])).code == 0
    assert {name: Path(name).read_bytes() for name in files(project)} == data
    assert engine.asked == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--in-place", "."), 0),
        (("--in-place", "model.py", "--skip-non-training"), 0),
        (("--in-place", "model.py"), 2),
        (("--diff", "."), 0),
        (("--diff", "model.py"), 2),
        (("--diff", "model.py", "--skip-non-training"), 0),
        (("-o", "out.py", "model.py"), 2),
        (("-o", "out.py", "model.py", "--skip-non-training"), 0),
    ],
)
def test_scripts_that_train_nothing_pass_in_folders_and_where_asked(
    project: Path, run: Run, arguments: tuple[str, ...], code: int
) -> None:
    put("model.py", NO_TRAINING)
    done = run("convert", *arguments)
    assert (done.code, done.out) == (code, b"")
    assert (done.err == "") == (code == 0)
    assert files(project) == ["model.py"]


# --- What is said -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "warned", "said"),
    [((), True, True), (("--quiet",), True, False), (("--verbose",), True, True)],
)
def test_quiet_and_verbose(project: Path, run: Run, arguments: tuple[str, ...], warned: bool, said: bool) -> None:
    put("train.py", TRAINING + b"# doubt\n")
    done = run("convert", "train.py", "-o", "multi.py", *arguments)
    assert done.code == 0
    assert ("train.py:2:1: TMG301 doubtful" in done.err) == warned
    assert ("written to multi.py" in done.err) == said


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_diff_is_coloured_on_a_terminal(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    put("train.py")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert (b"\x1b[32m+towers()" in run("convert", "--diff", "train.py").out) == coloured


@pytest.mark.parametrize(("chosen", "coloured"), [("always", True), ("auto", False), ("never", False)])
def test_a_diff_is_coloured_elsewhere_where_that_is_asked_for(
    project: Path, run: Run, chosen: str, coloured: bool
) -> None:
    put("train.py")
    assert (b"\x1b[32m+towers()" in run("convert", "--diff", "train.py", "--color", chosen).out) == coloured


def test_quiet_still_says_why(project: Path, run: Run) -> None:
    put("bad.py", BOTH_PYTHONS)
    assert "TMG004" in run("convert", "bad.py", "--quiet").err


def test_json(project: Path, run: Run) -> None:
    put("src/a.py")
    put("src/b.py", BOTH_PYTHONS)
    done = run("convert", "src", "-o", "out", "--json")
    report = json.loads(done.out)
    assert (done.code, done.err) == (2, "")
    assert report["exit_code"] == 2
    a, b = report["files"]
    assert (a["path"], a["outcome"], a["output"], a["written"]) == ("src/a.py", "converted", "out/a.py", True)
    assert (b["outcome"], b["output"], b["diagnostics"][0]["code"]) == ("refused", "out/b.py", "TMG004")


def test_json_holds_text_and_diff(project: Path, run: Run) -> None:
    put("train.py")
    assert json.loads(run("convert", "train.py", "--json").out)["files"][0]["text"].endswith("towers()")
    diff = json.loads(run("convert", "train.py", "--json", "--diff").out)["files"][0]["diff"]
    assert diff.startswith("--- a/train.py\n")


def test_options_reach_the_engine(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    flags = [
        *("--num-gpus", "auto", "--batch", "total", "--variables", "balanced", "--scale-lr", "sqrt"),
        *("--gpu-memory", "0.5", "--shared", "x", "--shared", "self.y"),
        *("--batch-axis", "z=1", "--batch-axis", "w=2", "--line-length", "80"),
    ]
    assert run("convert", "train.py", *flags).code == 0
    ((_, options),) = engine.asked
    assert options == from_flags(flags)
    assert options == Options(
        None, "total", "balanced", "sqrt", "keep", "grow", 0.5, ("x", "self.y"), (("z", 1), ("w", 2)), 80
    )


def test_without_options_the_engine_gets_the_defaults(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    run("convert", "train.py")
    assert engine.asked == [("train.py", Options())]


def test_a_reader_that_has_seen_enough_is_no_error(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    put("train.py")

    def broken(data: bytes) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("converter.cli.convert._emit", broken)
    copy = os.dup(1)
    try:
        done = run("convert", "train.py")
    finally:
        os.dup2(copy, 1)
        os.close(copy)
    assert (done.code, done.err) == (141, "")


@pytest.mark.parametrize("words", [["convert", "--help-all"], ["rules"], ["explain", "TMG205"], ["--version"]])
def test_a_pipe_that_nobody_reads_is_no_error(words: list[str]) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run([sys.executable, "-m", "tf_multigpu", *words], stdout=writes, stderr=subprocess.PIPE)
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, b"")


# --- Proofs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("-o", "multi.py"), ("--in-place",), ()])
@pytest.mark.parametrize("passed", [True, False])
def test_only_what_is_proven_is_written(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], passed: bool
) -> None:
    put("train.py")
    put("multi.py", b"")
    monkeypatch.setattr("converter.cli.files.proof.prove", lambda *_: (passed, "the table"))
    done = run("convert", "train.py", "--verify", *arguments)
    assert done.code == (0 if passed else 3)
    assert "the table" in done.err
    target = Path("train.py" if arguments == ("--in-place",) else "multi.py")
    is_written = target.read_bytes().endswith(b"towers()")
    assert is_written == (passed and arguments != ())
    assert done.out.endswith(b"towers()") == (passed and arguments == ())
    if not passed:
        assert "train.py: TMG012 " in done.err


def test_the_conversion_is_run_beside_the_script_and_taken_away(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from converter import verify

    put("src/train.py")
    seen = []

    def stand_in(
        single: Path,
        multi: Path,
        settings: verify.VerifySettings,
        parts: object,
        tell: object,
        pool: verify.Interpreters,
    ) -> verify.Report:
        seen.append((single, multi.parent, multi.read_bytes().endswith(b"towers()"), settings.gpus, settings.batch))
        return verify.Report("passed", "the same", 4, "total", 3)

    monkeypatch.setattr("converter.verify.verify", stand_in)
    arguments = ("--verify", "--num-gpus", "4", "--batch", "total")
    assert run("convert", "src/train.py", "-o", "multi.py", *arguments).code == 0
    assert seen == [(Path("src/train.py"), (project / "src"), True, 4, "total")]
    assert files(project) == ["multi.py", "src/train.py"]


def test_a_verification_that_cannot_begin_is_a_refusal(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from converter import verify

    def stand_in(*arguments: object) -> verify.Report:
        raise verify.VerifyError("no TensorFlow")

    put("train.py")
    monkeypatch.setattr("converter.verify.verify", stand_in)
    done = run("convert", "train.py", "-o", "multi.py", "--verify")
    assert done.code == 2
    assert "TMG012 verification cannot begin, nothing is written: no TensorFlow" in done.err
    assert files(project) == ["train.py"]


def test_all_scripts_of_a_folder_are_proven_with_one_import(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from converter import verify

    put("src/one.py")
    put("src/two.py")
    pools = []

    def stand_in(*arguments: object) -> verify.Report:
        pools.append(arguments[-1])
        return verify.Report("passed", "the same", 4, "total", 3)

    monkeypatch.setattr("converter.verify.verify", stand_in)
    monkeypatch.setattr("converter.verify.processes.interpreters.Interpreters", verify.Interpreters)
    assert run("convert", "src", "-o", "out", "--verify").code == 0
    assert run("convert", "src/one.py", "-o", "one.py", "--verify").code == 0
    first, second, third = pools
    assert isinstance(first, verify.Interpreters) and first is second is not third


# --- What is said of runs that do little ---------------------------------------------------------------


def test_the_next_step_of_standard_input_is_a_command_that_can_be_run(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = Path(__file__).parents[2].joinpath("fixtures/logistic_regression/single.py").read_bytes()
    said = run("convert", "-", "-o", "out.py", stdin=script).err.splitlines()[-1]
    assert said.split(maxsplit=1)[1].startswith("tf-multigpu verify ORIGINAL out.py, with ")


def test_a_folder_without_a_training_script_is_not_called_converted(project: Path, run: Run) -> None:
    put("nets/model.py", NO_TRAINING)
    said = "nothing was converted: no training step was found here; name one script to see why\n"
    assert run("convert", "nets", "-o", "out").err == said
    put("nets/train.py")
    assert "nothing was converted" not in run("convert", "nets", "-o", "out").err


def test_no_script_and_no_pairs(project: Path, run: Run) -> None:
    done = run("convert")
    said = " ".join(done.err.replace("│", "").split())
    assert done.code == 2 and "name a script or a folder; there is no configuration with pairs to make" in said
