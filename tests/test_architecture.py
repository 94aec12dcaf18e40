"""Imports go one way: source, analysis, plan, rewrite, then report, beside it verify, the commands on top."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from converter.rule import rule_modules
from tests.trees import nodes_of, tree_of

ROOT = Path(__file__).resolve().parent.parent

# What every room may know: plain data without behaviour, and how a text is parsed.
BASE = {
    "converter", "converter.choices", "converter.diagnostics", "converter.options", "converter.dataclass",
    "converter.parsing", "converter.source.header",
}  # fmt: skip

# Room -> the rooms that it may import besides BASE and itself. Nothing else may be imported across rooms.
MAY_IMPORT = {
    "converter": set(),
    "converter.choices": set(),
    "converter.diagnostics": set(),
    "converter.dataclass": set(),
    "converter.parsing": set(),
    "converter.source.header": set(),
    "converter.options": set(),
    "converter.rule": set(),
    "converter.source": {"converter.rule"},
    # A script as its text: what calls mean is asked of the rules, as in the analysis.
    "converter.syntax": {"converter.source", "converter.analysis", "converter.rule"},
    "converter.analysis": {"converter.source", "converter.rule"},
    "rules": {"converter.source", "converter.analysis"},
    # A check looks at the facts, and at what the planner's passes have found out by then.
    "rules.checks": {
        "converter.source", "converter.analysis", "converter.plan", "converter.planner",
    },
    # A file of lint looks at loops of towers that somebody wrote by hand.
    "rules.lint": {"converter.syntax.lint", "converter.syntax"},
    "converter.syntax.lint": {"converter.rule", "converter.source", "converter.syntax", "converter.analysis"},
    "converter.plan": set(),
    "converter.planner": {
        "converter.source", "converter.analysis", "converter.plan", "converter.rule", "converter.runtime",
    },
    "converter.runtime": set(),
    "converter.rewrite": {"converter.source", "converter.plan", "converter.runtime"},
    "converter.conversion.large_stack": set(),
    "converter.conversion.named_inputs": {"converter.source", "converter.analysis"},
    # Reads what was written; it shares no decision of the planner.
    "converter.conversion.review": {"converter.analysis", "converter.source"},
    # Puts warnings beside the statements that the second reading pairs with the script's.
    "converter.conversion.warning_comments": {"converter.conversion.review", "converter.source"},
    # A script and the files of its project with their facts: what the engine reads, and reads again.
    "converter.conversion.reading": {"converter.source", "converter.analysis", "converter.planner"},
    "converter.conversion": {
        "converter.conversion.reading", "converter.conversion.large_stack", "converter.conversion.named_inputs",
        "converter.conversion.review", "converter.conversion.warning_comments", "converter.source",
        "converter.analysis", "converter.rule", "converter.plan", "converter.planner", "converter.rewrite",
        "converter.targets", "converter.syntax", "converter.syntax.lint",
    },
    # Each target beside towers has its own look at a script, and its own edits.
    # What a worker of a cluster trains, and what follows its batch size, is read from facts and plan.
    "converter.targets": {
        "converter.source", "converter.syntax", "converter.analysis", "converter.plan", "converter.planner",
        "converter.runtime",  # the classes that a worker carries
    },
    # What verify answers is plain data that a report shows; the rest of verify is above it.
    "converter.verify.data": set(),
    "converter.report": {
        "converter.rule", "converter.source", "converter.plan", "converter.conversion",
        "converter.verify.data", "converter.verify.profile.data",
    },
    # A conversion is made again to say where lines come from, and to hold its plan against the original's graph.
    "converter.verify": {
        "converter.source", "converter.plan", "converter.conversion", "converter.verify.data",
        "converter.runtime",  # brings the module of helpers that a script imports
    },
    "converter.verify.child": set(),
    # Measures with the processes of verify; its data, too, is what a report shows.
    "converter.verify.profile.data": set(),
    "converter.verify.profile": {
        "converter.verify.profile.data", "converter.verify", "converter.verify.data", "converter.source",
        "converter.conversion", "converter.plan",
    },
    "converter.cli": {
        "converter.rule", "converter.source", "converter.conversion", "converter.report", "converter.verify",
        "converter.verify.data", "converter.verify.profile", "converter.verify.profile.data", "converter.syntax.lint",
        "converter.targets",  # the help names them
    },
    # What is installed: the command and what programs call.
    "tf_multigpu": {
        "converter.cli", "converter.conversion", "converter.source", "converter.verify", "converter.verify.data",
    },
}  # fmt: skip

# These find the rules by walking their package; none of them may name one.
WALK_RULES = {"converter.rule", "converter.analysis", "converter.syntax.lint"}

CHILD_MAY_IMPORT = {"tensorflow", "torch", "numpy", "sklearn", "tf_keras", "tf_slim"} | set(sys.stdlib_module_names)
PYTHON_2_NAMES = {"__builtin__", "StringIO", "cPickle", "Queue", "thread"}


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted name and file of every module of both packages."""
    for package in ("tf_multigpu", "converter", "rules"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__"), path


MODULES = dict(modules())


def room_of(module: str) -> str:
    """The longest room that holds a module."""
    return max((room for room in MAY_IMPORT if module == room or module.startswith(room + ".")), key=len)


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and full dotted name of all that a file imports, inside functions and under TYPE_CHECKING too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from ((node.lineno, name) for name in sorted(whole & MODULES.keys() or {str(node.module)}))


def crossings() -> Iterator[tuple[str, str, str]]:
    """Importing room, imported room and place of every import between rooms."""
    for module, path in MODULES.items():
        for line, name in imports(path):
            if name.split(".")[0] in ("tf_multigpu", "converter", "rules"):
                source, target = room_of(module), room_of(name)
                if source != target and not (name == "rules" and source in WALK_RULES):
                    yield source, target, f"{path.relative_to(ROOT)}:{line} imports {name}"


def importers_of(*names: str) -> list[str]:
    """Every place that imports one of the named outside packages, or something below it."""
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for module, path in MODULES.items()
        for line, name in imports(path)
        if any(name == banned or name.startswith(banned + ".") for banned in names)
    ]


def test_every_module_has_a_room() -> None:
    assert [name for name in MODULES if name.startswith("converter.") and room_of(name) == "converter"] == []


def test_rooms_import_only_what_they_may() -> None:
    assert [place for source, target, place in crossings() if target not in MAY_IMPORT[source] | BASE] == []


def test_what_rooms_may_import_goes_one_way() -> None:
    below: dict[str, set[str]] = {}

    def reach(room: str, path: tuple[str, ...]) -> set[str]:
        assert room not in path, " -> ".join((*path, room))
        if room not in below:
            targets = MAY_IMPORT[room]
            below[room] = targets.union(*(reach(target, (*path, room)) for target in targets))
        return below[room]

    for room in MAY_IMPORT:
        reach(room, ())
    assert "converter.rewrite" not in below["rules"] | below["converter.analysis"]


@pytest.mark.parametrize("room", ["analysis", "plan", "planner", "conversion/review", "report", "cli", "verify"])
def test_only_rewriting_edits(room: str) -> None:
    assert [place for place in importers_of("libcst") if place.startswith(f"converter/{room}")] == []


def test_rules_recognise_and_do_not_edit() -> None:
    assert [place for place in importers_of("libcst") if place.startswith("rules/")] == []


def test_texts_are_parsed_in_one_way() -> None:
    """`converter/parsing.py` bears what other threads do meanwhile."""
    parsing = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in ("converter", "rules", "tf_multigpu")
        for path in (ROOT / folder).rglob("*.py")
        if path != ROOT / "converter/parsing.py" and not path.is_relative_to(ROOT / "converter/verify/child")
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "ast.parse"
    ]
    assert parsing == []


def test_slow_parts_of_libcst_stay_out() -> None:
    assert importers_of("libcst.matchers", "libcst.codemod") == []


def test_tensorflow_is_imported_only_by_what_runs_beside_it() -> None:
    beside = ("converter/runtime/", "converter/verify/child/")
    places = importers_of("tensorflow", "torch", "numpy", "sklearn", "tf_keras", "tf_slim")
    assert [place for place in places if not place.startswith(beside)] == []


def test_what_draws_pages_is_imported_only_for_pages() -> None:
    places = {place.split(":")[0] for place in importers_of("jinja2", "markupsafe", "matplotlib")}
    pages = {f"converter/report/page/{name}.py" for name in ("html", "plots", "device_graph")}
    assert places == pages
    modules = [f"converter.report.page.{Path(page).stem}" for page in pages]
    users = {place.split(":")[0] for place in importers_of(*modules)}
    assert users - pages == {"converter/cli/page.py"}


def test_the_child_of_verify_stands_alone() -> None:
    allowed = CHILD_MAY_IMPORT | PYTHON_2_NAMES
    child = ROOT / "converter/verify/child"
    # The child runs with its own folder on the path: its modules know each other as the package tmgprobe.
    siblings = {"tmgprobe"}
    strays = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sorted(child.rglob("*.py"))
        for line, name in imports(path)
        if name.split(".")[0] not in allowed | siblings
    ]
    assert strays == []


# Folder of the watched process -> the folders that its files may import besides their own.
CHILD_FOLDERS = {
    "values": set(),
    "graph": {"values"},
    "session": {"graph", "values"},
    "reference": {"session", "graph", "values"},
    "roles": {"reference", "session", "graph", "values"},
    "strategy": {"graph", "values"},
    "ddp": {"strategy"},
    "cluster": {"roles", "session", "graph"},
    "process": {"values", "graph", "roles", "session", "strategy", "ddp", "cluster"},
}  # fmt: skip


def test_folders_of_the_child_import_one_way() -> None:
    package = ROOT / "converter/verify/child/tmgprobe"
    assert {path.name for path in package.iterdir() if (path / "__init__.py").exists()} == set(CHILD_FOLDERS)
    strays = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for folder, allowed in CHILD_FOLDERS.items()
        for path in sorted((package / folder).glob("*.py"))
        for line, name in imports(path)
        if name.split(".")[0] == "tmgprobe" and name.split(".")[1] not in allowed | {folder}
    ]
    assert strays == []


def test_converting_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes((ROOT / "fixtures/slim_cnn/single.py").read_bytes())
    program = (
        "import sys\n"
        "from converter.cli.app import main\n"
        "status = main()\n"
        "heavy = {'tensorflow', 'numpy', 'sklearn', 'libcst.matchers', 'libcst.codemod', 'jinja2', 'rich.progress'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
        "sys.exit(status)\n"
    )
    command = [sys.executable, "-c", program, "convert", "train.py", "-o", "train_mg.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "HEAVY []" in done.stdout
    assert (tmp_path / "train_mg.py").exists()


# -- inside the analysis ---------------------------------------------------------------------------

# From the bottom up: what stands in a line may import what stands in the lines above it.
ANALYSIS = [
    ["reasons", "effects", "project", "nodes", "traits"],
    ["values"],
    ["frames", "flow"],
    ["counts"],
    ["facts"],
    ["arrays"],
    ["tensors"],
    ["walk"],
    ["call"],
    ["library", "rows"],
    ["inputs"],
    ["python"],
    [""],
]
LEVEL = {name: level for level, names in enumerate(ANALYSIS) for name in names}
INTERPRETER = 5  # files that need each other: executing a statement evaluates expressions, a call executes statements
LINES, PARAMETERS = 60, 6  # of a function
VALUES = 5  # of a call without their names
# Functions with a parameter for each option of a command, and a stand-in for a function of TensorFlow's.
SIGNATURES = {"convert_command", "launch_command", "verify_command", "profile_command", "read_data_sets"}


def inside_analysis(module: str) -> str:
    """The file or folder at the top of the analysis that holds a module; "" for the package itself."""
    return module.removeprefix("converter.analysis").lstrip(".").partition(".")[0]


def test_every_part_of_the_analysis_has_a_level() -> None:
    parts = {inside_analysis(name) for name in MODULES if name.startswith("converter.analysis")}
    assert parts == set(LEVEL)


def test_imports_inside_the_analysis_go_one_way() -> None:
    up = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for module, path in MODULES.items()
        if module.startswith("converter.analysis")
        for line, name in imports(path)
        if name.startswith("converter.analysis.") and inside_analysis(module) != inside_analysis(name)
        if LEVEL[inside_analysis(name)] >= LEVEL[inside_analysis(module)]
    ]
    assert up == []


def test_the_algebra_of_batch_axes_knows_no_syntax() -> None:
    syntax = [place for place in importers_of("ast", "libcst") if place.startswith("converter/analysis/tensors")]
    assert syntax == []


def test_what_follows_python_knows_no_tensorflow() -> None:
    names = {"tf", "tensorflow", "tf_slim"}
    calls = {name for module in rule_modules("calls") for name in getattr(module, "CALLS", {}) if "." in name}
    words = names | {name for name in calls if name.split(".")[0] not in ("sys", "importlib")}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.value}"
        for path in sorted((ROOT / "converter/analysis/python").rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in words
    ]
    assert found == []


def circles() -> list[set[str]]:
    """The largest sets of modules that import each other in a circle."""
    arrows = {
        module: {name for _, name in imports(path) if name in MODULES and name != module}
        for module, path in MODULES.items()
    }

    def below(module: str) -> set[str]:
        found, todo = set[str](), [module]
        while todo:
            new = arrows[todo.pop()] - found
            found |= new
            todo += new
        return found

    reach = {module: below(module) for module in arrows}
    found = {frozenset({m, *(n for n in reach[m] if m in reach[n])}) for m in arrows if m in reach[m]}
    return [set(circle) for circle in found]


def test_modules_import_each_other_only_in_the_interpreter() -> None:
    (interpreter,) = circles()
    assert all(module.startswith("converter.analysis.python.") for module in interpreter)
    assert len(interpreter) <= INTERPRETER


@pytest.mark.parametrize("room", ["converter", "rules"])
def test_functions_fit_a_screen(room: str) -> None:
    large = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name not in SIGNATURES
        if (node.end_lineno or 0) - node.lineno >= LINES or parameters(node) > PARAMETERS
    ]
    assert large == []


@pytest.mark.parametrize("room", ["converter", "rules", "tf_multigpu"])
def test_many_values_are_given_by_name(room: str) -> None:
    """What is made of more than five values says which is which; of classes, whose names begin so."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {name}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and len(node.args) > VALUES
        if (name := getattr(node.func, "id", getattr(node.func, "attr", ""))).lstrip("_")[:1].isupper()
    ]
    assert found == []


# Comments that leave a line out of a check: 45 and 245 before the rooms were put in order.
LEFT_OUT = {"type: ignore": 6, "fmt: skip": 13}


@pytest.mark.parametrize("comment", LEFT_OUT)
def test_few_lines_are_left_out_of_checks(comment: str) -> None:
    texts = [path.read_text("utf-8") for path in MODULES.values()]
    assert sum(text.count(f"# {comment}") for text in texts) <= LEFT_OUT[comment]


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many parameters a function has, beside the object of a method."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    further = [a for a in (node.args.vararg, node.args.kwarg) if a is not None]
    return len([a for a in given if a.arg not in ("self", "cls")]) + len(further)


# -- inside the planner ----------------------------------------------------------------------------

# From the bottom up, as in the analysis. What any target takes stands below the towers.
PLANNER = [
    ["plan_faults", "outcome", "questions"],
    ["steps"],
    ["writing"],
    ["wording"],
    ["region"],
    ["own"],
    ["batch_size"],
    ["host", "searches"],
    ["towers.after_updates", "towers.border", "towers.global_loss", "towers.partitioned"],
    ["towers.dense_gradients", "towers.gradients", "towers.merges", "towers.shards"],
    ["towers.own"],
    ["cases"],
    ["checking"],
    ["towers.loop"],
    ["files"],
    ["passes"],
    ["", "towers"],
]


def inside_planner(module: str) -> str:
    """The file or folder at the top of the planner, or of its towers, that holds a module."""
    first, *more = module.removeprefix("converter.planner").lstrip(".").split(".")
    return f"towers.{more[0]}" if first == "towers" and more else first


def test_imports_inside_the_planner_go_one_way() -> None:
    level = {name: number for number, names in enumerate(PLANNER) for name in names}
    modules = {name: path for name, path in MODULES.items() if name.startswith("converter.planner")}
    assert {inside_planner(name) for name in modules} == set(level)
    up = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for module, path in modules.items()
        for line, name in imports(path)
        if name.startswith("converter.planner.") and inside_planner(module) != inside_planner(name)
        if level[inside_planner(name)] >= level[inside_planner(module)]
    ]
    assert up == []


def test_passes_name_what_they_find_and_rules_word_it() -> None:
    worded = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.value}"
        for path in sorted((ROOT / "converter/planner").rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and re.fullmatch(r"TMG[23]\d\d", str(node.value))
    ]
    assert worded == []


def test_exceptions_end_in_the_pass_that_raises_them() -> None:
    caught = {
        f"{path.relative_to(ROOT / 'converter/planner')} {name.id}"
        for path in sorted((ROOT / "converter/planner").rglob("*.py"))
        for handler in nodes_of(path)
        if isinstance(handler, ast.ExceptHandler)
        for name in ast.walk(handler.type or ast.Name("everything"))
        if isinstance(name, ast.Name)
    }
    assert {place for place in caught if place.endswith(("Refusal", "Faults", "Exception", "everything"))} == {
        "outcome.py Refusal",
        "outcome.py Faults",
        "passes.py Refusal",
        "passes.py Faults",
    }


# Classes that keep what they have looked up, and a search that keeps what it has seen.
KEEP = {"Aliases", "Block", "Builtins", "Readers", "SourceText", "_Follow"}


def test_passes_hand_on_values() -> None:
    """No class of the planner can be changed, and a function that returns nothing can only refuse."""
    nodes = [
        (path.relative_to(ROOT), node)
        for path in sorted((ROOT / "converter/planner").rglob("*.py"))
        for node in tree_of(path).body
    ]
    classes = [(path, node) for path, node in nodes if isinstance(node, ast.ClassDef) and node.name not in KEEP]
    plain = {"Enum", "Exception"}
    changeable = [
        f"{path}:{node.lineno} {node.name}"
        for path, node in classes
        if "@dataclass(frozen=True)" not in {f"@{ast.unparse(one)}" for one in node.decorator_list}
        if not plain & {ast.unparse(base) for base in node.bases}
    ]
    methods = [(path, node) for path, holder in classes for node in holder.body]
    without_result = [
        f"{path}:{node.lineno} {node.name}"
        for path, node in (*nodes, *methods)
        if isinstance(node, ast.FunctionDef) and node.returns is not None and ast.unparse(node.returns) == "None"
        if not node.name.startswith(("check_", "_check", "__init__"))
    ]
    assert changeable + without_result == []


CHANGES = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "update"}


def changed_parameters(function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """Line and name of each parameter that a function changes in place, and does not bind to something else."""
    given = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    nodes = list(ast.walk(function))
    given -= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in nodes:
        grows = isinstance(node, ast.Attribute) and node.attr in CHANGES
        sets = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        if not isinstance(node, (ast.Attribute, ast.Subscript)) or not (grows or sets):
            continue
        if isinstance(node.value, ast.Name) and node.value.id in given:
            yield node.lineno, node.value.id


@pytest.mark.parametrize("room", ["converter/planner", "rules/checks"])
def test_functions_change_nothing_that_they_are_given(room: str) -> None:
    """But for `noted`, by which a function collects what is refused of several values."""
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef) and node.name != "noted"
        for line, name in changed_parameters(node)
    ]
    assert found == []


# -- tests -----------------------------------------------------------------------------------------


def test_tests_mirror_the_analysis() -> None:
    source, tests = ROOT / "converter/analysis", ROOT / "tests/analysis"
    modules = [path.stem for path in source.glob("*.py") if path.stem != "__init__"]
    assert [name for name in modules if not (tests / f"test_{name}.py").exists()] == []


def test_each_folder_of_modules_has_a_folder_of_tests() -> None:
    """A module has a test file of its name, or its folder one beside which it is tested."""
    named = {path.stem.removeprefix("test_") for path in (ROOT / "tests").rglob("test_*.py")}
    missing = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "converter").rglob("*.py"))
        if path.stem not in named
        and path.stem != "__init__"
        and path.parent != ROOT / "converter"
        and "child" not in path.parts  # Python 2.7 runs it, and tests/verify tests what it comes to
        and not list((ROOT / "tests" / path.parent.relative_to(ROOT / "converter")).glob("test_*.py"))
    ]
    assert missing == []
