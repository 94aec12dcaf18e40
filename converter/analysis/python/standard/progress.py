"""Progress bars: what is iterated over goes through them as it is."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.python.calling import iterated
from converter.analysis.python.standard.builtins import BUILTINS
from converter.analysis.values import Host, Value


def _bar(call: Call) -> Value:
    over = call.get(0, "iterable")
    return iterated(call.walk, over, call.node) if over is not None else Host(call.values(), call.name, call.node)


MODULES = ("tqdm", "tqdm.auto", "tqdm.notebook", "tqdm.autonotebook", "tqdm.std")
CALLS: dict[str, Handler] = {
    **{f"{module}.tqdm": _bar for module in MODULES},
    **{f"{module}.trange": BUILTINS["range"] for module in MODULES},
    **dict.fromkeys(("tqdm.tqdm_notebook", "tqdm.tqdm_gui", "progressbar.progressbar"), _bar),
    "tqdm.tnrange": BUILTINS["range"],
}
