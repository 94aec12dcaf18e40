"""The files of a run: which are asked for, how each is converted, and how it is written."""
