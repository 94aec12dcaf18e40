"""Predicts what a conversion will cost on real GPUs, from one step of it that ran on virtual devices.

What crosses devices and what is computed is measured; times are predicted from stated bandwidths
(docs/profile.md). Nothing here imports TensorFlow; that happens in the processes that it starts.
"""

from __future__ import annotations

from converter.verify.profile.data import FABRICS, Fabric, Machine, Profile, ProfileSettings, to_json
from converter.verify.profile.run import profile

__all__ = ["FABRICS", "Fabric", "Machine", "Profile", "ProfileSettings", "profile", "to_json"]
