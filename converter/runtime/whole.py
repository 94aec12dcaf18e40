"""All helpers as one module, the same for every script: `tower_helpers.py` beside scripts, or an installed one.

The installed one has a name of its own at the top, `tf_multigpu_runtime`, and not one inside of `tf_multigpu`: that
package is the tool's, which needs Python 3.10, while scripts run on Python 2.7 too; and two distributions that own one
package folder take files from each other when one of them is removed.
"""

from __future__ import annotations

import re

from converter.runtime.catalog import DENSE, catalog
from converter.source.header import HELPERS

PACKAGE = "tf_multigpu_runtime"
# How the module holds the number of towers; which is how a module of this kind is known.
TOLD = "num_gpus = None  # a number, or a function that gives it; the script that is run sets it"
_HEAD = f'''\
"""Helpers of scripts that tf-multigpu converted for several GPUs: all that there are, each says what it does.

The same for every script. A script says how many towers it builds: `tower_helpers.num_gpus = 2`.
"""
{{imports}}

try:
    import tensorflow.compat.v1 as tf
except ImportError:  # before 1.13
    import tensorflow as tf

{TOLD}
fewer_gpus = 'refuse'  # 'allow' lets towers share a GPU


def towers():
    """The number of towers; 1 for a script that was not converted and imports what was."""
    return (num_gpus() if callable(num_gpus) else num_gpus) or 1
'''
# A script carries helpers for what it does; here they have to serve all, also those that may build for one GPU.
_FOR_ALL = (
    (re.compile(r"\bNUM_GPUS\b"), "towers()"),
    (re.compile(r"environ\.get\('FEWER_GPUS'\)"), "environ.get('FEWER_GPUS', fewer_gpus)"),
    (re.compile(r"(?<=return )tower_gradients\("), "tower_gradients_or_one_gpu("),
)


def whole_module() -> str:
    """The text of the module beside scripts."""
    helpers = [helper for name, helper in catalog().items() if not name.endswith(DENSE)]
    modules = sorted({module for helper in helpers for module in helper.imports if module != "tf"})
    head = _HEAD.format(imports="\n".join(f"import {module}" for module in modules)).rstrip("\n")
    text = "\n\n\n".join([head, *(helper.source for helper in helpers)])
    for pattern, new in _FOR_ALL:
        text = pattern.sub(new, text)
    return f"{HELPERS}\n{text}\n"


def package_module(version: str) -> str:
    """The text of the module that is installed."""
    docstring = whole_module().removeprefix(f"{HELPERS}\n").replace("tower_helpers.num_gpus", f"{PACKAGE}.num_gpus", 1)
    return docstring.replace(TOLD, f"__version__ = '{version}'\n{TOLD}", 1)
