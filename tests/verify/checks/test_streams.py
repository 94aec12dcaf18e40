"""Streams of examples against each other, and the verdicts on what goes in and on whole runs, without TensorFlow."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from converter.verify.checks.stream import check_data
from converter.verify.data import CheckResult
from converter.verify.runs.whole import Ran, check_whole, sizes_of_steps

np = pytest.importorskip("numpy")

CHILD = Path(__file__).resolve().parents[3] / "converter" / "verify" / "child"
sys.path.insert(0, str(CHILD))
try:
    from tmgprobe.reference import stream
    from tmgprobe.values import rows, streams
finally:
    sys.path.remove(str(CHILD))


def batches(text: str) -> list[list[str]]:
    """One letter for each example, blanks between the batches."""
    return [list(batch) for batch in text.split()]


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        ("ab cd ef gh", "abcd efgh"),
        ("ab cd ef gh", "abcd"),  # the original went on for longer
        ("ab cd", "abcd efgh"),  # or was stopped before
        ("ab cd ef ab cd ef", "abcd efab cdef"),  # batches across the end of an epoch
        ("ab cd e ab cd e", "abcd e abcd e"),  # the last batch is smaller
        ("ab cd ef ab cd ef", "abcd abcd"),  # what is no whole batch is left out
        ("abc abc abc abc", "abc abc"),  # no more than a batch of the original is there
        ("ab", "ab"),  # the steps of the original do not suffice to tell
    ],
)
def test_the_same_stream_cut_at_other_places(own: str, theirs: str) -> None:
    found = streams.compare(batches(own), batches(theirs), 2, streams.starts(batches(own)))
    assert found["status"] == "same", found


@pytest.mark.parametrize(
    ("own", "theirs", "fault"),
    [
        ("ab cd ef gh", "hgfe dcba", "reversed"),
        ("ab cd ef gh", "abab cdcd", "twice"),
        ("ab cd ef gh", "acbd efgh", "order"),
        ("ab cd ef gh", "ijkl mnop", "others"),
        ("ab cd ef", "abc def", "size"),
        ("ab cd ef gh", "ab cd", "size"),  # an input whose batches have not grown
        ("ab cd ef gh", "abcx efgh", ""),
        ("ab cd ef gh ij kl", "abcd ghij", ""),  # a batch left out in the middle of an epoch
        ("ab cd e ab cd e", "abcd abcd", ""),  # the last batch left out, which the original takes
    ],
)
def test_another_stream(own: str, theirs: str, fault: str) -> None:
    found = streams.compare(batches(own), batches(theirs), 2, streams.starts(batches(own)))
    assert (found["status"], found["fault"]) == ("differs", fault), found


@pytest.mark.parametrize(
    ("drawn_at", "theirs", "status"),
    [
        (2, "abcd hgfe", "drawn"),
        (2, "badc efgh", "differs"),
        (0, "abab cdcd", "differs"),
        (None, "abcd hgfe", "differs"),
    ],
)
def test_an_order_that_is_drawn_is_no_fault(drawn_at: int | None, theirs: str, status: str) -> None:
    found = streams.compare(batches("ab cd ef gh"), batches(theirs), 2, drawn_at=drawn_at)
    assert found["status"] == status


@pytest.mark.parametrize(
    ("labels", "images", "fault"),
    [
        ("abab cdba", "abcd efgh", "order"),  # two shards with the same labels by chance
        ("abab cdcd", "abcd efgh", "twice"),  # in each batch
        ("abab cdba", "efef abcd", "twice"),  # all inputs
    ],
)
def test_labels_that_are_alike_by_chance(labels: str, images: str, fault: str) -> None:
    own, theirs = batches("ab bd ca ba"), batches(labels)
    own = own if fault != "twice" else batches("ab cd ef gh")
    joined = [list(zip(*pair, strict=True)) for pair in zip(theirs, batches(images), strict=True)]
    found = streams.compare(own, theirs, 2, streams.starts(own), 0, joined)
    assert found["fault"] == fault and found["status"] == ("differs" if fault == "twice" else "drawn")


def test_marks_of_examples() -> None:
    one = np.array([[1, 2, 0, 0], [3, 0, 4, 0]])
    assert rows.marks(one, 0) == rows.marks(one[:, :3], 0)  # padded to another length
    assert rows.marks(one, 0) == rows.marks(one.T, 1)  # time-major
    assert len(set(rows.marks(np.array([[1, 2], [2, 1], [0, 1]]), 0))) == 3
    assert rows.marks(np.array(["a", "b"], object), 0) != rows.marks(np.array(["b", "a"], object), 0)


@pytest.mark.parametrize("number", [0, 7])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 2, 2)])
def test_an_example_has_one_mark_whatever_it_is_padded_to(shape: tuple[int, ...], number: int) -> None:
    """Alone and in batches of any width; entries inside an example that equal the padding stay."""
    random = np.random.RandomState(5)
    examples = [random.randint(0, 9, shape) for _ in range(6)]
    for example in examples:
        example[tuple(size - 1 for size in shape)] = 5  # no padding of its own at any end
        example[(0,) * len(shape)] = 5 if shape[0] == 1 else number
    alone = [rows.marks(example[np.newaxis], 0, (number, False))[0] for example in examples]
    assert len(set(alone)) == len({example.tobytes() for example in examples}) > 3
    for more in (0, 2):
        widths = [(0, more)] * len(shape)
        batch = np.stack([np.pad(example, widths, "constant", constant_values=number) for example in examples])
        assert rows.marks(batch, 0, (number, False)) == alone
    front = [rows.marks(example[np.newaxis], 0, (8, True))[0] for example in examples]
    widths = [(2, 0)] + [(0, 0)] * (len(shape) - 1)
    batch = np.stack([np.pad(example, widths, "constant", constant_values=8) for example in examples])
    assert rows.marks(batch, 0, (8, True)) == front
    assert rows.marks(batch, 0, (number, False)) != alone
    nothing = np.full((2, *shape), number)
    assert rows.marks(nothing, 0, (number, False)) == rows.marks(nothing[:, :1], 0, (number, False))


@pytest.mark.parametrize(
    ("text", "towers", "count"),
    [
        ("ab cd ef", 1, 0),
        ("ab cd ab cd ab", 1, 2),
        ("abcd aefg cdxy abcd", 1, 0),  # drawn anew for each batch
        ("abcd efba cdfe abcd", 1, 2),  # an epoch begins in the middle of the second batch
        ("abcdefba cdfeabcd", 2, 2),
        ("abcd efgb acde fgab", 1, 0),  # ... in the last quarter of it, which is too little to tell
        ("abcdefgb acdefgab", 2, 0),
        ("abab abab", 2, 3),  # each batch is an epoch
    ],
)
def test_epochs_are_counted(text: str, towers: int, count: int) -> None:
    epochs = stream.Epochs(towers)
    for batch in batches(text):
        epochs.ends_within({"x:0": (batch, None)})
    assert epochs.count == count


def theirs_of(kinds: Any) -> Any:
    """What went into the conversion's steps."""
    found = stream.Streams()
    found.kinds = kinds
    return found


@pytest.mark.parametrize(
    ("own", "theirs", "status", "step"),
    [
        ("ab ab ab cd cd cd ef ef ef gh gh gh", "abcd abcd abcd efgh efgh efgh", "same", None),
        ("ab ab ab ab cd cd", "abcd abcd abcd", "same", None),  # the steps end before the batches do
        ("ab ab ab ab", "abcd abcd", "same", None),  # what follows is not seen
        ("ab ab cd cd ab ab cd cd", "abab abab cdcd cdcd", "differs", 1),
        ("ab ab cd cd ef ef gh gh", "abab cdcd efef ghgh", "same", None),  # two of its steps are one
        ("ab ab cd cd ef ef gh gh", "abcd abcd efxh efxh", "differs", 3),
        ("ab ab cd cd ef ef gh gh", "abcd efgh", "differs", 2),  # once instead of twice
        ("ab cd ef gh", "abcd abcd efgh efgh", "differs", 2),
        ("ab ab cd cd ef ef gh gh ij ij ab ab cd cd", "abcd abcd efgh efgh abcd", "same", None),  # ij is left out
    ],
)
def test_batches_of_several_steps(own: str, theirs: str, status: str, step: int | None) -> None:
    kept = stream.Streams()
    kept.kinds[(0,)] = [{"x:0": (batch, None)} for batch in batches(own)]
    steps = {(0,): [{"x:0": (batch, None)} for batch in batches(theirs)]}
    (found,) = stream.figures(kept, theirs_of(steps), 2, "", ())
    assert (found["status"], found["step"]) == (status, step)


def turns(text: str) -> tuple[dict[tuple[int, ...], list[dict[str, Any]]], list[tuple[int, ...]]]:
    """The steps of each train op, and the train op of each step: `0:ab 1:cd` are two."""
    steps = [part.split(":") for part in text.split()]
    kinds: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    for number, batch in steps:
        kinds.setdefault((int(number),), []).append({"x:0": (list(batch), None)})
    return kinds, [(int(number),) for number, _ in steps]


@pytest.mark.parametrize(
    ("own", "theirs", "status"),
    [
        ("0:ab 1:cd 0:ef 1:gh", "0:abcd 1:efgh", "in turn"),
        ("0:ab 1:cd 0:ef 1:gh 0:ij", "0:abcd 1:efgh", "in turn"),
        ("0:ab 1:cd 0:ef 1:gh", "1:abcd 0:efgh", "differs"),
        ("0:ab 1:cd 0:ef 1:gh", "0:abcd 1:efxy", "differs"),
        ("0:ab 1:cd 0:ef 1:gh", "0:abcd 1:ghef", "differs"),
        ("0:ab 1:cd 0:ef 1:gh 0:ij 1:kl 0:mn 1:op", "0:abcd 1:ijkl", "differs"),  # every second one is left out
        ("0:ab 1:ab 0:cd 0:ef 1:ef 0:gh", "0:abcd 1:abcd 0:efgh", "in turn"),  # one more takes every second batch
        ("0:ab 1:ab 0:cd 0:ef 1:ef 0:gh", "0:abcd 1:efgh", "differs"),
        ("0:ab 1:ab 0:cd 0:ef 1:ef 0:gh", "0:abcd 1:abcd 0:efgh 1:efgh", "differs"),
        # epochs of 6 batches, and of 3: the turns begin anew with each
        (2 * "0:ab 0:cd 1:cd 0:ef 0:gh 1:gh 0:ij 0:kl 1:kl ", 2 * "0:abcd 0:efgh 1:efgh 0:ijkl ", "in turn"),
        (
            2 * "0:ab 0:cd 1:cd 0:ef 0:gh 1:gh 0:ij 0:kl 1:kl ",
            "0:abcd 0:efgh 1:efgh 0:ijkl 0:abcd 1:abcd 0:efgh 1:efgh 0:ijkl",
            "differs",
        ),
        (2 * "0:ab 0:cd 1:cd 0:ef ", "0:abcd 0:ef 1:ef 0:abcd", "in turn"),
        (2 * "0:ab 0:cd 1:cd 0:ef ", "0:abcd 0:ef 1:ef 0:abcd 1:abcd", "differs"),
    ],
)
def test_train_ops_that_take_turns_at_the_batches(own: str, theirs: str, status: str) -> None:
    kept, others = stream.Streams(), stream.Streams()
    kept.kinds, kept.turns = turns(own)
    others.kinds, others.turns = turns(theirs)
    found = stream.figures(kept, others, 2, "", ())
    assert status in {row["status"] for row in found}
    assert {row["status"] for row in found} <= {status, "same"}


@pytest.mark.parametrize(
    ("theirs", "states", "fault"),
    [
        ("abcd efgh", {"s:0"}, ""),
        ("abcd efgh", set(), "state"),
        ("abcd", set(), ""),  # one step: nothing that went before
        ("abcd abcd", set(), ""),  # each step begins an epoch, with a new state
    ],
)
def test_a_state_that_is_carried_from_step_to_step(theirs: str, states: set[str], fault: str) -> None:
    kept, others = stream.Streams(), stream.Streams()
    mine = [{"s:0": (["z1" + mark for mark in batch], None), "x:0": (batch, None)} for batch in batches("ab cd ef gh")]
    steps = [{"s:0": (["z2" + mark for mark in batch], None), "x:0": (batch, None)} for batch in batches(theirs)]
    kept.kinds, kept.carried, kept.states = {(0,): mine}, {"s:0"}, {"s:0"}
    others.kinds, others.states = {(0,): steps}, states
    found = {row["input"]: row for row in stream.figures(kept, others, 2, "", ())}
    assert (found["s:0"]["status"] == "differs", found["s:0"]["fault"]) == (bool(fault), fault or found["s:0"]["fault"])
    checks = check_data({"fed": [found["s:0"]], "evaluated": [], "ended": False}, 2, ["TMG344"])
    assert (checks[0].status == "failed") is bool(fault)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("ab cd ef ab cd ef", [6, 8, 10]),
        ("ab cd ae bf cd eb", []),  # drawn anew for each batch: one after the other has come before
        ("abcdefgh aijbckdl mnefgohp", []),
        ("abcd efgh ijkl mnoa abcd", [16]),  # one of sixteen examples is there twice
        ("abcd efgh fbga dhec", [8, 12]),  # shuffled anew
        ("abcd efcb eafd", [4, 8]),  # an epoch ends within the second batch
        ("abcd ef ghij kl", [6]),  # the last batch is smaller, and examples are changed anew
    ],
)
def test_epochs_that_examples_tell(text: str, places: list[int]) -> None:
    assert sorted(streams.epochs_begin(batches(text))) == places
    kinds = {(0,): [{"x:0": (batch, None)} for batch in batches(text)]}
    before = [sum(map(len, batches(text)[:number])) for number in range(len(batches(text)))]
    assert stream.epoch(kinds, kinds) == ([before.index(places[0])] * 2 if places else None)


def test_a_batch_that_several_train_ops_take_ends_no_epoch() -> None:
    epochs = stream.Epochs(1)
    for kind, batch in ((0, "ab"), (1, "ab"), (0, "cd"), (1, "cd")):
        epochs.ends_within({"x:0": (list(batch), None)}, (kind,))
    assert epochs.count == 0
    epochs.ends_within({"x:0": (list("ab"), None)}, (0,))
    assert epochs.count == 1


@pytest.mark.parametrize("size", [7, 8, 9, 10, 12, 30])
@pytest.mark.parametrize("towers", [2, 3, 4])
def test_both_scripts_find_the_end_of_an_epoch_in_the_same_batch(size: int, towers: int) -> None:
    """Batches of an order that is drawn anew whenever it runs out, as in `next_batch`."""
    drawn = np.random.RandomState(0)
    order = [str(one) for _ in range(12) for one in drawn.permutation(size)]
    ends = []
    for batches_of_step in (1, towers):
        epochs, count = stream.Epochs(batches_of_step), 4 * batches_of_step
        steps = [order[begin : begin + count] for begin in range(0, len(order) - count, count)]
        ended = [epochs.ends_within({"x:0": (step, None)}) for step in steps]
        ends.append(ended.index(True) // (towers if batches_of_step == 1 else 1) if True in ended else None)
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("sizes", "fed", "fault"),
    [
        ((4, 4, 4, 4), (8, 8), ""),
        ((4, 4, 4, 2), (8, 6), ""),  # the end of an epoch
        ((4, 4, 4, 4), (4, 4), ""),  # the same number goes to each: whether that is right, the gradients show
        ((4, 4, 4, 2), (8, 5), "setting"),
        ((4, 4, 4, 2), (8, 16), "setting"),
    ],
)
def test_a_number_of_examples_that_is_fed(sizes: tuple[int, ...], fed: tuple[int, ...], fault: str) -> None:
    marks = iter("abcdefghijklmnop")
    own = stream.Streams()
    for size in sizes:
        examples = [next(marks) for _ in range(size)]
        own.kinds.setdefault(0, []).append({"x": (examples, None), "n": (None, [float(size)])})
    rows = [mark for step in own.kinds[0] for mark in step["x"][0]]
    theirs = [{"x": (rows[at : at + 8], None), "n": (None, [float(n)])} for at, n in zip((0, 8), fed, strict=True)]
    found = {row["input"]: row for row in stream.figures(own, theirs_of({0: theirs}), 2, "", ())}
    assert found["n"]["fault"] == fault and found["x"]["status"] == "same"


@pytest.mark.parametrize(
    ("fed", "fault"),
    [("nan", ""), ("0.5", "setting")],
)
def test_no_number_is_no_number(fed: str, fault: str) -> None:
    """`None`, fed to a placeholder of floats that a step makes no use of."""
    own = stream.Streams()
    own.kinds[0] = [{"x": ([mark], None), "k": (None, [float("nan")])} for mark in "ab"]
    theirs = [{"x": (["a", "b"], None), "k": (None, [float(fed)])}]
    found = {row["input"]: row["fault"] for row in stream.figures(own, theirs_of({0: theirs}), 2, "", ())}
    assert found == {"x": "", "k": fault}


def evaluated(own: Any, theirs: Any, training: Any = ("", "")) -> Any:
    runs = [[(gap, {"x:0": list(text)}) for gap, text in each] for each in (own, theirs)]
    (found,) = stream.evaluations(runs[0], runs[1], tuple(map(set, training)), 2, False)
    return found["status"], found["fault"]


@pytest.mark.parametrize(
    ("own", "theirs", "training", "expected"),
    [
        ([(0, "vw"), (1, "vw")], [(0, "vw"), (1, "vw")], ("", ""), ("same", "")),
        ([(1, "ab"), (2, "cd")], [(1, "abcd"), (2, "efgh")], ("abcd", "abcdefgh"), ("same", "")),
        ([(1, "ab"), (2, "cd")], [(1, "ab"), (2, "ef")], ("abcd", "abcdefgh"), ("same", "")),
        ([(1, "abc"), (2, "def")], [(1, "ab"), (2, "gh")], ("abcdef", "abcdefghijkl"), ("differs", "others")),
        ([(1, "uv"), (1, "wx")], [(1, "uvwx")], ("", ""), ("same", "")),
        ([(0, "uvwx")], [(0, "uv")], ("", ""), ("differs", "part")),
        ([(0, "uvwx")], [(0, "abcd")], ("ab", "abcd"), ("differs", "training")),
        ([(0, "uvwx")], [(0, "yz")], ("", ""), ("differs", "others")),
        ([(0, "uvwx")], [(0, "xwvu")], ("", ""), ("differs", "order")),
        # whole runs; the last batch of each is the same, as it holds what is left
        ([(0, "tu"), (0, "vw"), (0, "x")] * 3, [(0, "tuvw"), (0, "x")] * 3, ("", ""), ("same", "")),
        ([(0, "tu"), (0, "vw"), (0, "x")] * 3, [(0, "tu"), (0, "vw"), (0, "x")] * 6, ("", ""), ("same", "")),
        ([(0, "tu"), (0, "vw"), (0, "x")] * 3, [(0, "tuv"), (0, "x")] * 3, ("", ""), ("differs", "part")),
        ([(0, "tu"), (0, "vw"), (0, "x")] * 3, [(0, "vwtu"), (0, "x")] * 3, ("", ""), ("differs", "order")),
        # once in an epoch, of 5 batches, which are 3 steps of two towers
        ([(5, "vw"), (10, "vw")], [(3, "vw"), (6, "vw"), (9, "vw"), (12, "vw")], ("", ""), ("same", "")),
        ([(5, "uv"), (5, "wx"), (10, "uv"), (10, "wx")], [(3, "uvwx"), (6, "uvwx")], ("", ""), ("same", "")),
        ([(5, "uvwx"), (10, "uvwx")], [(3, "uv"), (6, "uv"), (9, "uv")], ("", ""), ("differs", "part")),
        ([(5, "vw"), (10, "vw")], [(3, "wv"), (6, "wv"), (9, "wv")], ("", ""), ("differs", "order")),
        ([(5, "vw")], [(3, "vw"), (6, "vw")], ("", ""), ("same", "")),
        ([(5, "vw")], [(3, "wv"), (6, "vw")], ("", ""), ("differs", "order")),
        ([(5, "vw")], [(2, "vw"), (4, "vw")], ("", ""), ("differs", "order")),  # 4 batches came before
        ([(5, "vw")], [(6, "vw"), (9, "vw")], ("", ""), ("differs", "order")),
        ([(5, "vw"), (10, "vw")], [(n, "vw") for n in range(1, 12) if n % 5], ("", ""), ("differs", "order")),
        # a loss and a summary of what was read for both, and of the step's batch where nothing is read
        ([(1, "uv")] * 2 + [(2, "cd")], [(1, "uvwx")] * 2, ("abcd", "abcd"), ("same", "")),
        ([(1, "uv")] * 2 + [(2, "cd")], [(1, "uvwx"), (1, "yz")], ("abcd", "abcd"), ("differs", "others")),
        ([(1, "uv")] * 2 + [(2, "cd")], [(1, "abcd")] * 2, ("abcd", "abcd"), ("differs", "training")),
        ([(0, "uv")] * 2 + [(0, "wx")] * 2 + [(0, "cd")], [(0, "uvwx")] * 2, ("abcd", "abcd"), ("same", "")),
        ([(0, "uv")] * 2 + [(0, "wx")] * 2 + [(0, "cd")], [(0, "wxuv")] * 2, ("abcd", "abcd"), ("differs", "order")),
    ],
)
def test_evaluations(own: Any, theirs: Any, training: Any, expected: Any) -> None:
    assert evaluated(own, theirs, training) == expected


@pytest.mark.parametrize(("fed", "fault"), [("uvab", "others"), ("efgh", "training"), ("uefg", "training")])
def test_samples_that_are_drawn_in_front_of_the_steps(fed: str, fault: str) -> None:
    """N times as many of the same random numbers, of which the original's first steps are fed the last."""
    own, theirs = ([(gap, {"x:0": list(rows)}) for gap in (0, 2)] for rows in ("uv", fed))
    (found,) = stream.evaluations(own, theirs, (set("abcd"), set("efgh")), 2, True)
    assert (found["fault"], found["status"]) == (fault, "differs" if fault == "training" else "drawn")
    (found,) = stream.evaluations(own, theirs, (set("abcd"), set("efgh")), 2, False)
    assert found["status"] == "differs"


@pytest.mark.parametrize(
    ("own", "theirs", "expected"),
    [
        ({"x:0": "vw", "k:0": 1.0}, {"x:0": "vw", "k:0": 1.0}, ("same", "")),
        ({"x:0": "vw", "k:0": 1.0}, {"x:0": "vw", "k:0": 0.5}, ("differs", "setting")),
        ({"x:0": "vw"}, {"x:0": "vw", "k:0": 0.5}, ("differs", "setting")),
        ({"x:0": "vw", "k:0": 1.0}, {"x:0": "vw"}, ("differs", "setting")),
        ({"x:0": "vw", "n:0": 2.0}, {"x:0": "vw", "n:0": 4.0}, ("same", "")),  # a number of examples
        ({"x:0": "vw"}, {"y:0": "vw", "k:0": 0.5}, None),  # another run
    ],
)
def test_settings_of_evaluations(own: Any, theirs: Any, expected: Any) -> None:
    marks = {True: list, False: lambda number: [stream.SETTING + repr(number)]}
    runs = [[(1, {name: marks[isinstance(fed, str)](fed) for name, fed in one.items()})] for one in (own, theirs)]
    found = [(row["status"], row["fault"]) for row in stream.evaluations(*runs, (set(), set()), 2, False)]
    assert found == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("own", "theirs", "status"),
    [
        (["vwxy"], ["stuv"], "drawn"),
        (["vw", "xy"], ["stuv", "wxyz"], "drawn"),
        (["vwx", "y"], ["st", "uv"], "drawn"),
        (["vwxy", "vwxy"], ["v", "v"], "differs"),
        (["vwxy"], ["vw"], "differs"),
        (["vw", "xy", "vw", "xy"], ["vwxy", "vwxy"], "same"),
        (["vw", "xy", "vw", "xy"], ["vwx", "vwx"], "differs"),  # what comes again in the same order is not drawn
        (["vw", "xy", "wv", "xy"], ["vwx", "vwx"], "drawn"),
    ],
)
def test_evaluations_of_a_script_that_draws(own: list[str], theirs: list[str], status: str) -> None:
    runs = [[(0, {"x:0": list(text)}) for text in each] for each in (own, theirs)]
    (found,) = stream.evaluations(*runs, (set(), set()), 2, True)
    assert found["status"] == status


@pytest.mark.parametrize(
    ("theirs", "found"),
    [
        ([("abcd", "pqrs", 0.5), ("vwxy", "lmno", 1.0)], ("same", "")),
        ([("ab", "pq", 0.5), ("cd", "rs", 0.5), ("vwxy", "lmno", 1.0)], ("same", "")),
        ([("abcd", "pqrs", 0.5), ("vwxy", "lmno", 0.5)], ("differs", "setting")),
        ([("abcd", "pqrs", 0.5), ("cdab", "lmno", 1.0)], ("differs", "training")),  # one of two inputs
        ([("a", "p", 0.5), ("c", "r", 0.5), ("vwxy", "lmno", 1.0)], ("differs", "smaller")),
    ],
)
def test_evaluations_of_the_batch_and_of_other_examples(theirs: Any, found: tuple[str, str]) -> None:
    """A script that draws runs a loss on its batches without dropout, and on examples that it is not trained with."""
    own = [("ab", "pq", 0.5), ("cd", "rs", 0.5), ("ab", "pq", 0.5), ("vwxy", "lmno", 1.0)]
    runs = [
        [(0, {"x:0": list(x), "y:0": list(y), "k:0": [stream.SETTING + repr(k)]}) for x, y, k in each]
        for each in (own, theirs)
    ]
    (row,) = stream.evaluations(*runs, (set("abcdpqrs"), set("abcdpqrs")), 2, True)
    assert (row["status"], row["fault"]) == found


def test_settings_of_runs_behind_the_compared_steps() -> None:
    """An epoch of the conversion may end, and be followed by another kind of run, before the original's does."""
    own, theirs = ([(1, {"x:0": list("vw"), "k:0": [stream.SETTING + number]})] for number in ("0.4", "1.0"))
    for later, fault in ((theirs, ""), ([], "setting")):
        sources = stream.ORDERED._replace(later=later)
        (row,) = stream.evaluations(own, theirs, (set(), set()), 2, False, sources)
        assert row["fault"] == fault


@pytest.mark.parametrize(
    ("fed", "own", "status"),
    [((1.0, 1.0), (1.0, 1.0), "setting"), ((0.0, 0.0), (1.0, 1.0), "differs"), ((0.0, 0.0), (1.0, 0.5), "drawn")],
)
def test_a_setting_that_stays_is_not_drawn(fed: tuple[float, ...], own: tuple[float, ...], status: str) -> None:
    kept = stream.Streams()
    kept.kinds[0] = [{"x": ([mark], None), "k": (None, [k])} for mark, k in zip("abcd", own * 2, strict=True)]
    kept.drawn[0] = 0
    theirs = [{"x": (list(rows), None), "k": (None, [k])} for rows, k in zip(("ab", "cd"), fed, strict=True)]
    found = {row["input"]: row["status"] for row in stream.figures(kept, theirs_of({0: theirs}), 2, "", ())}
    assert found == {"x": "same", "k": status}


@pytest.mark.parametrize(
    ("own", "theirs", "found"),
    [
        (["v"], ["b"], ("drawn", "others")),  # the number of a first word, which is a length in the batch, too
        (["v"], ["v"], ("same", "")),
        (["vw"], ["ab"], ("differs", "training")),
        (["v", "w"], ["a", "b"], ("differs", "training")),
    ],
)
def test_one_row_may_be_like_one_of_the_batch(own: list[str], theirs: list[str], found: tuple[str, str]) -> None:
    runs = [[(0, {"x:0": list(text)}) for text in each] for each in (own, theirs)]
    (row,) = stream.evaluations(*runs, (set("abcd"), set("abcd")), 2, True)
    assert (row["status"], row["fault"]) == found


@pytest.mark.parametrize(
    ("unordered", "theirs", "status"),
    [
        ({"x:0"}, ["stuv"], "drawn"),  # read from a queue, by this run or by an earlier one
        ({"y:0"}, ["stuv"], "differs"),
        ({"x:0"}, ["abcd"], "differs"),  # those of the training
        ({"x:0"}, ["abuv"], "differs"),  # half of them
        ({"x:0"}, ["auvs"], "drawn"),
        ({"x:0"}, ["st"], "differs"),
    ],
)
def test_evaluations_on_examples_in_no_order(unordered: set[str], theirs: list[str], status: str) -> None:
    runs = [[(0, {"x:0": list(text)}) for text in each] for each in (["vwxy"], theirs)]
    (found,) = stream.evaluations(*runs, (set("abcd"), set("abcd")), 2, False, stream.Sources(unordered, set(), ()))
    assert found["status"] == status


@pytest.mark.parametrize(
    ("shared", "own", "theirs", "status"),
    [
        ({"x:0"}, "cd", "efgh", "shared"),  # the original's steps read a to h, but for c and d
        ({"x:0"}, "cd", "stuv", "shared"),
        ({"x:0"}, "cd", "ijkl", "differs"),  # just trained with
        ({"x:0"}, "cd", "e", "differs"),  # fewer
        ({"x:0"}, "cd", "cdef", "same"),
        ({"y:0"}, "cd", "stuv", "differs"),  # a queue of its own
        ({"y:0"}, "vw", "efgh", "differs"),
    ],
)
def test_runs_that_read_on_from_the_queue_of_the_training(shared: set[str], own: str, theirs: str, status: str) -> None:
    runs = [[(1, {"x:0": list(text)})] for text in (own, theirs)]
    (found,) = stream.evaluations(*runs, (set("abefgh"), set("abcdijkl")), 2, False, stream.Sources(set(), shared, ()))
    assert found["status"] == status


SAME = {"input": "x:0", "status": "same", "rows": 8, "left_out": 0, "fault": "", "step": None}


def named(checks: list[CheckResult]) -> dict[str, tuple[str, str]]:
    return {check.name: (check.status, check.detail) for check in checks}


@pytest.mark.parametrize(
    ("fed", "name", "status", "words"),
    [
        ([SAME], "data", "passed", "8 examples are the original's, in order: 2 of its batches in each"),
        ([{**SAME, "left_out": 2}], "data", "passed", "2 at an epoch's end are left out"),
        ([{**SAME, "status": "drawn"}], "data", "skipped", "x:0: drawn at random by the original"),
        ([{"input": "x:0", "status": "absent", "fault": ""}], "data", "skipped", "x:0: sparse"),
        ([{**SAME, "status": "differs", "step": 2}], "data", "failed", "other examples than the original's are fed"),
        ([], "data", "skipped", "nothing is fed"),
        ([SAME], "an epoch's end", "skipped", "--epochs 1"),
        ([SAME], "data of evaluations", "skipped", "--steps all"),
    ],
)
def test_the_verdict_on_data(fed: Any, name: str, status: str, words: str) -> None:
    found = named(check_data({"fed": fed, "evaluated": [], "ended": False}, 2))
    assert found[name][0] == status and words in found[name][1], found


def ran(**changes: Any) -> Ran:
    diary = {"notes": {}, "steps": 0, "savers": [], "seeds": [], "graph seed": None, "shuffling": []}
    sizes = {
        "steps": 5,
        "own_steps": 10,
        "rows": 80,
        "own_rows": 80,
        "short": False,
        "batch": 8,
        "sizes": [16],
        "new": 0,
        "lost": 0,
        "different": 80,
        "once": 0,
        "unshuffled": False,
    }
    rates = changes.pop("rates", ([], []))
    mine = {"ended": changes.pop("mine", "end"), "epochs": 0, "steps": 10, "diary": changes.pop("diary", diary)}
    theirs = {"ended": changes.pop("theirs", "end"), "epochs": 0, "steps": 5, "diary": changes.pop("other", diary)}
    mine["rates"], theirs["rates"] = rates
    compared = {"fed": changes.pop("fed", [SAME]), "evaluated": [], "after": changes.pop("after", [1, 1])}
    compared |= {
        "epoch": changes.pop("epoch", None),
        "again": changes.pop("again", 0),
        "repeats": changes.pop("repeats", False),
    }
    return Ran(mine, theirs, {**compared, "sets": [{**sizes, **changes}]})


NOISE = {"fed": [{**SAME, "status": "drawn"}], "different": 80, "new": 80, "lost": 80}
POINTS = {
    "rows": 80,
    "own_rows": 80,
    "different": 8,
    "new": 0,
    "lost": 0,
    "once": 0,
    "unshuffled": False,
    "input": "x:0",
}


@pytest.mark.parametrize(
    ("changes", "sizes"),
    [
        ({}, (16,)),
        ({"sizes": [10, 16]}, (10, 16)),
        ({"mine": "epochs", "theirs": "epochs"}, (16,)),
        ({"mine": "time"}, ()),
        ({"theirs": "error: x"}, ()),
        ({"short": True}, ()),  # with other data the conversion's steps are not even
    ],
)
def test_sizes_of_the_steps_of_a_whole_run(changes: Any, sizes: tuple[int, ...]) -> None:
    assert sizes_of_steps(ran(**changes)) == sizes


@pytest.mark.parametrize(
    ("changes", "name", "status", "words"),
    [
        ({}, "whole run", "passed", "5 steps on 80 examples, the original's 10 on 80"),
        ({"steps": 10, "rows": 160}, "whole run", "passed", "10 steps on 160 examples"),
        ({"rows": 72, "steps": 4}, "whole run", "passed", "no whole batch is left out"),
        ({"rows": 72, "steps": 4}, "an epoch's end, whole run", "skipped", "8 examples of the original are not taken"),
        ({"mine": "epochs"}, "after the epochs", "skipped", "--steps all goes on to it"),
        ({"rows": 64, "steps": 4}, "whole run", "failed", "neither as many examples nor as many steps"),
        ({"rows": 72, "steps": 4, "short": True}, "whole run", "failed", "neither"),
        ({"rows": 32, "steps": 2}, "whole run", "failed", "neither"),
        ({"theirs": "error: ValueError: x"}, "whole run", "failed", "the conversion ends after step 5: ValueError: x"),
        ({"mine": "error: x"}, "whole run", "skipped", "the original ends after step 10"),
        ({"theirs": "time"}, "whole run", "skipped", "5 steps of the conversion and 10 of the original"),
        ({"after": [2, 0]}, "after training, whole run", "failed", "2 runs of the original"),
        ({"theirs": "epochs", "own_rows": 40}, "whole run", "skipped", "before it has seen the data once"),
        ({"theirs": "epochs", "own_rows": 72}, "whole run", "failed", "neither"),  # by less than a batch of its own
        ({"own_rows": 40}, "whole run", "failed", "neither"),  # it ended by itself
        (
            {"fed": [{**SAME, "status": "drawn"}], "own_rows": 800, "rows": 800, "new": 30},
            "examples, whole run",
            "failed",
            "30 examples that the original is never fed",
        ),
        (
            {"fed": [{**SAME, "status": "drawn"}], "own_rows": 800, "rows": 800, "lost": 40},
            "examples, whole run",
            "failed",
            "never fed 40 of the original's 80",
        ),
        ({"fed": [{**SAME, "status": "drawn"}]}, "examples, whole run", "passed", "the same set"),
        (
            {"fed": [{**SAME, "status": "drawn"}], "unshuffled": True},
            "examples, whole run",
            "failed",
            "in one order again",
        ),
        ({"fed": [{**SAME, "status": "drawn"}], "new": 3}, "examples, whole run", "skipped", "left to chance"),
        # beside noise that is drawn anew for each step
        ({**NOISE, "alone": [{**POINTS, "unshuffled": True}]}, "examples, whole run", "failed", "x:0 is taken in one"),
        ({**NOISE, "alone": [{**POINTS, "lost": 40}]}, "examples, whole run", "failed", "x:0 is never fed 40"),
        ({**NOISE, "alone": [{**POINTS, "new": 40}]}, "examples, whole run", "failed", "x:0 is fed 40 examples"),
        ({**NOISE, "alone": [{**POINTS, "new": 2}]}, "examples, whole run", "skipped", "left to chance"),
        ({**NOISE, "alone": [POINTS]}, "examples, whole run", "skipped", "left to chance"),
        ({**NOISE, "again": 90, "alone": [{**POINTS, "new": 40}]}, "examples, whole run", "skipped", "left to chance"),
        ({"fed": [{**SAME, "status": "differs", "step": 4}]}, "data, whole run", "failed", "step 4"),
        ({"fed": [{**SAME, "status": "differs", "step": 4}]}, "data of evaluations, whole run", "skipped", "is fed"),
    ],
)
def test_the_verdict_on_whole_runs(changes: Any, name: str, status: str, words: str) -> None:
    found = named(check_whole(ran(**changes), 2))
    assert found[name][0] == status and words in found[name][1], found


def test_sets_of_inputs_beside_others_that_are_drawn_anew() -> None:
    """Only where no example of all inputs together comes again are they looked at alone."""
    points = [list("abcd"), list("efgh")] * 3
    noise = [[f"{step}{row}" for row in range(4)] for step in range(6)]

    def steps(*inputs: list[list[str]]) -> Any:
        return {
            (0,): [
                {f"x{place}:0": (marks, None) for place, marks in enumerate(each)} for each in zip(*inputs, strict=True)
            ]
        }

    (found,) = stream.sets(steps(points, noise), steps(points[:1] * 6, noise))
    assert [(row["input"], row["different"], row["lost"], row["new"]) for row in found["alone"]] == [("x0:0", 8, 4, 0)]
    (found,) = stream.sets(steps(points, points), steps(points, points))
    assert (found["alone"], found["different"]) == ([], 8)


def resets(*steps: int, kind: str = "reset") -> Any:
    notes = [{"variables": ["mean/count"], "steps": each, "order": each} for each in steps]
    return {"notes": {kind: notes}, "steps": 0, "savers": [], "seeds": [], "graph seed": None, "shuffling": []}


@pytest.mark.parametrize(
    ("own", "other", "epoch", "status"),
    [
        (resets(0, 10, 20), resets(0, 5, 10), [5, 10], "passed"),
        (resets(0, 10, 20), resets(0, 5), [5, 10], "failed"),
        (resets(0, 10, 20), resets(0, 5), None, "skipped"),  # of epochs nothing is known
        (resets(0, 10, 20), resets(0, 8), [5, 10], "skipped"),  # after so many steps
        (resets(0, 10, 20), resets(0), None, "skipped"),
        (resets(*range(10), kind="set"), resets(*range(5), kind="set"), None, ""),
        (resets(*range(10), kind="set"), resets(*range(2), kind="set"), None, "skipped"),
    ],
)
def test_variables_that_are_set_anew_as_often(own: Any, other: Any, epoch: Any, status: str) -> None:
    found = named(check_whole(ran(diary=own, other=other, epoch=epoch), 2))
    assert found.get("resets, whole run", ("",))[0] == status


OTHERS = {"fed": [{**SAME, "status": "drawn"}], "own_rows": 800, "rows": 800, "new": 30}


@pytest.mark.parametrize(
    ("changes", "said", "status", "words"),
    [
        ({}, (), "failed", "30 examples that the original is never fed"),
        ({"again": 3}, (), "failed", "30 examples that the original is never fed"),
        ({"again": 20}, (), "skipped", "20 examples of one run of the original are not among those of another one"),
        ({"new": 0, "lost": 40, "again": 20}, (), "skipped", "which there are depends on the run"),
        ({}, ("TMG348",), "skipped", "what the model does in a run (TMG348)"),
        ({}, ("TMG311", "TMG303"), "skipped", "what the model does in a run (TMG311)"),
        ({}, ("TMG347",), "failed", "30 examples that the original is never fed"),
        ({"new": 0}, ("TMG348",), "passed", "the same set"),
        ({"fed": [{**SAME, "status": "differs", "step": 1}], "new": 0}, ("TMG347",), "passed", "the same set"),
        ({"fed": [{**SAME, "status": "differs", "step": 1}]}, ("TMG347",), "failed", "never fed"),
        ({"once": 20}, (), "skipped", "which examples are drawn is left to chance"),  # rows made up for each batch
        ({"once": 5}, (), "failed", "30 examples that the original is never fed"),
    ],
)
def test_examples_that_each_run_collects(changes: Any, said: Any, status: str, words: str) -> None:
    """A set that the original has by itself must be the conversion's; one that a run collects is its own."""
    found = named(check_whole(ran(**{**OTHERS, **changes}), 2, said))
    assert found["examples, whole run"][0] == status and words in found["examples, whole run"][1], found
    assert found.get("data, whole run", ("passed",))[0] != "failed"


@pytest.mark.parametrize(
    ("steps", "said", "status", "words"),
    [
        (202, ("TMG348",), "skipped", "waits until there are as many rows as it draws (TMG348)"),
        (201, ("TMG348",), "failed", "neither"),  # by more than the rows of one of the original's batches
        (202, ("TMG347",), "failed", "neither"),
    ],
)
def test_a_first_step_that_waits_for_as_many_rows_as_it_draws(steps: int, said: Any, status: str, words: str) -> None:
    changes = {"steps": steps, "own_steps": 210, "rows": 16 * steps, "own_rows": 8 * 210}
    found = named(check_whole(ran(**changes), 2, said))
    assert found["whole run"][0] == status and words in found["whole run"][1], found


RATE = "learning rate, whole run"
HALVED = [[0.4], [0.1]]  # in the first step, in the last one


@pytest.mark.parametrize(
    ("own", "theirs", "status", "words"),
    [
        (HALVED, HALVED, "passed", "ends at 0.1, the original's at 0.1"),
        (HALVED, [[0.4], [0.11]], "passed", "ends at 0.11, the original's at 0.1"),  # a step or two before
        (HALVED, [[0.4], [0.2]], "skipped", "ends at 0.2, the original's at 0.1: right if its schedule counts steps"),
        (HALVED, [[0.4], [0.4]], "skipped", "ends at 0.4"),
        ([[0.1, 1.0], [0.2, 0.5]], [[0.1, 1.0], [0.2, 0.7]], "skipped", "ends at 0.7, the original's at 0.5"),
        ([[0.1], [0.2]], [[0.1], [0.2]], "passed", "ends at 0.2"),
        ([[0.4], [0.4]], [[0.4], [0.4]], None, ""),
        ([[0.0], [0.1]], [[0.0], [0.1]], None, ""),
        ([[0.4]], [[0.4]], None, ""),
        ([], HALVED, None, ""),
    ],
)
def test_rates_at_the_end(own: Any, theirs: Any, status: str | None, words: str) -> None:
    found = named(check_whole(ran(rates=(own, theirs)), 2))
    assert (RATE in found) == (status is not None)
    if status is not None:
        assert found[RATE][0] == status and words in found[RATE][1], found


@pytest.mark.parametrize(
    ("last", "towers", "words"),
    [
        (0.4, 1, "wrong, unless values of a run decide"),
        (0.1, 1, ""),
        (0.02, 2, "wrong, unless values of a run decide"),
        (0.05, 2, "wrong, unless values of a run decide"),
        (0.09, 2, ""),
    ],
)
def test_rates_that_go_another_way(last: float, towers: int, words: str) -> None:
    """One that comes farther than the original's is changed more often; with one tower it comes exactly as far."""
    found = named(check_whole(ran(rates=(HALVED, [[0.4], [last]]), steps=10 // towers), towers))
    assert found[RATE][0] == ("skipped" if words else "passed") and words in found[RATE][1], found


@pytest.mark.parametrize(
    ("changes", "towers", "status"),
    [
        ({"steps": 8, "rows": 64}, 1, "failed"),
        ({"steps": 8, "rows": 64, "repeats": False, "again": 0}, 1, "failed"),
        ({"steps": 8, "rows": 64, "repeats": False, "again": 1}, 1, "passed"),
        ({"steps": 10}, 1, "passed"),
        ({"steps": 4, "rows": 64}, 2, "passed"),
    ],
)
def test_one_tower_takes_what_the_original_takes(changes: Any, towers: int, status: str) -> None:
    """Where the original repeats itself nothing may be left out; N towers may leave out less than a batch of theirs."""
    found = named(check_whole(ran(**{"repeats": True, "batch": 17, **changes}), towers))
    assert found["whole run"][0] == status, found


def summaries(*numbers: int, steps: tuple[int, ...] = (1, 2, 3)) -> dict[str, Any]:
    notes = [{"tags": ["loss"], "number": n, "steps": s, "order": s} for n, s in zip(numbers, steps, strict=True)]
    return {"notes": {"summary": notes}, "steps": 3, "savers": [], "seeds": [], "graph seed": None, "shuffling": []}


@pytest.mark.parametrize(
    ("own", "theirs", "status"),
    [((0, 1, 2), (0, 1, 2), "passed"), ((0, 1, 2), (0, 2, 4), "failed"), ((0, 8, 16), (0, 16, 32), "passed")],
)
def test_step_numbers_of_whole_runs(own: Any, theirs: Any, status: str) -> None:
    found = named(check_whole(ran(diary=summaries(*own), other=summaries(*theirs)), 2))
    assert found["summaries, whole run"][0] == status, found


def test_a_whole_run_that_could_not_be_is_said() -> None:
    assert check_whole(Ran(problem="no time"), 2) == [CheckResult("whole run", "skipped", "no time")]


@pytest.mark.parametrize("fault", ["", "order", "others"])
def test_data_that_the_batch_size_cuts(fault: str) -> None:
    row = {"status": "differs", "fault": fault, "input": "x", "step": 1, "rows": 0, "left_out": 0}
    found = {"fed": [row], "evaluated": [], "ended": False}
    assert [check.status for check in check_data(found, 2)] == ["failed"]
    assert check_data(found, 2, {"TMG344"})[0] == CheckResult(
        "data", "skipped", "x: other examples, as the batch size cuts the data into rows (TMG344)"
    )
    drawn = "as larger batches are drawn otherwise (TMG347, TMG348; --epochs 1 compares an epoch's examples)"
    for said in ("TMG347", "TMG348"):
        assert check_data(found, 2, {said})[0] == CheckResult("data", "skipped", f"x: other examples, {drawn}")
    assert check_data(found, 2, {"TMG303"})[0].status == "failed"


@pytest.mark.parametrize("fault", ["twice", "size"])
def test_data_that_no_cut_explains(fault: str) -> None:
    row = {"status": "differs", "fault": fault, "input": "x", "step": 1, "rows": 0, "left_out": 0}
    for said in ("TMG344", "TMG347", "TMG348"):
        assert check_data({"fed": [row], "evaluated": [], "ended": False}, 2, {said})[0].status == "failed"


@pytest.mark.parametrize(
    ("said", "fault", "status", "words"),
    [
        ((), "others", "failed", "other examples than"),
        (("TMG344",), "others", "skipped", "as the batch size cuts the data into rows (TMG344)"),
        (("TMG344",), "order", "skipped", "TMG344"),
        (("TMG345",), "part", "skipped", "30 of the original's 40 examples, as only whole batches are taken"),
        (("TMG345",), "others", "failed", "other examples than"),
        (("TMG344", "TMG345"), "training", "failed", "is fed the training batch"),
        (("TMG339",), "part", "failed", "30 of the original's 40 examples"),
    ],
)
def test_evaluations_that_differ_as_the_conversion_has_warned(
    said: tuple[str, ...], fault: str, status: str, words: str
) -> None:
    run = {"status": "differs", "fault": fault, "inputs": ["x:0"], "rows": 30, "own_rows": 40}
    found = check_data({"fed": [], "evaluated": [run], "ended": False}, 2, said)
    [check] = [one for one in found if one.name == "data of evaluations"]
    assert check.status == status and words in check.detail


def test_evaluations_of_runs_that_did_not_come_equally_far_are_not_compared() -> None:
    apart = {"inputs": ["x"], "status": "differs", "fault": "training", "rows": 9, "own_rows": 9}
    whole = ran()
    assert whole.compared is not None and whole.theirs is not None
    compared = {**whole.compared, "evaluated": [apart]}
    found = named(check_whole(replace(whole, compared=compared), 2))
    assert found["data of evaluations, whole run"][0] == "failed"
    late = replace(whole, compared=compared, theirs={**whole.theirs, "ended": "time"})
    found = named(check_whole(late, 2))
    status, detail = found["data of evaluations, whole run"]
    assert status == "skipped" and "did not come equally far" in detail


@pytest.mark.parametrize(("theirs", "named_"), [(4, False), (2, False), (1, True), (0, True)])
def test_lines_that_are_printed_less_often_are_named(theirs: int, named_: bool) -> None:
    """Of ten steps of the original, five of the conversion: as many lines, or half as many."""

    def printing(count: int) -> Any:
        lines = [{"line": f"step {one}", "steps": one, "order": one} for one in range(count)]
        notes = {"notes": {"printed": lines}}
        return {"notes": {}, "steps": 0, "savers": [], "seeds": [], "graph seed": None, "shuffling": [], **notes}

    found = named(check_whole(ran(diary=printing(8), other=printing(2 * theirs)), 2))
    assert ("printed lines, whole run" in found) == named_


@pytest.mark.parametrize(
    ("own", "theirs", "printed", "status"),
    [
        ([3, 5], [7, 9], [14, 18], "failed"),  # twice what was fetched
        ([3, 5], [8, 10], [4, 5], "failed"),
        ([3, 5], [7, 9], [7, 9], "skipped"),
        ([3, 5], [7, 9], [14, 7], "failed"),
        ([3, 3], [7, 7], [14, 14], "skipped"),  # one number may be like another by chance
        ([3, 5], [0, 0], [0, 0], "skipped"),
    ],
)
def test_whole_numbers_that_are_printed(own: list[int], theirs: list[int], printed: list[int], status: str) -> None:
    def said(values: list[int], shown: list[int]) -> Any:
        runs = [{"numbers": [0.5, one], "trains": False, "steps": at, "order": 2 * at} for at, one in enumerate(values)]
        lines = [{"line": f"right: {one}", "steps": at, "order": 2 * at + 1} for at, one in enumerate(shown)]
        rest = {"steps": 0, "savers": [], "seeds": [], "graph seed": None, "shuffling": []}
        return {"notes": {"run": runs, "printed": lines}, **rest}

    found = named(check_whole(ran(diary=said(own, own), other=said(theirs, printed)), 2))
    assert found["printed values, whole run"][0] == status, found


@pytest.mark.parametrize(("fed", "status"), [(1530, "passed"), (1450, "skipped")])
def test_a_whole_epoch_that_may_be_lacking_is_named(fed: int, status: str) -> None:
    """20 epochs of 80 examples, 10 batches in each: of 4 towers' batches each epoch may leave out 16 examples."""
    found = named(check_whole(ran(rows=fed, own_rows=1600, own_steps=200, steps=40), 4))
    assert found["whole run"][0] == status, found
    assert ("a whole epoch is lacking" in found["whole run"][1]) == (status == "skipped")
