"""From figures to predicted times, and to words: all worked out by hand, nothing is run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from converter.report.profile import render_json, render_text
from converter.verify.profile import Fabric, Machine, Profile, to_json
from converter.verify.profile.data import MeasuredStep, Placement, Transfer
from converter.verify.profile.placements import Converted, choice, placement
from converter.verify.profile.predict import Load, between, load, predict, predict_hosts

FABRIC = Fabric("F", peer=10, link=10, host=20)
MACHINE = Machine((FABRIC,), tflops=1, latency=0, launch=0)
ALONE = MeasuredStep(1, 1, (), (("host", 10**12),), (("host", 100),), 10**9, 0, 1)


def edge(source: str, target: str, size: float, kind: str, transfers: int = 1) -> Transfer:
    return Transfer(source, target, int(size), transfers, ((kind, int(size)),), (("t", int(size)),))


def towers(gpus: int, parameters: float, batch: float = 10**9, work: float = 10**12) -> MeasuredStep:
    """Variables on the host: every tower gets them and its batch, and sends its gradients."""
    edges = []
    for gpu in range(gpus):
        there = Transfer(
            "host",
            f"gpu:{gpu}",
            int(parameters + batch),
            2,
            (("parameters", int(parameters)), ("inputs", int(batch))),
            (),
        )
        edges += [there, edge(f"gpu:{gpu}", "host", parameters, "gradients")]
    devices = [f"gpu:{gpu}" for gpu in range(gpus)]
    return MeasuredStep(
        gpus,
        gpus,
        tuple(edges),
        tuple((device, int(work)) for device in devices),
        (*((device, 100) for device in devices), ("host", 50)),
        int(batch * gpus),
        0,
        1,
    )


def test_times_by_hand() -> None:
    one, two = predict(ALONE, [towers(2, 3e9)], "per-gpu", MACHINE)
    assert (one.gpus, one.compute, one.transfer, one.step) == (1, 1.0, pytest.approx(0.1), pytest.approx(1.1))
    # each link carries 4 GB at 10 GB/s, and the host 8 GB at 20 GB/s
    assert (two.compute, two.transfer, two.step) == (1.0, pytest.approx(0.4), pytest.approx(1.4))
    assert two.overlapped == 1.0
    assert two.speedup == pytest.approx(2 * 1.1 / 1.4)
    assert two.efficiency == pytest.approx(1.1 / 1.4)
    assert two.limit == ""


def test_the_host_decides_where_its_bandwidth_is_short() -> None:
    rows = predict(ALONE, [towers(4, 3e9)], "per-gpu", MACHINE)
    assert rows[1].transfer == pytest.approx(16 / 20)  # the links alone take 0.4 s


def test_peers_and_host_are_different_ways_on_nvlink() -> None:
    edges = (
        edge("host", "gpu:0", 1e9, "inputs"),
        edge("host", "gpu:1", 1e9, "inputs"),
        edge("gpu:0", "gpu:1", 5e9, "parameters"),
        edge("gpu:1", "gpu:0", 5e9, "gradients"),
    )
    measured = replace(towers(2, 0), edges=edges)
    found = load(measured)
    assert (found.host, found.link, found.peer, found.batch) == (2e9, 1e9, 5e9, 1e9)
    machine = replace(MACHINE, fabrics=(Fabric("NVLink", peer=100, link=10, host=20),))
    assert predict(ALONE, [measured], "per-gpu", machine)[1].transfer == pytest.approx(0.1 + 0.05)


def test_starting_operations_takes_longer_than_little_work() -> None:
    small = replace(ALONE, flops=(("host", 1000),), fed=1000)
    machine = replace(MACHINE, launch=10, latency=20)
    one, two = predict(small, [towers(2, 1000, batch=1000, work=1000)], "per-gpu", machine)
    assert one.compute == pytest.approx(100 * 10e-6)
    assert two.compute == pytest.approx(150 * 10e-6)  # of one tower and the host
    assert two.transfer == pytest.approx(2 * 20e-6, rel=0.01)
    assert two.limit.startswith("too little work per tower")


@pytest.mark.parametrize(
    ("measured", "batch", "words"),
    [
        (
            towers(2, 3e10),
            "per-gpu",
            "parameter-bound: parameters and gradients are 3 s on their way, computing takes 1 s",
        ),
        (towers(2, 1e9, batch=3e10), "per-gpu", "feed-bound: the batch is 3 s on its way, computing takes 1 s"),
    ],
)
def test_slower_than_one_gpu_has_a_reason(measured: MeasuredStep, batch: str, words: str) -> None:
    _, two = predict(ALONE, [measured], batch, MACHINE)
    assert two.speedup < 1
    assert two.limit == words


def test_total_batches_count_once() -> None:
    _, two = predict(ALONE, [towers(2, 0, batch=5e8, work=5e11)], "total", MACHINE)
    assert two.step == pytest.approx(0.55)
    assert (two.speedup, two.efficiency) == (pytest.approx(2), pytest.approx(1))


@pytest.mark.parametrize("gpus", [3, 5, 16])
def test_other_numbers_of_towers_by_form(gpus: int) -> None:
    def known(towers: int) -> Load:
        # on the host, on one GPU, all of one tower's batch, balanced and cut, a share of a total batch
        ring = 2 * (towers - 1) / towers
        return Load(5.0 * towers, 3.0, towers - 1.0, 7.0, ring, 12 / towers, 1 + 2.0 * towers)

    assert between({n: known(n) for n in (2, 4, 8)}, gpus) == Load(
        *(pytest.approx(value) for value in vars(known(gpus)).values())
    )


def test_three_measured_numbers_tell_about_sixteen() -> None:
    few = predict(ALONE, [towers(n, 3e9) for n in (2, 4)], "per-gpu", MACHINE)
    assert [(row.gpus, row.measured) for row in few] == [(1, True), (2, True), (4, True)]
    enough = predict(ALONE, [towers(n, 3e9) for n in (2, 4, 8)], "per-gpu", MACHINE)
    assert [row.gpus for row in enough] == list(range(1, 17))
    assert [row.gpus for row in enough if row.measured] == [1, 2, 4, 8]
    assert enough[15].transfer == pytest.approx(16 * 4 / 20)


def whole(*measured: MeasuredStep) -> Profile:
    predictions = predict(ALONE, measured, "per-gpu", MACHINE)
    return Profile("per-gpu", 3 * 10**10, ALONE, measured, MACHINE, predictions, ("doubtful",), ("left out",))


def test_text_says_what_is_measured_and_what_predicted() -> None:
    text = render_text(whole(towers(2, 3e10)))
    measured, _, predicted = text.partition("PREDICTED, not measured")
    assert measured.startswith("warning: doubtful\nMEASURED in one training step")
    assert "host 60 GB = 2.00 P" in measured and "30 GB = 1.00 P" in measured
    assert "host -> gpu:0 and 1 more alike: 31 GB in 2 tensors each (parameters 30 GB, inputs 1 GB)" in measured
    assert "predicted SLOWER than one GPU with 2: parameter-bound" in predicted
    assert "supposes 1 TFLOP/s per GPU, 0 us to start an operation" in predicted
    assert "note: left out" in predicted


def test_json_holds_all_figures() -> None:
    profile = whole(towers(2, 3e10))
    content = json.loads(render_json(profile))
    assert content == json.loads(json.dumps(to_json(profile)))
    (measured,) = content["measured"]
    assert (measured["total_bytes"], measured["exchange_device"]) == (2 * (31 + 30) * 10**9, "host")
    assert (measured["exchange_bytes"], measured["ring_all_reduce_bytes"]) == (6 * 10**10, 3 * 10**10)
    assert "not measured" in content["predictions_are"]
    assert content["machine"]["fabrics"] == [{"name": "F", "peer": 10, "link": 10, "host": 20}]


# -- several machines --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hosts", "gpus", "network", "peer", "transfer"),
    [
        (2, 1, 8, 10, 1e9 / 0.9e9),  # a ring of two: the parameters once, at 0.9 of 1 GB/s
        (4, 1, 8, 10, 1.5e9 / 0.9e9),
        (2, 2, 80, 10, 1.5e9 / 9e9),  # as many workers, on a network ten times as fast
        (2, 2, 80, 3, 1.5e9 / 3e9),  # slower inside of the machines
        (2, 1, 80, 3, 1e9 / 9e9),  # which one GPU in each does not take
    ],
)
def test_a_ring_by_hand(hosts: int, gpus: int, network: float, peer: float, transfer: float) -> None:
    machine = replace(MACHINE, fabrics=(replace(FABRIC, peer=peer),))
    (one,) = predict_hosts(replace(ALONE, fed=0), 10**9, machine, [(hosts, gpus)], [network])
    workers = hosts * gpus
    assert one.transfer == pytest.approx(transfer + 2 * (workers - 1) * 50e-6)
    assert one.speedup == pytest.approx(workers / (1 + one.transfer))
    assert one.most == pytest.approx(workers / max(1, one.transfer))


def test_ten_machines_on_a_slow_network_are_told_of() -> None:
    profile = replace(whole(towers(2, 3e10)), hosts=predict_hosts(ALONE, 3 * 10**10, MACHINE))
    text = render_text(profile)
    assert "10 machines with one GPU each on 1 Gbit/s: 30 GB of parameters are 480 s on their way" in text
    (line,) = (line for line in text.splitlines() if "10 machines with" in line)
    assert line.endswith("a step computes for 1.1 s: less than one GPU alone")
    assert "several machines" not in render_text(replace(profile, hosts=()))
    assert len(to_json(profile)["hosts"]) == 18


# -- placements --------------------------------------------------------------------------------------


def placed(variables: str, seconds: float, own: bool = False) -> Placement:
    return Placement(variables, own, "", ((8, int(7e8)),), (("F", seconds),))


@pytest.mark.parametrize(
    ("seconds", "chosen"),
    [
        ((0.4, 0.3, 0.2, 0.1), "partitioned"),
        ((0.1, 0.3, 0.2, 0.1), "cpu"),  # the plainer one of two
        ((0.104, 0.3, 0.2, 0.1), "cpu"),  # that are about as fast
        ((0.106, 0.3, 0.2, 0.1), "partitioned"),
    ],
)
def test_the_placement_with_the_shortest_step_is_chosen(seconds: tuple[float, ...], chosen: str) -> None:
    names = ("cpu", "gpu:0", "balanced", "partitioned")
    assert choice([placed(name, step) for name, step in zip(names, seconds, strict=True)]) == chosen


def test_nothing_is_chosen_where_only_one_was_measured() -> None:
    assert choice([placed("cpu", 0.1), Placement("partitioned", False, "TMG245 in line 3: a list")]) == ""


def test_a_placement_by_hand() -> None:
    converted = Converted("cpu", True)
    found = placement(converted, ALONE, [towers(2, 3e9), towers(4, 3e9)], "per-gpu", MACHINE)
    assert found.busiest == ((2, 6_000_000_000), (4, 12_000_000_000))
    assert found.steps == (("F", pytest.approx(1.0 + 16 / 20)),)
    assert placement(replace(converted, refused="no"), ALONE, [], "per-gpu", MACHINE).refused == "no"


def test_the_recommendation_comes_first() -> None:
    measured = (towers(2, 1e8), towers(8, 1e8))
    known = Profile("per-gpu", int(1e8), ALONE, measured, MACHINE, predict(ALONE, measured, "per-gpu", MACHINE))
    places = (placed("cpu", 0.4, own=True), placed("partitioned", 0.1), Placement("balanced", False, "TMG000: why"))
    lines = render_text(replace(known, placements=places, chosen="partitioned")).splitlines()
    assert lines[0] == (
        "use --variables partitioned: 100 ms a step with 8 GPUs on F (predicted); "
        "--variables cpu, as it is, takes 400 ms"
    )
    assert any(line.split() == ["partitioned", "7.00", "P", "100", "ms"] for line in lines)
    assert "balanced      not possible: TMG000: why" in lines
    kept = render_text(replace(known, placements=places[:2], chosen="cpu")).splitlines()
    assert kept[0].startswith("keep --variables cpu: 400 ms a step with 8 GPUs on F (predicted)")
    assert render_text(known).splitlines()[0] == "MEASURED in one training step on virtual devices"
    assert to_json(replace(known, placements=places, chosen="cpu"))["chosen"] == "cpu"
