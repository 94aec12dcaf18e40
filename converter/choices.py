"""The values that an option can have where they are few; apart from `converter.options` for what starts fast."""

from __future__ import annotations

from typing import Literal

BatchMode = Literal["per-gpu", "total"]
Variables = Literal["cpu", "gpu:0", "balanced", "partitioned"]
FewerGpus = Literal["refuse", "allow"]
Color = Literal["auto", "always", "never"]
Data = Literal["copy", "link", "none"]
Refused = Literal["fail", "pass"]
ScaleLr = Literal["none", "linear", "sqrt"]
ScaleSteps = Literal["keep", "divide"]
EvalBatch = Literal["grow", "script"]
Shard = Literal["rows", "files"]
OutputFormat = Literal["text", "json", "github", "sarif", "markdown"]
LossMode = Literal["towers", "global"]
Target = Literal["auto", "towers", "mirrored", "ddp", "cluster"]
Helpers = Literal["inline", "module", "package"]
Warnings = Literal["report", "comment"]

COPY_LIMIT = 50  # megabytes of a file that is copied into an output folder, unless --copy-limit says another number
MAX_LINES = 50_000  # of a script, unless --max-lines says another number
