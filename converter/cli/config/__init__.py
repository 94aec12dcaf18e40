"""The table `[tool.tf-multigpu]` of pyproject.toml: its keys, the file that has it, and what is in force with it."""
