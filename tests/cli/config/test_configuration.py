"""`[tool.tf-multigpu]`: what it may say, what is wrong with it, what is in force, and files in step with it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.cli.command_line.table import CONVERT, VERIFY, ConfigurationError
from converter.cli.config.file import load, nearest
from converter.cli.config.keys import COMMAND_LINE_ONLY, KEYS
from converter.options import Options
from converter.source.header import field_of, find_header
from tests.cli.standins import PLAIN, TRAINING, Engine, Run, files, put
from tests.scripts import INPUTS, MODEL, STEP
from tests.scripts import TRAINING as LOOP

HEAD = "[tool.tf-multigpu]\n"
PAIR = '[[tool.tf-multigpu.pairs]]\nsource = "train.py"\noutput = "multi.py"\n'
WEIGHTED = (
    INPUTS
    + "w = tf.placeholder(tf.float32, [4, 1])\n"
    + MODEL.replace("tf.layers.dense(X, 1)", "tf.matmul(X, w)").replace("- Y", "- Y + tf.get_variable('b', [1])")
    + STEP
    + LOOP
)


def config(text: str, path: str = "pyproject.toml") -> None:
    put(path, text.encode())


def problems(text: str) -> list[tuple[int, int, str, str]]:
    """What is wrong with a file: line, column, message and hint of each."""
    with pytest.raises(ConfigurationError) as error:
        load("pyproject.toml", text.encode())
    assert {problem.code for problem in error.value.problems} == {"TMG033"}
    return [(one.line, one.column, one.message, one.hint) for one in error.value.problems]


# --- What it may say ----------------------------------------------------------------------------------


def test_every_option_is_a_key_or_says_why_not() -> None:
    options = {option.flags[0][2:] for option in (*CONVERT.options, *VERIFY.options)} | {"args"}
    assert options == KEYS.keys() | COMMAND_LINE_ONLY.keys()
    assert not KEYS.keys() & COMMAND_LINE_ONLY.keys()
    assert all(key.expected for key in KEYS.values())


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("num-gpus = 4", Options(4)),
        ('num-gpus = "auto"', Options(None)),
        ('batch = "total"', Options(batch="total")),
        ("gpu-memory = 0.5", Options(gpu_memory=0.5)),
        ("gpu-memory = 1", Options(gpu_memory=1.0)),
        ('gpu-memory = "all"', Options(gpu_memory="all")),
        ("line-length = 79", Options(line_length=79)),
        ('fewer-gpus = "allow"\nloss = "global"', Options(fewer_gpus="allow", loss="global")),
        ('shared = ["a", "b.c"]', Options(shared=("a", "b.c"), of_project=("a", "b.c"))),
        ("batch-axis = {a = 1}", Options(batch_axes=(("a", 1),), of_project=("a",))),
        ('batch-axis = ["a=1"]', Options(batch_axes=(("a", 1),), of_project=("a",))),
    ],
)
def test_what_the_conversion_is_asked_for(project: Path, run: Run, engine: Engine, line: str, options: Options) -> None:
    put("train.py")
    config(HEAD + line + "\n")
    assert run("convert", "train.py", "-o", "multi.py").code == 0
    keys = {one.partition(" =")[0].replace("-", "_") for one in line.splitlines()}
    ((path, asked),) = engine.asked
    assert (path, replace(asked, configured=())) == ("train.py", options)
    assert set(asked.configured) == {field_of(key) for key in keys}


def test_what_the_command_line_gives_is_not_the_configurations(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    config(HEAD + 'num-gpus = 4\nloss = "global"\n')
    assert run("convert", "train.py", "-o", "multi.py", "--num-gpus", "8").code == 0
    assert engine.asked == [("train.py", Options(8, loss="global", configured=("loss",)))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("num_gpus = 4", "unknown key num_gpus; num-gpus is meant?"),
        ("bacth = 'total'", "unknown key bacth; batch is meant?"),
        ("override = []", "unknown key override; overrides is meant?"),
        ("zzz = 1", "unknown key zzz; `tf-multigpu config` names all keys"),
        ("force = true", "force is given on the command line alone: it would take the protection of your files away"),
        ("config = 'x'", "config is given on the command line alone"),
        ("num-gpus = 0", 'num-gpus is a whole number from 1 up or "auto", not 0'),
        ("num-gpus = '4'", 'num-gpus is a whole number from 1 up or "auto", not "4"'),
        ("num-gpus = 2.5", 'num-gpus is a whole number from 1 up or "auto", not 2.5'),
        ("num-gpus = true", 'num-gpus is a whole number from 1 up or "auto", not true'),
        ("batch = 'half'", 'batch is "per-gpu" or "total", not "half"'),
        ("strict = 1", "strict is true or false, not 1"),
        ("strict = 'yes'", 'strict is true or false, not "yes"'),
        ("shared = 'x'", 'shared is a list of texts, not "x"'),
        ("shared = [1]", "shared is a list of texts, not a list"),
        ("batch-axis = {x = '1'}", "batch-axis is a list of texts or a table such as {x = 1}, not a table"),
        ("jobs = 0", "jobs is a whole number from 1 up, not 0"),
        ("timeout = 1979-05-27", "timeout is a number from 1 up, not a date or time"),
        ("pairs = {}", "pairs is a list of tables, as [[tool.tf-multigpu.pairs]] begins, not a table"),
        ("pairs = [1]", "pairs is a list of tables, not of a number"),
        ("pairs = [{source = 'a.py'}]", 'a pair lacks its output: output = "train.py"'),
        ("pairs = [{source = 'a.py', output = 'b.py', to = 'c'}]", "unknown key to"),
        ("overrides = [{batch = 'total'}]", "an override names its files"),
        ("overrides = [{files = 'a.py'}]", "an override names its files"),
        ("overrides = [{files = ['a.py'], jobs = 2}]", "jobs holds for a whole run: it stands in [tool.tf-multigpu]"),
        ("overrides = [{files = ['a.py'], overrides = []}]", "unknown key overrides"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(line: str, message: str) -> None:
    ((found_line, column, said, hint),) = problems("[project]\nname = 'x'\n\n" + HEAD + "# comment\n" + line + "\n")
    assert message in f"{said}; {hint}"
    key = next(name for name in (*said.split(), "pairs", "overrides") if name in line and name.isascii())
    assert found_line == 6 and column >= 1 and key


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (HEAD + "batch = 1\n", (2, 1)),
        (HEAD + "  batch = 1\n", (2, 3)),
        (HEAD + "# batch = 2\n'batch' = 1\n", (3, 1)),
        (HEAD + 'args = ["batch = 3"]\nbatch = 1\n', (3, 1)),
        ("[tool.other]\nbatch = 1\n" + HEAD + "batch = 1\n", (4, 1)),
        ("tool.tf-multigpu.batch = 1\n", (1, 18)),
        ("tool = {tf-multigpu = {batch = 1}}\n", (1, 24)),
        (HEAD + "overrides = [{files = ['a'], batch = 'total'}, {files = ['b'], batch = 1}]\n", (2, 64)),
        (HEAD + "[[tool.tf-multigpu.overrides]]\nfiles = ['a']\nbatch = 'total'\n"
         "[[tool.tf-multigpu.overrides]]\nfiles = ['b']\nbatch = 1\n", (7, 1)),
        (HEAD.replace("\n", "\r\n") + "\r\nbatch = 1\r\n", (3, 1)),
    ],
)  # fmt: skip
def test_the_place_is_that_of_the_key(text: str, place: tuple[int, int]) -> None:
    ((line, column, _, _),) = problems(text)
    assert (line, column) == place


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert [found[0] for found in problems(HEAD + "jobs = 0\nbatch = 1\nzzz = 1\n")] == [2, 3, 4]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.tf-multigpu\nbatch = 'total'\n", "pyproject.toml:1:18: TMG033 is not TOML: "),
        ("[tool.tf-multigpu", "pyproject.toml:1:18: TMG033 is not TOML: "),
        ("a = 1\n[[ tool . 'tf-multigpu\n", "pyproject.toml:3:1: TMG033 is not TOML: "),
        ("[tool.tf_multigpu]\nbatch = 'total'\n", "pyproject.toml:1:7: TMG033 the table is called "),
        ("[tf-multigpu]\nbatch = 'total'\n", "pyproject.toml:1:2: TMG033 the table is called "),
        ("[tool.tf_multigpu.x]\n", "pyproject.toml:1:7: TMG033 the table is called "),
    ],
)  # fmt: skip
def test_no_table_is_passed_over_without_a_word(text: str, said: str, project: Path, run: Run) -> None:
    config(text)
    done = run("convert", "--check", ".")
    assert (done.code, done.out, done.err[: len(said)]) == (2, b"", said)


@pytest.mark.parametrize(
    "text",
    [
        "[project]\ndependencies = ['tf-multigpu>=0.2']\n[tool.black\n",
        "[project]\ndependencies = ['tf_multigpu==0.2']\n",
        "[tool.poetry.dependencies]\ntf-multigpu = '*'\n",
        "[tool.mypy]\nmodules = ['tf_multigpu.api']\n",
        "# [tool.tf-multigpu\n",
    ],
)
def test_what_is_no_table_of_the_tool(text: str, project: Path, run: Run) -> None:
    config(text)
    assert "TMG033" not in run("convert", "--check", ".").err


def test_what_is_no_toml_is_said_with_its_place(project: Path, run: Run) -> None:
    config(HEAD + "batch =\n")
    done = run("convert", "--check", ".")
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("pyproject.toml:2:8: TMG033 is not TOML: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("gpu-memory = 4.5", "gpu-memory: '4.5' is not growth, all, or a fraction"),
        ("shared = ['not a name']", "shared: 'not a name' is not a name"),
        ("batch-axis = {x = 1}\nshared = ['x']", "x is shared and has a batch axis"),
        ("batch-axis = ['x=1', 'x=2']", "x has two batch axes"),
        ("batch-axis = ['x']", "batch-axis: 'x' is not a whole number"),
        ("batch-axis = {x = -1}", "batch-axis: '-1' is not a whole number"),
    ],
)
def test_values_that_options_refuse(project: Path, run: Run, engine: Engine, line: str, message: str) -> None:
    put("train.py")
    config(HEAD + "\n" + line + "\n")
    for command in (["convert", "train.py", "-o", "multi.py"], ["config"]):
        done = run(*command)
        assert done.code == 2
        assert f"pyproject.toml:3:1: TMG033 {message}" in done.err
    assert engine.asked == [] and files(project) == ["pyproject.toml", "train.py"]


# --- Which file -----------------------------------------------------------------------------------------


def test_the_nearest_file_with_a_table(project: Path) -> None:
    config(HEAD + "jobs = 2\n")
    config("[project]\nname = 'tf-multigpu'\n", "sub/pyproject.toml")
    put("sub/deep/train.py")
    found = nearest(["sub/deep/train.py"])
    assert found is not None and (found.path, found.values) == ("pyproject.toml", {"jobs": 2})
    config(HEAD + "jobs = 3\n", "sub/pyproject.toml")
    found = nearest(["sub/deep"])
    assert found is not None and found.values == {"jobs": 3}


def test_a_table_above_the_repository_is_another_projects(project: Path) -> None:
    config(HEAD + "jobs = 2\n")
    (project / "sub/.git").mkdir(parents=True)
    assert nearest(["sub"]) is None and nearest(["sub/train.py"]) is None
    assert nearest(["."]) is not None


def test_files_without_the_tools_name_are_not_read(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    config("this is no TOML")
    assert run("convert", "train.py", "-o", "multi.py").code == 0


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "jobs = 2\n",
        "[ tool . 'tf-multigpu' ]\njobs = 2\n",
        '[tool]\n"tf-multigpu" = {jobs = 2}\n',
        "[tool]\ntf-multigpu . jobs = 2\n",
        "tool.tf-multigpu.jobs = 2\n",
        "tool = {tf-multigpu = {jobs = 2}}\n",
    ],
)
def test_a_table_in_each_way_to_write_one(project: Path, text: str) -> None:
    config(text)
    found = nearest(["train.py"])
    assert found is not None and found.values == {"jobs": 2}


def test_a_project_that_depends_on_the_tool_is_not_read_for_it(project: Path) -> None:
    listed = 'dependencies = ["tf-multigpu>=0.2", "tf-multigpu==0.2", "tf-multigpu", "tf-multigpu[verify]"]\n'
    config(f"[project]\n{listed}this is no TOML\n")
    assert nearest(["train.py"]) is None


def test_paths_with_two_configurations(project: Path, run: Run) -> None:
    for name in ("a", "b"):
        config(HEAD, f"{name}/pyproject.toml")
        put(f"{name}/train.py")
    done = run("convert", "a/train.py", "b/train.py", "--in-place")
    assert (done.code, "TMG034" in done.err, "a/pyproject.toml" in done.err) == (2, True, True)
    assert Path("a/train.py").read_bytes() == TRAINING
    done = run("convert", "a/train.py", "train.py", "--in-place")
    assert (done.code, "train.py: none" in done.err) == (2, True)
    assert run("convert", "a/train.py", "b/train.py", "--in-place", "--config", "a/pyproject.toml").code == 0


def test_a_configuration_further_down_is_not_followed_in_silence(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    put("sub/deep/train.py")
    config("[project]\nname = 'tf-multigpu'\n")
    config(HEAD + "num-gpus = 8\n", "sub/pyproject.toml")
    done = run("convert", ".", "-o", "out/")
    assert (done.code, done.err.count("TMG036")) == (0, 1)
    assert "./sub/pyproject.toml: TMG036 this configuration is not followed" in done.err
    assert "TMG036" not in run("convert", ".", "-o", "out/", "--no-config").err
    assert "TMG036" not in run("convert", "sub", "-o", "out2/").err
    assert "TMG036" not in run("convert", "sub/deep/train.py", "-o", "out3.py").err


def test_a_file_by_name_and_none(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    config(HEAD + "num-gpus = 4\n")
    config(HEAD + "num-gpus = 8\n", "other/mg.toml")
    assert run("convert", "train.py", "-o", "a.py", "--config", "other/mg.toml").code == 0
    assert run("convert", "train.py", "-o", "b.py", "--no-config").code == 0
    assert [options.num_gpus for _, options in engine.asked] == [8, 2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--config gone.toml", "gone.toml: TMG033 cannot be read: No such file"),
        ("--config empty.toml", "empty.toml: TMG033 there is no table [tool.tf-multigpu] in it"),
        ("--config empty.toml --no-config", "--config and --no-config exclude each other"),
    ],
)
def test_a_file_by_name_that_is_none(project: Path, run: Run, engine: Engine, words: str, message: str) -> None:
    put("train.py")
    put("empty.toml", b"")
    done = run("convert", "train.py", "-o", "out.py", *words.split())
    assert done.code == 2 and message in done.err.replace("\n", " ").replace("│", "")
    assert engine.asked == []


# --- What is in force -----------------------------------------------------------------------------------


def test_the_command_line_goes_before_all(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    config(
        HEAD + 'num-gpus = 4\nshared = ["x"]\n[[tool.tf-multigpu.overrides]]\nfiles = ["train.py"]\nbatch = "total"\n'
    )
    run("convert", "train.py", "-o", "a.py", "--num-gpus", "2", "--shared", "y", "--batch", "per-gpu")
    assert engine.asked == [("train.py", Options(2, shared=("y",)))]


def test_what_goes_before_takes_the_input_from_the_other_option(project: Path, run: Run, engine: Engine) -> None:
    put("a.py")
    put("b.py")
    config(HEAD + 'shared = ["x", "y"]\n[[tool.tf-multigpu.overrides]]\nfiles = ["b.py"]\nbatch-axis = {x = 1}\n')
    assert run("convert", "a.py", "-o", "out.py", "--batch-axis", "y=2").code == 0
    assert run("convert", "b.py", "-o", "out2.py").code == 0
    (_, a), (_, b) = engine.asked
    assert (a.shared, a.batch_axes) == (("x",), (("y", 2),))
    assert (b.shared, b.batch_axes) == (("y",), (("x", 1),))


def test_overrides_go_before_the_table_and_later_ones_before_earlier(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    put("models/train.py")
    put("models/old/train.py")
    config(
        HEAD + 'num-gpus = 4\nbatch = "total"\n'
        '[[tool.tf-multigpu.overrides]]\nfiles = ["models/"]\nnum-gpus = 8\nvariables = "gpu:0"\n'
        '[[tool.tf-multigpu.overrides]]\nfiles = ["models/old/*.py", "!models/old/x.py"]\nnum-gpus = "auto"\n'
    )
    assert run("convert", ".", "-o", "out/").code == 0
    assert dict(engine.asked) == {
        "./train.py": Options(4, "total", configured=("num_gpus", "batch")),
        "./models/train.py": Options(8, "total", "gpu:0", configured=("num_gpus", "batch", "variables")),
        "./models/old/train.py": Options(None, "total", "gpu:0", configured=("num_gpus", "batch", "variables")),
    }


def test_overrides_reach_every_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config(HEAD + "num-gpus = 4\n" + '[[tool.tf-multigpu.overrides]]\nfiles = ["b*.py"]\nnum-gpus = 8\n')
    for name in ("a.py", "b.py", "c.py", "b2.py"):
        put(name, (INPUTS + MODEL + STEP + LOOP).encode())
    assert main(["convert", ".", "-o", "out/", "--jobs", "2"]) == 0
    made = {path.name: find_header(path.read_text()) for path in Path("out").glob("*.py")}
    assert {name: header and header.options.num_gpus for name, header in made.items()} == {
        "a.py": 4, "b.py": 8, "c.py": 4, "b2.py": 8,
    }  # fmt: skip


def test_strict_and_refused_for_single_files(project: Path, run: Run) -> None:
    put("a.py", TRAINING + b"# doubt\n")
    put("b.py", TRAINING + b"# doubt\n")
    put("c.py", b"import tensorflow\nprint 'x'\nf''\n")
    config(
        HEAD + '[[tool.tf-multigpu.overrides]]\nfiles = ["b.py"]\nstrict = true\nrefused = "pass"\n'
        '[[tool.tf-multigpu.overrides]]\nfiles = ["c.py"]\nrefused = "pass"\n'
    )
    done = run("convert", "a.py", "b.py", "c.py", "-o", "out/")
    assert done.code == 0
    assert "b.py: TMG031" in done.err and "TMG004" in done.err
    assert files(project / "out") == ["a.py"]


def test_excludes_are_seen_from_the_file(project: Path, run: Run, engine: Engine) -> None:
    put("sub/old/train.py")
    put("sub/train.py")
    config(HEAD + 'exclude = ["/sub/old/"]\n')
    assert run("convert", "sub", "-o", "out/").code == 0
    assert files(project / "out") == ["train.py"]
    assert run("convert", "sub", "-o", "all/", "--exclude", "none").code == 0
    assert files(project / "all") == ["old/train.py", "train.py"]
    assert run("convert", "sub/old", "-o", "named/").code == 0  # whoever names a folder means what is in it
    assert files(project / "named") == ["train.py"]
    assert run("convert", "sub/old/train.py", "-o", "one.py").code == 0


def test_a_hook_passes_over_excluded_files_that_it_is_given(project: Path, run: Run, engine: Engine) -> None:
    put("old/train.py")
    put("train.py")
    config(HEAD + 'exclude = ["old/"]\n')
    assert run("convert", "--in-place", "--hook", "old/train.py", "train.py").code == 0
    assert [path for path, _ in engine.asked] == ["train.py"]


@pytest.mark.parametrize(
    ("table", "words", "code"),
    [
        ("", "", 0),
        ('refused = "pass"', "", 0),
        ('refused = "fail"', "", 2),
        ('refused = "fail"', "--refused pass", 0),
        ('refused = "pass"', "--refused fail", 2),
        ("", "--refused fail", 2),
        ('[[tool.tf-multigpu.overrides]]\nfiles = ["t*.py"]\nrefused = "fail"', "", 2),
        ('[[tool.tf-multigpu.overrides]]\nfiles = ["u*.py"]\nrefused = "fail"', "", 0),
    ],
)
def test_a_refused_file_fails_a_hook_only_where_asked(
    project: Path, run: Run, table: str, words: str, code: int
) -> None:
    put("train.py", b"import tensorflow\nprint 'x'\nf''\n")
    config(HEAD + table + "\n")
    done = run("convert", "--in-place", "--hook", *words.split(), "train.py")
    assert (done.code, "TMG004" in done.err) == (code, True)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("verify = true", "--check"),
        ("trace = true", "--check"),
        ("diff = true", "-o out.py"),
        ("check = true", "-o out.py"),
        ('output = "a.py"', "-o out.py"),
        ('output-dir = "a"', "--diff"),
        ('html = "p.html"', "-o out.py"),
        ('python = "py"', "-o out.py"),
        ("network = true", "-o out.py"),
        ("ignore-all-space = true", "-o out.py"),
        ("quiet = true", "-v -o out.py"),
        ('output-format = "github"', ""),
        ('output-format = "github"', "-o out.py --json"),
    ],
)
def test_what_has_no_place_in_a_run_does_not_stop_it(project: Path, run: Run, table: str, words: str) -> None:
    put("train.py")
    config(HEAD + table + "\n")
    done = run("convert", "train.py", *words.split())
    assert done.code == (1 if {"--check", "--diff"} & set(words.split()) else 0), done.err
    assert not Path("a.py").exists() and not Path("a").exists()


def test_what_the_file_says_against_itself_is_an_error(project: Path, run: Run) -> None:
    put("train.py")
    config(HEAD + "quiet = true\nverbose = true\n")
    assert run("convert", "train.py", "-o", "out.py").code == 2


def test_places_are_seen_from_the_file(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    put("sub/train.py")
    config(HEAD + 'output-dir = "out"\n')
    monkeypatch.chdir(project / "sub")
    assert run("convert", "train.py").code == 0
    assert files(project / "out") == ["train.py"]


def test_a_comment_goes_before_the_project_and_an_option_before_a_comment(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put("train.py", WEIGHTED.replace("[None, 4])\n", "[None, 4])  # tf-multigpu: batch-axis=0\n").encode())
    config(HEAD + 'shared = ["X", "w"]\n')
    done = run("convert", "train.py", "-o", "multi.py")
    assert (done.code, done.err.count("TMG0")) == (0, 0)
    header = find_header(Path("multi.py").read_text())
    assert header is not None and header.options.shared == ("w",)
    assert run("convert", "--check", "multi.py").code == 0
    assert run("convert", "train.py", "--in-place").code == 0
    done = run("convert", "train.py", "--in-place")
    assert (done.code, done.err.splitlines()[-1]) == (0, "train.py: unchanged"), "the same options as before"
    put("other.py", WEIGHTED.replace("[4, 1])\n", "[4, 1])  # tf-multigpu: batch-axis=0\n").encode())
    done = run("convert", "other.py", "-o", "multi.py", "--shared", "w", "--force")
    assert done.code == 0
    assert "other.py:6:41: TMG027 `batch-axis=0` has no effect: an option says otherwise of w" in done.err


def test_an_input_of_the_project_that_a_script_has_not(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put("train.py", WEIGHTED.encode())
    config(HEAD + 'shared = ["ww", "w"]\n')
    done = run("convert", "train.py", "-o", "multi.py")
    assert done.code == 0
    assert "train.py: TMG035 the configuration's shared: no input is called ww\n    w is meant?" in done.err
    assert run("convert", "train.py", "-o", "strict.py", "--strict").code == 2


# --- The header, and files in step -----------------------------------------------------------------------


@pytest.mark.parametrize("table", ["num-gpus = 4\nshared = ['w']\n", "loss = 'global'\nfewer-gpus = 'allow'\n"])
@pytest.mark.parametrize("words", ["", "--loss towers --fewer-gpus refuse --num-gpus 3"])
def test_the_headers_command_makes_the_file_again(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, table: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    put("train.py", WEIGHTED.encode())
    config(HEAD + table)
    assert run("convert", "train.py", "-o", "multi.py", *words.split()).code == 0
    before = Path("multi.py").read_bytes()
    header = find_header(before.decode())
    assert header is not None
    Path("multi.py").unlink()
    assert run(*shlex.split(header.command)[1:]).code == 0
    assert Path("multi.py").read_bytes() == before


def test_the_headers_command_is_one_that_the_program_takes(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a script that takes no other batch than the whole: what was asked for is in the command."""
    monkeypatch.chdir(tmp_path)
    put("train.py", Path(__file__).parents[3].joinpath("fixtures/full_batch/single.py").read_bytes())
    assert run("convert", "train.py", "-o", "multi.py").code == 0
    before = Path("multi.py").read_bytes()
    header = find_header(before.decode())
    assert header is not None and header.options.asked_batch == "per-gpu"
    assert run(*shlex.split(header.command)[1:]).code == 0
    assert Path("multi.py").read_bytes() == before


def test_in_place_with_what_the_configuration_says_now(project: Path, run: Run) -> None:
    put("train.py")
    config(HEAD + "num-gpus = 4\n")
    assert run("convert", "train.py", "--in-place").code == 0
    assert run("convert", "train.py", "--in-place").code == 0
    config(HEAD + "num-gpus = 8\n")
    done = run("convert", "train.py", "--in-place", "--hook")
    assert done.code == 2
    assert "TMG021 converted before with --num-gpus 4 --batch per-gpu; this run asks for --num-gpus 8" in done.err
    assert "(pyproject.toml:2:1)" in done.err


def test_a_converted_file_is_held_against_what_is_asked_for(project: Path, run: Run) -> None:
    put("train.py")
    put("other.py")
    assert run("convert", "train.py", "-o", "multi.py", "--num-gpus", "4").code == 0
    assert run("convert", "--check", "multi.py").code == 0
    config(HEAD + 'batch = "per-gpu"\n[[tool.tf-multigpu.overrides]]\nfiles = ["other.py"]\nnum-gpus = 8\n')
    assert run("convert", "--check", "multi.py").code == 0
    config(HEAD + '[[tool.tf-multigpu.overrides]]\nfiles = ["train.py"]\nnum-gpus = 8\n')
    done = run("convert", "--check", "multi.py")
    assert done.code == 1
    assert "--num-gpus 8 is asked for by pyproject.toml:4:1, and it has --num-gpus 4" in done.err
    assert "convert again: tf-multigpu convert train.py -o multi.py --num-gpus 8 --batch per-gpu" in done.err
    assert run("convert", "--check", "multi.py", "--num-gpus", "4").code == 0


def test_pairs_are_made_and_held_in_step(project: Path, run: Run) -> None:
    put("train.py")
    put("src/net.py")
    put("src/data.txt", b"1\n")
    config(HEAD + "num-gpus = 4\n" + PAIR + '[[tool.tf-multigpu.pairs]]\nsource = "src"\noutput = "out/"\n')
    assert run("convert", "--check").code == 1
    assert not Path("multi.py").exists()
    assert run("convert").code == 0
    assert files(project) == [
        "multi.py", "out/data.txt", "out/net.py", "pyproject.toml", "src/data.txt", "src/net.py", "train.py",
    ]  # fmt: skip
    assert run("convert", "--check").code == 0
    assert run("convert").code == 0
    put("src/data.txt", b"2\n")
    done = run("convert", "--check")
    assert (done.code, "src/data.txt" in done.err) == (1, True)
    assert run("convert", "--diff").code == 1
    assert run("convert").code == 0 and Path("out/data.txt").read_bytes() == b"2\n"
    put("multi.py", Path("multi.py").read_bytes() + b"# by hand\n")
    assert "TMG020" in run("convert", "--check").err
    assert "edited by hand" in run("convert").err


def test_pairs_change_with_the_configuration(project: Path, run: Run) -> None:
    put("train.py")
    config(HEAD + "num-gpus = 4\n" + PAIR)
    assert run("convert").code == 0
    config(HEAD + "num-gpus = 8\n" + PAIR)
    assert run("convert", "--check").code == 1
    assert run("convert").code == 0 and run("convert", "--check").code == 0


def test_pairs_from_a_folder_below(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    put("train.py")
    (project / "sub").mkdir()
    config(HEAD + PAIR)
    monkeypatch.chdir(project / "sub")
    assert run("convert").code == 0
    assert (project / "multi.py").exists()


def test_pairs_as_json_are_one_document(project: Path, run: Run) -> None:
    put("a.py")
    put("b.py")
    config(HEAD + "pairs = [{source = 'a.py', output = 'c.py'}, {source = 'b.py', output = 'd.py'}]\n")
    told = json.loads(run("convert", "--json").out)
    assert [file["output"] for file in told["files"]] == ["c.py", "d.py"]


@pytest.mark.parametrize("text", ["", HEAD])
def test_no_path_and_no_pairs(project: Path, run: Run, text: str) -> None:
    config(text)
    for words in ((), ("--check",)):
        done = run("convert", *words)
        assert done.code == 2 and "Missing argument" in done.err


@pytest.mark.parametrize("words", ["--in-place", "-o x.py", "--output-dir x"])
def test_pairs_have_their_own_places(project: Path, run: Run, words: str) -> None:
    put("train.py")
    config(HEAD + PAIR)
    assert run("convert", *words.split()).code == 2
    assert files(project) == ["pyproject.toml", "train.py"]


# --- What it costs --------------------------------------------------------------------------------------


def test_a_table_changes_nothing_for_files_without_tensorflow(project: Path, run: Run) -> None:
    put("plain.py", PLAIN)
    config(HEAD + "num-gpus = 4\nstrict = true\nrefused = 'fail'\n")
    assert run("convert", "--check", "plain.py").code == 0
    config(HEAD + "num-gpu = 4\n")
    assert run("convert", "--check", "plain.py").code == 2


# --- Showing it ------------------------------------------------------------------------------------------


def test_what_is_in_force_is_shown(project: Path, run: Run) -> None:
    put("train.py", TRAINING + b"# tf-multigpu: skip-file\n")
    config(
        HEAD
        + "num-gpus = 4\nsteps = 'all'\n"
        + PAIR
        + '[[tool.tf-multigpu.overrides]]\nfiles = ["train.py"]\nbatch = "total"\n'
    )
    done = run("config")
    lines = [line.split() for line in done.out.decode().splitlines()]
    assert done.code == 0
    assert ["num-gpus", "=", "4", "pyproject.toml:2:1"] in lines
    assert ["steps", "=", '"all"', "pyproject.toml:3:1"] in lines
    assert ["batch", "=", '"per-gpu"', "default"] in lines
    assert ["train.py", "->", "multi.py"] in lines
    lines = [line.split() for line in run("config", "train.py").out.decode().splitlines()]
    assert ["batch", "=", '"total"', "pyproject.toml:9:1"] in lines
    assert ["#", "tf-multigpu:", "skip-file", "train.py:3"] in lines


def test_what_is_in_force_as_json(project: Path, run: Run) -> None:
    put("train.py")
    config(HEAD + "num-gpus = 4\n" + PAIR + '[[tool.tf-multigpu.overrides]]\nfiles = ["*.py"]\nshared = ["x"]\n')
    told = json.loads(run("config", "--json", "train.py").out)
    assert told["schema"] == "tf-multigpu/config/1" and told["file"] == "pyproject.toml"
    assert told["options"].keys() == KEYS.keys()
    assert told["options"]["num-gpus"] == {"value": 4, "from": "pyproject.toml:2:1"}
    assert told["options"]["batch"] == {"value": "per-gpu", "from": "default"}
    assert told["scripts"]["train.py"]["options"]["shared"] == {"value": ["x"], "from": "pyproject.toml:8:1"}
    assert told["overrides"] == [{"files": ["*.py"], "shared": ["x"]}]
    assert told["pairs"] == [{"source": "train.py", "output": "multi.py"}]


def test_that_there_is_none_is_shown(project: Path, run: Run) -> None:
    assert "no configuration" in run("config").out.decode()
    config(HEAD + "num-gpus = 4\n")
    assert json.loads(run("config", "--json", "--no-config").out)["file"] is None


@pytest.mark.parametrize(
    ("data", "message"), [(None, "train.py: no such file or folder"), (b"\xff\xfe", "train.py: the file is UTF-16")]
)
def test_a_script_that_cannot_be_read_is_an_error(project: Path, run: Run, data: bytes | None, message: str) -> None:
    if data:
        put("train.py", data)
    done = run("config", "train.py")
    assert done.code == 2 and message in done.err
    assert run("config", ".").code == 0


# --- verify ---------------------------------------------------------------------------------------------


def test_verify_takes_its_options_from_the_file(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from converter.verify import VerifyError, VerifySettings

    seen: list[VerifySettings] = []

    def stand_in(single: Path, multi: Path, settings: VerifySettings, quiet: bool) -> None:
        seen.append(settings)
        raise VerifyError("seen")

    monkeypatch.setattr("converter.cli.verify.run_verification", stand_in)
    put("a/train.py")
    config(HEAD, "b/pyproject.toml")  # beside the other script: not the one that counts
    config(
        HEAD + 'steps = 5\npython = "env/bin/python"\nargs = ["--lr", "1"]\nbatch = "total"\n'
        '[[tool.tf-multigpu.overrides]]\nfiles = ["train.py"]\ngpus = 3\ntimeout = 9\n', "a/pyproject.toml"
    )  # fmt: skip
    run("verify", "a/train.py", "b/multi.py")
    run("verify", "a/train.py", "b/multi.py", "--steps", "7", "--", "--lr", "2")
    run("verify", "a/train.py", "b/multi.py", "--no-config")
    with_file, over, without = seen
    assert (with_file.steps, with_file.python, with_file.args) == (5, "a/env/bin/python", ("--lr", "1"))
    assert (with_file.gpus, with_file.timeout, with_file.batch) == (3, 9.0, None)
    assert (over.steps, over.args) == (7, ("--lr", "2"))
    assert (without.steps, without.python, without.args, without.gpus) == (3, None, (), None)


@pytest.mark.parametrize(("file", "flags", "expected"), [
    ("", ("--python", "env/bin/python"), "env/bin/python"),
    ('python = "env/bin/python"\n', (), "env/bin/python"),
    ('python = "env/bin/python"\n', ("--python", "other"), "other"),
    ("", (), None),
])  # fmt: skip
def test_convert_proves_with_the_interpreter_that_is_named(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, file: str, flags: tuple[str, ...], expected: str | None
) -> None:
    from converter.verify import VerifyError, VerifySettings

    seen: list[VerifySettings] = []

    def stand_in(single: Path, multi: Path, settings: VerifySettings, *_: object, **__: object) -> None:
        seen.append(settings)
        raise VerifyError("seen")

    monkeypatch.setattr("converter.cli.verify.run_verification", stand_in)
    put("train.py")
    config(HEAD + file, "pyproject.toml")
    done = run("convert", "train.py", "-o", "multi.py", "--verify", *flags)
    assert ([one.python for one in seen], done.code) == ([expected], 2)
    assert "TMG012 verification cannot begin, nothing is written: seen" in done.err and "by --python" in done.err


# --- Options that have no effect for some of a project's scripts --------------------------------------------

KERAS = """\
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile('sgd', 'mse')
model.fit(x, y)
"""


def test_one_configuration_for_sessions_and_keras(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put("train.py", (INPUTS + MODEL + STEP + LOOP).encode())
    put("fit.py", KERAS.encode())
    config(HEAD + 'num-gpus = 4\nhelpers = "package"\nvariables = "balanced"\n')
    done = run("convert", ".", "-o", "out/", "-v")
    assert done.code == 0 and done.err.count("\n    configuration:") == 1
    assert "    configuration: --variables, --helpers have no effect for the target mirrored\n" in done.err
    headers = {name: find_header(Path("out", name).read_text()) for name in ("train.py", "fit.py")}
    assert [(h.options.helpers, h.options.variables, h.options.num_gpus) for h in headers.values() if h] == [
        ("package", "balanced", 4), ("inline", "cpu", 4)
    ]  # fmt: skip
    assert headers["fit.py"] and headers["fit.py"].command.endswith("--num-gpus 4 --batch per-gpu --target mirrored")
    assert run("convert", "--check", "out").code == 0
    # In place, too, and after a change of what has no effect there.
    put("alone.py", KERAS.encode())
    assert run("convert", "alone.py", "--in-place").code == 0
    config(HEAD + 'num-gpus = 4\nhelpers = "module"\n')
    assert run("convert", "alone.py", "--in-place").code == 0
    assert run("convert", "--check", "out/fit.py").code == 0
    stale = run("convert", "--check", "out/train.py", "out/fit.py", "--num-gpus", "8")
    advice = next(line for line in stale.err.splitlines() if "-o out/fit.py" in line)
    assert stale.code == 1 and advice.endswith(" --num-gpus 8 --batch per-gpu")
    refused = run("convert", "fit.py", "-o", "again.py", "--helpers", "package")
    assert refused.code == 2 and "TMG287 --helpers has no effect" in refused.err
    assert run("convert", "train.py", "-o", "again.py", "--helpers", "package").code == 0


# --- Checked pairs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["", "--num-gpus 8 --shared w", "--no-config", "--config pyproject.toml"])
def test_a_check_names_the_command_that_writes_the_output(project: Path, run: Run, words: str) -> None:
    put("my train.py")
    config(HEAD + "num-gpus = 4\n")
    check = ("convert", "--check", "my train.py", "-o", "out.py", *words.split())
    done = run(*check)
    assert done.code == 1
    said = done.err.splitlines()[-1]
    assert said == f"    to write it: tf-multigpu convert 'my train.py' -o out.py {words}".rstrip()
    assert run(*shlex.split(said.partition(": ")[2])[1:]).code == 0
    done = run(*check)
    assert (done.code, done.err) == (0, "1 up to date\n")
    assert (run(*check, "-q").code, run(*check, "-q").err) == (0, "")


def test_a_check_of_pairs_names_a_command_for_each_that_fails(project: Path, run: Run) -> None:
    for name in ("a", "b", "c"):
        put(f"{name}.py")
    pair = "[[tool.tf-multigpu.pairs]]\nsource = '{0}.py'\noutput = '{0}_mg.py'\n"
    config(HEAD + "".join(pair.format(name) for name in ("a", "b", "c")))
    assert run("convert").code == 0
    assert run("convert", "--check").err == "3 up to date\n"
    put("a.py", TRAINING + b"# more\n")
    put("c.py", TRAINING + b"# more\n")
    done = run("convert", "--check")
    commands = [line.partition(": ")[2] for line in done.err.splitlines() if "to write it" in line]
    assert commands == [f"tf-multigpu convert {name}.py -o {name}_mg.py" for name in ("a", "c")]
    assert (done.code, done.err.splitlines()[-1]) == (1, "1 up to date, 2 would change")
    assert "tf-multigpu convert a.py -o a_mg.py" in run("convert", "--check", "--output-format", "github").out.decode()
