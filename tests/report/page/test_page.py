"""The page: what stands on it, that it stands alone, and that a reader who does not see it can read it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `report` is not installed")
pytest.importorskip("matplotlib", reason="the extra `report` is not installed")

from converter.report.page import plots  # noqa: E402
from converter.report.page.device_graph import device_graph, links_of, nodes_of, towers_of  # noqa: E402
from converter.report.page.html import Scripts, render_html  # noqa: E402
from converter.verify.data import Box, BoxEdge, CheckResult, ConversionOrigin, LedgerLine, Report, VariableRow  # noqa: E402
from tests.report.standins import report, scripts, step_trace  # noqa: E402
from tests.verify.test_report import step, verdict  # noqa: E402

pytestmark = pytest.mark.one_test_in(2)

VOID = {"meta", "link", "br", "col", "img", "hr", "input"}


class Page(HTMLParser):
    """A page's elements; fails where they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


FAILED = replace(
    verdict(one=step(gradients={"w:0": 1.0}, matches=[["summed", 0.0]])),
    ledger=(LedgerLine("wrong", "gradients", "summed", 1.0, 1e-4),),
    converted=step_trace(2),
)
NOTHING = Report("not comparable", "the original script failed", 2, "per-gpu", 0, log="Traceback <module>")
REPORTS = {
    "passed": report(),
    "failed": FAILED,
    "nothing": NOTHING,
    "one tower": report(1),
    "eight towers": report(8),
    "without traces": report(original=None, converted=None, losses=()),
    "unknown origin": report(origin=ConversionOrigin()),
}


@pytest.fixture(params=REPORTS)
def page(request: pytest.FixtureRequest) -> str:
    return rendered(request.param)


@cache
def rendered(name: str) -> str:
    return render_html(REPORTS[name], scripts())


@pytest.mark.one_in(3)
def test_it_stands_alone(page: str) -> None:
    found = Page(page)
    assert found.all("script") == found.all("img") == found.all("iframe") == found.all("object") == []
    references = [attributes[name] for _, attributes in found.elements for name in attributes if name in LINKS]
    assert [reference for reference in references if not reference.startswith(("#", "data:,"))] == []
    assert re.findall(r"(?i)@import|url\((?!#)", page) == []
    assert "default-src 'none'" in found.all("meta")[3]["content"]
    named = {attributes["id"] for _, attributes in found.elements if "id" in attributes}
    assert {reference[1:] for reference in references if reference.startswith("#")} <= named


LINKS = ("href", "src", "srcset", "action", "data", "poster", "xlink:href")


def test_no_identifier_is_given_twice(page: str) -> None:
    names = [attributes["id"] for _, attributes in Page(page).elements if "id" in attributes]
    assert sorted(names) == sorted(set(names))


def test_it_can_be_read_without_seeing_it(page: str) -> None:
    found = Page(page)
    assert found.all("html")[0]["lang"] == "en"
    assert all(svg["role"] == "img" and len(svg["aria-label"]) > 20 for svg in found.all("svg"))
    assert len(found.all("table")) <= len(found.all("thead"))
    assert all("scope" in cell for cell in found.all("th"))
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in zip(levels, levels[1:], strict=False))


@pytest.mark.parametrize(
    ("name", "words"),
    [("passed", "Passed: 2 towers"), ("failed", "Failed: the gradients are summed"), ("nothing", "Not comparable: ")],
)
def test_the_verdict_comes_first(name: str, words: str) -> None:
    found = Page(rendered(name))
    assert words in found.text[:400]
    assert found.all("title") and "train_multi.py" in found.text[:200]


def test_what_stands_on_it() -> None:
    found = Page(rendered("passed"))
    sections = [attributes["id"] for attributes in found.all("section")]
    assert sections == [
        "judge",
        "checks",
        "changes",
        "devices",
        "losses",
        "gradients",
        "timeline",
        "neutralised",
        "rules",
        "ledger",
        "again",
    ]
    for words in (
        "equal to the mean of the original's on the shards",
        "1.0e-07",
        "batch_size = 50 * num_gpus",
        "the batch size follows the number of GPUs",
        "random_uniform",
        "takes 8 examples",
        "there were none",
        "tf-multigpu verify train.py train_multi.py --gpus 2",
        "TensorFlow 2.21.0",
        "which is this original",
        "TMG103: batches are cut into one shard for each tower",
    ):
        assert words in found.text, words


def test_every_rule_that_is_named_is_explained() -> None:
    text = rendered("passed")
    named = set(re.findall(r'href="#(TMG\d+)"', text))
    assert {"TMG101", "TMG103", "TMG110", "TMG111"} <= named
    assert named == set(re.findall(r'class="rule" id="(TMG\d+)"', text))


def test_without_a_trace_it_says_so() -> None:
    found = Page(rendered("unknown origin"))
    assert "rules behind the lines are not known" in found.text
    assert "rules" not in [attributes["id"] for attributes in found.all("section")]


def test_what_a_script_holds_is_text() -> None:
    evil = "</td></table><script>alert('x')</script>\n<!-- & -->\n{{ 7 * 7 }}\n"
    names = Scripts("<b>.py", "a&b.py", evil, evil + "x = '<img src=x onerror=alert(1)>'\n")
    shown = render_html(report(reason="<i>why</i>", command="echo '<u>'", log="<script>"), names)
    found = Page(shown)
    assert found.all("script") == found.all("img") == found.all("b") == found.all("i") == found.all("u") == []
    assert "<script>alert('x')</script>" in found.text
    assert "{{ 7 * 7 }}" in found.text
    assert "&amp;b.py" in shown


def test_it_is_the_same_each_time() -> None:
    assert render_html(report(), scripts()) == rendered("passed")


# -- pictures --------------------------------------------------------------------------------------


def test_the_picture_is_what_was_measured() -> None:
    trace = step_trace(3)
    nodes = [(node.column, node.device) for node in nodes_of(trace)]
    assert nodes == [(0, "cpu:0"), (1, "cpu:1"), (1, "cpu:2"), (1, "cpu:3"), (2, "cpu:0"), (3, "cpu:0")]
    links = links_of(trace)
    assert links[(0, "cpu:0"), (1, "cpu:2")] == 2
    assert links[(1, "cpu:3"), (2, "cpu:0")] == 2
    assert links[(2, "cpu:0"), (3, "cpu:0")] == 4
    assert len(links) == 7


def test_a_tower_that_did_not_run_is_not_drawn() -> None:
    trace = step_trace(3)
    without = replace(
        trace,
        boxes=tuple(box for box in trace.boxes if box.device != "cpu:2"),
        edges=tuple(e for e in trace.edges if "cpu:2" not in (e.device, e.to_device)),
    )
    drawn = device_graph(without, "")
    assert "cpu:1" in drawn and "cpu:3" in drawn and "cpu:2" not in drawn
    assert "cpu:2" in device_graph(trace, "")


def test_a_few_operations_beside_the_variables_are_no_tower() -> None:
    trace, few = step_trace(2), (Box("cpu:0", "forward", 2, 1), Box("cpu:0", "gradient", 1, 1))
    back = (BoxEdge("cpu:1", "forward", "cpu:0", "gradient", 9), BoxEdge("cpu:1", "forward", "cpu:2", "forward", 7))
    beside = replace(trace, boxes=trace.boxes + few, edges=trace.edges + back)
    assert towers_of(beside) == ["cpu:1", "cpu:2"]
    assert [node.device for node in nodes_of(beside) if node.column == 1] == ["cpu:1", "cpu:2"]
    assert ">9<" in device_graph(beside, "") and ">7<" in device_graph(beside, "")
    many = replace(trace, boxes=trace.boxes + tuple(replace(box, operations=30) for box in few))
    assert towers_of(many) == ["cpu:0", "cpu:1", "cpu:2"]


def test_pictures_take_the_colour_of_the_page() -> None:
    for drawn in (
        plots.loss_curves(report().losses, "losses"),
        plots.timeline([("one", step_trace(2))], "time"),
        plots.gradient_errors(report().variables, 1e-4, "errors"),
        device_graph(step_trace(2), "devices"),
    ):
        assert "currentColor" in drawn
        assert plots.PAGE not in drawn
        assert not re.search(r"fill: ?#(000000|ffffff)|<text[^>]*fill:black", drawn)
        assert drawn.startswith("<svg role=") and drawn.endswith("</svg>")


def variable(name: str, gradient: Any) -> VariableRow:
    return VariableRow(name, "2", "float32", True, gradient, 0.0, 0.0)


def test_gradient_errors_are_on_a_log_scale_with_what_is_allowed() -> None:
    rows = [variable("good:0", 1e-7), variable("exact:0", 0.0), variable("bad:0", 0.5), variable("nan:0", float("nan"))]
    drawn = plots.gradient_errors([*rows, variable("held:0", None)], 1e-4, "errors")
    assert all(name in drawn for name in ("good", "exact", "bad", "nan", "allowed 1e-04"))
    assert "held" not in drawn
    red = [len(re.findall("#d64545", plots.gradient_errors(some, 1e-4, ""))) for some in (rows[:2], rows[:3], rows)]
    assert red[0] < red[1] < red[2]


def test_of_many_variables_the_worst_are_drawn() -> None:
    rows = [variable(f"v{number}:0", number * 1e-9) for number in range(100)]
    drawn = plots.gradient_errors(rows, 1e-4, "errors")
    assert ">v99<" in drawn and ">v60<" in drawn
    assert ">v59<" not in drawn
    text = Page(render_html(report(variables=tuple(rows)), scripts())).text
    assert "The 40 largest are shown." in text


def test_a_step_that_took_no_time_can_be_drawn() -> None:
    still = replace(step_trace(1), spans=tuple(replace(span, begin=0, end=0) for span in step_trace(1).spans))
    assert "cpu:1" in plots.timeline([("still", still)], "time")


def test_the_header_of_a_converted_script_is_explained_as_what_it_is() -> None:
    page = render_html(report(4), scripts())
    assert "says which script this was made from, with which options" in page
    assert "TMG009" not in page and "the script was converted before" not in page


def test_no_times_of_virtual_devices() -> None:
    page = re.sub(r"<pre>.*?</pre>", "", render_html(report(4), scripts()), flags=re.DOTALL)
    assert re.findall(r"\b[\d.]+ ms\b|millisecond", page) == []
    assert "percent of the step" in page


def test_what_the_checks_say_is_not_said_again() -> None:
    shown = replace(
        report(2),
        checks=(
            CheckResult("gradients", "passed", "as one GPU has them", 1e-7, 1e-4),
            CheckResult("seeds", "skipped", "no seed"),
        ),
        ledger=(
            LedgerLine("same", "gradients", "as one GPU has them", 1e-7, 1e-4),
            LedgerLine("differs", "one step", "takes 8 examples"),
            LedgerLine("differs", "prints", "come from two towers"),
            LedgerLine("unchecked", "seeds", "no seed"),
            LedgerLine("unchecked", "GPUs", "virtual devices ran"),
        ),
        notes=(),
    )
    page = render_html(shown, scripts())
    for said in ("as one GPU has them", "takes 8 examples", "come from two towers", "no seed", "virtual devices ran"):
        assert page.count(said) == 1, said
    alone = render_html(replace(shown, ledger=shown.ledger[:2]), scripts())
    assert 'id="ledger"' not in alone and "#ledger" not in alone


def test_pictures_keep_their_size_on_a_phone() -> None:
    page = render_html(report(2), scripts())
    assert page.count('<div class="scroll wide"') == page.count("<figure>") > 2
