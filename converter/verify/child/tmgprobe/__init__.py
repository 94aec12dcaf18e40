"""Runs training scripts and watches their sessions: `process` starts them, `roles` say what to do with their steps."""
