"""Holds the predictions of `profile` to speeds that were measured on real GPUs.

    published.py [--gpus 2,3,4] [--python INTERPRETER] [NET ...]

TensorFlow's benchmarks page of May 2017 has training speeds of five nets on 1 to 8 GPUs of three hosts: TensorFlow 1.x,
CUDA 8.0, SGD, synthetic data, one process. The same nets stand in benchmarks/nets. A step of each is measured as
`profile` does, with a batch of one image for each tower: what parameters and gradients move does not depend on the
batch, and the operations grow with it. The published speed of one GPU tells how many operations a second that GPU
sustains for the net. The speed-up of 2, 4 and 8 GPUs is then predicted, and held against the published one. Data was
synthetic, on the GPU itself, so that inputs are left out of the transfers. Where the published run kept a copy of the
variables on each GPU, the prediction is that of `--variables partitioned`, which moves as much.

Several machines: published speed-ups are held against the range that is predicted, from no transfer hidden behind the
computing to all of them; what lies in it is off by nothing.

Exit status 1 where less than 80 % of the rows lie within 10 %.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from timing import ROOT

from converter.choices import Variables
from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify.processes.interpreters import Interpreters
from converter.verify.profile import Profile, ProfileSettings, profile
from converter.verify.profile.data import FABRICS, Fabric, Machine
from converter.verify.profile.predict import Load, between, load, load_alone, on_hosts, times

NETS = {
    "Inception v3": ("inception3.py", ()),
    "ResNet-50": ("resnet.py", ("--layers", "50")),
    "ResNet-152": ("resnet.py", ("--layers", "152")),
    "AlexNet": ("alexnet.py", ()),
    "VGG-16": ("vgg16.py", ()),
}
GPUS = (1, 2, 4, 8)
WITHIN, ROWS = 0.10, 0.80
# Eight P100 with NVLink: four PCIe switches, two at each processor. Eight K80: two ports of a processor.
P100 = Fabric("8 x P100, NVLink", 110, 12, 48)
K80 = replace(FABRICS[0], name="8 x K80, PCIe")
OTHER = replace(FABRICS[0], name="8 x K80, another host")


class Series(NamedTuple):
    """Published images a second of one net on 1, 2, 4 and 8 GPUs; batch: images of each GPU in a step."""

    host: Fabric
    net: str
    batch: int
    variables: Variables
    speeds: tuple[float, float, float, float]


PUBLISHED = (
    Series(P100, "Inception v3", 64, "cpu", (142, 284, 569, 1131)),
    Series(P100, "ResNet-50", 64, "cpu", (219, 422, 852, 1734)),
    Series(P100, "ResNet-152", 64, "cpu", (91.8, 181, 356, 716)),
    Series(P100, "AlexNet", 512, "partitioned", (2987, 5658, 10509, 17822)),
    Series(P100, "VGG-16", 64, "partitioned", (154, 295, 584, 1081)),
    Series(P100, "Inception v3", 32, "cpu", (128, 259, 520, 995)),
    Series(P100, "ResNet-50", 32, "cpu", (195, 368, 768, 1485)),
    Series(P100, "ResNet-152", 32, "cpu", (82.7, 160, 317, 632)),
    Series(P100, "VGG-16", 32, "partitioned", (144, 281, 549, 820)),
    Series(K80, "Inception v3", 64, "cpu", (30.5, 57.8, 116, 227)),
    Series(K80, "ResNet-50", 64, "cpu", (51.9, 99.0, 195, 387)),
    Series(K80, "ResNet-152", 32, "cpu", (20.0, 38.2, 75.8, 148)),
    Series(K80, "AlexNet", 512, "cpu", (656, 1209, 2328, 4640)),
    Series(K80, "VGG-16", 32, "cpu", (35.4, 64.8, 120, 234)),
    Series(OTHER, "Inception v3", 64, "cpu", (30.8, 58.7, 117, 230)),
    Series(OTHER, "ResNet-50", 64, "partitioned", (51.5, 98.0, 195, 384)),
    Series(OTHER, "ResNet-152", 32, "partitioned", (19.7, 37.6, 74.9, 149)),
    Series(OTHER, "AlexNet", 512, "gpu:0", (684, 1244, 2479, 4853)),
    Series(OTHER, "VGG-16", 32, "gpu:0", (36.3, 69.4, 141, 260)),
)


class Spread(NamedTuple):
    """Published speed-ups of several machines; network: Gbit/s. second: images a second of one GPU."""

    what: str
    net: str
    batch: int
    gpus: int
    network: float
    second: float
    speed_ups: tuple[tuple[int, float], ...]  # machines, and the speed-up


# Machines of eight K80 (p2.8xlarge, 10 Gbit/s) with parameter servers, which move about what a ring does; Horovod's of
# four P100 each, of which the page gives the share of linear. One GPU: as in the tables above.
SPREAD = (
    Spread("8 x K80", "Inception v3", 64, 8, 10, 29.7, ((2, 459 / 29.7), (4, 902 / 29.7), (8, 1783 / 29.7))),
    Spread("8 x K80", "ResNet-50", 64, 8, 10, 52.4, ((2, 751 / 52.4), (4, 1388 / 52.4), (8, 2744 / 52.4))),
    Spread("8 x K80", "ResNet-152", 32, 8, 10, 19.4, ((2, 291 / 19.4), (4, 565 / 19.4), (8, 981 / 19.4))),
    Spread("4 x P100", "Inception v3", 64, 4, 25, 142, ((128, 0.90 * 512),)),
    Spread("4 x P100", "VGG-16", 64, 4, 25, 154, ((128, 0.68 * 512),)),
)


def spread(nets: list[str], parameters: dict[str, int]) -> tuple[int, int]:
    """Prints the table of several machines; how many rows are near, and of how many."""
    near = rows = 0
    print("\n| machines | net [batch] | Gbit/s | GPUs | published | predicted | off by |\n|" + " --- |" * 7)
    for one in (one for one in SPREAD if one.net in nets):
        fabric = K80 if "K80" in one.what else P100
        for hosts, then in one.speed_ups:
            now = on_hosts(one.batch / one.second, parameters[one.net], hosts, one.gpus, one.network, fabric)
            nearest = min(max(then, now.speedup), now.most)
            off = nearest / then - 1
            near, rows = near + (abs(off) <= WITHIN), rows + 1
            mark = "" if abs(off) <= WITHIN else " **over**"
            said = f"{now.speedup:.1f} to {now.most:.1f}"
            cells = f"{hosts} of {one.what}", f"{one.net} [{one.batch}]", f"{one.network:g}", str(hosts * one.gpus)
            print(f"| {' | '.join((*cells, f'{then:.1f}', said, f'{off:+.0%}{mark}'))} |", flush=True)
    return near, rows


def measured(net: str, variables: Variables, gpus: tuple[int, ...], python: str, pool: Interpreters) -> Profile:
    """One step of a net with one image for each tower, its variables in this place."""
    file, args = NETS[net]
    script = ROOT / "benchmarks/nets" / file
    conversion = convert(read(str(script)), Options(variables=variables))
    assert conversion.text is not None, conversion.diagnostics
    with TemporaryDirectory() as folder:
        multi = Path(folder, "multi.py")
        multi.write_text(conversion.text, encoding="utf-8")
        return profile(script, multi, ProfileSettings(gpus, python=python, args=args, timeout=7200), pool)


def of_images(one: Load, images: int) -> Load:
    """The load of a step with this many images for each tower in place of one, which lie on the GPU."""
    return replace(one, flops=one.flops * images, host=one.host - one.batch, link=one.link - one.batch, batch=0)


def speed_ups(series: Series, profiled: Profile) -> list[float]:
    """The predicted speed-ups of 2, 4 and 8 GPUs."""
    alone = of_images(load_alone(profiled.original), series.batch)
    machine = Machine((series.host,), tflops=alone.flops / series.batch * series.speeds[0] / 1e12)
    loads = {one.towers: load(one) for one in profiled.measured}
    first = times(alone, series.host, machine)
    found = []
    for gpus in GPUS[1:]:
        now = times(of_images(loads.get(gpus) or between(loads, gpus), series.batch), series.host, machine)
        found.append(gpus * (first.compute + first.transfer) / (now.compute + now.transfer))
    return found


def report(nets: list[str], gpus: tuple[int, ...], python: str) -> bool:
    """Prints the table; whether enough rows lie near the published ones."""
    profiles: dict[tuple[str, Variables], Profile] = {}
    print("| host | net [batch] | `--variables` | GPUs | published | predicted | off by |\n|" + " --- |" * 7)
    near = rows = 0
    with Interpreters() as pool:
        for series in (one for one in PUBLISHED if one.net in nets):
            key = series.net, series.variables
            if key not in profiles:
                profiles[key] = measured(*key, gpus, python, pool)
                size = profiles[key].parameters / 1e6
                work = sum(count for _, count in profiles[key].original.flops) / 1e9
                print(f"{series.net}, {series.variables}: {size:.0f} MB, {work:.1f} GFLOP an image", file=sys.stderr)
            predicted = speed_ups(series, profiles[key])
            for number, speed, now in zip(GPUS[1:], series.speeds[1:], predicted, strict=True):
                then = speed / series.speeds[0]
                off = now / then - 1
                near, rows = near + (abs(off) <= WITHIN), rows + 1
                mark = "" if abs(off) <= WITHIN else " **over**"
                name = f"{series.net} [{series.batch}]"
                figures = f"{then:.2f}", f"{now:.2f}", f"{off:+.0%}{mark}"
                cells = (series.host.name, name, series.variables, str(number), *figures)
                print(f"| {' | '.join(cells)} |", flush=True)
    sizes = {net: one.parameters for (net, _), one in profiles.items()}
    near, rows = (one + more for one, more in zip((near, rows), spread(nets, sizes), strict=True))
    print(f"\n{near} of {rows} rows within {WITHIN:.0%} ({near / rows:.0%}; at least {ROWS:.0%})")
    return near >= ROWS * rows


def main() -> int:
    """Measures what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", metavar="NET", nargs="*", help="some of " + ", ".join(NETS))
    parser.add_argument("--gpus", default="2,3,4", help="numbers of towers to run; from three follow all others")
    parser.add_argument("--python", default=str(ROOT / ".venv-tf1.15/bin/python"), help="one with TensorFlow")
    options = parser.parse_args()
    gpus = tuple(int(number) for number in options.gpus.split(","))
    return 0 if report(options.nets or list(NETS), gpus, options.python) else 1


if __name__ == "__main__":
    sys.exit(main())
