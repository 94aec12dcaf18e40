"""A conversion that holds only for the value which a constant of the script has now."""

from __future__ import annotations

_HINT = "with another value, convert the original again"
