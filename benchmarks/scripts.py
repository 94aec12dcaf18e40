"""Scripts of any length to time the tool on, grown from a fixture.

The fixture trains one net; the grown script trains an ensemble of such nets, each built by a function of its
own and added to the scores: lines of model code, all of them on the way from the inputs to the loss.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

FIXTURE = Path(__file__).resolve().parent.parent / "fixtures/slim_cnn/single.py"
NET, SCOPE = "conv_net", "ConvNet"


def grown(lines: int) -> str:
    """A script of about so many lines, never fewer than the fixture has."""
    source = FIXTURE.read_text(encoding="utf-8")
    (net,) = (node for node in ast.parse(source).body if getattr(node, "name", None) == NET)
    text = source.splitlines()
    body = "\n".join(text[net.lineno - 1 : net.end_lineno])
    calls = len(re.findall(rf"^\w+ = {NET}\(", source, flags=re.MULTILINE))
    copies = max(0, round((lines - len(text)) / (body.count("\n") + 3 + calls)))
    numbers = range(2, copies + 2)

    nets = [body, *(body.replace(NET, f"{NET}_{n}").replace(SCOPE, f"{SCOPE}_{n}") for n in numbers)]

    def ensemble(call: re.Match[str]) -> str:
        scores, arguments = call.groups()
        return "\n".join([call.group(), *(f"{scores} += {NET}_{n}({arguments})" for n in numbers)])

    with_nets = source.replace(body, "\n\n\n".join(nets))
    return re.sub(rf"^(\w+) = {NET}\((.*)\)$", ensemble, with_nets, flags=re.MULTILINE)


def plain(lines: int) -> str:
    """A script of so many lines that has nothing to do with TensorFlow."""
    function = 'def mean_{}(values):\n    """Their mean."""\n    return sum(values) / len(values)\n\n\n'
    return "".join(function.format(n) for n in range(lines // 5))
