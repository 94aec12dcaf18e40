"""Proves a conversion: runs the original and the converted script on virtual devices and compares them.

The contract is the mean of the towers' gradients, taken at the same weights, applied once (docs/verify.md).
Nothing here imports TensorFlow; that happens in the processes that `verify` starts.
"""

from __future__ import annotations

from converter.verify.data import (
    CheckResult,
    DeviceRow,
    LedgerLine,
    Progress,
    Report,
    VariableRow,
    VerifyError,
    VerifySettings,
    to_json,
)
from converter.verify.processes.interpreters import Interpreters
from converter.verify.run import verify
from converter.verify.runs.folders import verify_folders
from converter.verify.runs.several_proofs import verify_more

__all__ = [
    "CheckResult",
    "DeviceRow",
    "LedgerLine",
    "Interpreters",
    "Progress",
    "Report",
    "VerifySettings",
    "VariableRow",
    "VerifyError",
    "to_json",
    "verify",
    "verify_folders",
    "verify_more",
]
