"""Runs training scripts under watch: `process` starts them, `roles` say what is done with their steps."""
