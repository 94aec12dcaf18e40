"""A picture of a step by device: what was measured of inputs, towers, averaging and update."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from converter.dataclass import dataclass
from converter.report.page.plots import COLOURS, PAGE, PART_NAMES, WIDTH, device_key, style, svg
from converter.verify.data import Box, Part, StepTrace

TOWER: tuple[Part, ...] = ("forward", "gradient")
COLUMNS: tuple[tuple[str, tuple[Part, ...]], ...] = (
    ("inputs", ("input",)),
    ("towers", TOWER),
    ("averaged gradients", ("average",)),
    ("update", ("update",)),
)
ROW = 1.14  # inches for a box and the space around it
LOWER = 0.2  # inches, of an arrow back
TALL, WIDE = 0.98, 0.2  # of a box: inches, and share of the width


@dataclass(frozen=True)
class Node:
    """One box of the picture: what a device does in one column."""

    column: int
    device: str
    boxes: tuple[Box, ...]


def towers_of(trace: StepTrace) -> list[str]:
    """The devices that computed forward and backward passes, not only operations that must be with the variables."""
    work: dict[str, dict[str, int]] = defaultdict(dict)
    for box in trace.boxes:
        if box.part in TOWER:
            work[box.device][box.part] = box.operations
    most = max((sum(parts.values()) for parts in work.values()), default=0)
    towers = [device for device, parts in work.items() if len(parts) == 2 and sum(parts.values()) * 10 >= most]
    return sorted(towers, key=device_key)


def nodes_of(trace: StepTrace) -> list[Node]:
    """The boxes of a picture, column by column."""
    towers = set(towers_of(trace))
    placed: dict[tuple[int, str], list[Box]] = defaultdict(list)
    for box in trace.boxes:
        if box.part in COLOURS:
            placed[_column(box.device, box.part, towers), box.device].append(box)
    order = {part: index for index, part in enumerate(COLOURS)}
    return [
        Node(column, device, tuple(sorted(boxes, key=lambda box: order[box.part])))
        for (column, device), boxes in sorted(placed.items(), key=lambda item: (item[0][0], device_key(item[0][1])))
    ]


def links_of(trace: StepTrace) -> dict[tuple[tuple[int, str], tuple[int, str]], int]:
    """How many tensors go from one box of the picture to another: {(column, device), (column, device)}."""
    towers = set(towers_of(trace))
    links: dict[tuple[tuple[int, str], tuple[int, str]], int] = defaultdict(int)
    for edge in trace.edges:
        if edge.part in COLOURS and edge.to_part in COLOURS:
            one = (_column(edge.device, edge.part, towers), edge.device)
            two = (_column(edge.to_device, edge.to_part, towers), edge.to_device)
            if one != two:
                links[one, two] += edge.tensors
    return dict(links)


def _column(device: str, part: Part, towers: set[str]) -> int:
    """The column of an operation: a tower's share of the input is in its box, other preparation with the inputs."""
    if part in ("input", *TOWER):
        return 1 if device in towers else 0
    return next(index for index, (_, parts) in enumerate(COLUMNS) if part in parts)


def device_graph(trace: StepTrace, label: str) -> str:
    """The picture as SVG."""
    nodes, links = nodes_of(trace), links_of(trace)
    rows = max(sum(node.column == column for node in nodes) for column in range(len(COLUMNS)))
    with mpl.rc_context(style("devices")):
        height = 0.4 + ROW * max(rows, 1)
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 1), ylim=(0, height))
        axes.axis("off")
        places = _places(nodes, height - 0.4)
        for number, (title, _) in enumerate(COLUMNS):
            axes.text(_middle(number), height - 0.12, title, ha="center", va="center", weight="bold")
        for (one, two), tensors in links.items():
            _arrow(axes, places[one], places[two], tensors)
        for node in nodes:
            _box(axes, node, places[node.column, node.device], trace)
        return svg(figure, label)


def _middle(column: int) -> float:
    return WIDE / 2 + 0.005 + column * (0.99 - WIDE) / (len(COLUMNS) - 1)


def _places(nodes: Sequence[Node], height: float) -> dict[tuple[int, str], tuple[float, float]]:
    """The middle of each box: those of a column share its height."""
    places = {}
    for column in range(len(COLUMNS)):
        mine = [node for node in nodes if node.column == column]
        for index, node in enumerate(mine):
            places[column, node.device] = _middle(column), height * (1 - (index + 0.5) / len(mine))
    return places


def _box(axes: Axes, node: Node, place: tuple[float, float], trace: StepTrace) -> None:
    x, y = place
    main = COLUMNS[node.column][1][0]
    patch = FancyBboxPatch(
        (x - WIDE / 2, y - TALL / 2),
        WIDE,
        TALL,
        boxstyle="round,pad=0,rounding_size=0.012",
        facecolor=to_rgba(COLOURS[main], 0.16),
        edgecolor=COLOURS[main],
        lw=1.5,
        mutation_aspect=WIDTH,
    )
    axes.add_patch(patch)
    lines = [f"{PART_NAMES[box.part].split(',')[0]}: {_count(box.operations)}" for box in node.boxes]
    held = dict(trace.variables).get(node.device, 0)
    if held and node.column == len(COLUMNS) - 1:
        lines.append(f"holds {held} variables")
    step = 0.2
    top = y + step * len(lines) / 2
    axes.text(x - WIDE / 2 + 0.012, top, node.device, va="center", weight="bold", color=PAGE)
    for number, line in enumerate(lines, 1):
        axes.text(x - WIDE / 2 + 0.012, top - number * step, line, va="center", fontsize=9, color=PAGE)


def _count(operations: int) -> str:
    return "1 op" if operations == 1 else f"{operations} ops"


def _arrow(axes: Axes, one: tuple[float, float], two: tuple[float, float], tensors: int) -> None:
    """From a box to another: straight between neighbours, back a little lower, in a bow over others."""
    column, side = (0.99 - WIDE) / (len(COLUMNS) - 1), 1 if two[0] > one[0] else -1
    x, y, bend = (one[0] + two[0]) / 2, (one[1] + two[1]) / 2, 0.0
    start, end = (one[0] + side * WIDE / 2, one[1]), (two[0] - side * WIDE / 2, two[1])
    label = (x, y + 0.05)
    if two[0] == one[0]:  # the same column: along its left side
        start, end = (one[0] - WIDE / 2, one[1]), (two[0] - WIDE / 2, two[1])
        bend, label = 0.2 if two[1] < one[1] else -0.2, (x - WIDE / 2 - 0.025, y)
    elif side < 0:
        start, end = (start[0], start[1] - LOWER), (end[0], end[1] - LOWER)
        label = (x, y - LOWER - 0.15)
    elif two[0] - one[0] > 1.5 * column:
        start, end = (one[0] + WIDE / 4, one[1] + TALL / 2), (two[0] - WIDE / 4, two[1] + TALL / 2)
        # the middle of the bow: half of how far its control point lies aside
        bend, label = -0.18, (x, y + TALL / 2 + 0.09 * (two[0] - one[0] - WIDE / 2) * WIDTH)
    arrow = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>",
        mutation_scale=11,
        connectionstyle=f"arc3,rad={bend}",
        color=PAGE,
        alpha=0.55,
        lw=1.1,
        shrinkA=1,
        shrinkB=1,
    )
    axes.add_patch(arrow)
    axes.text(*label, str(tensors), ha="center", fontsize=9)
