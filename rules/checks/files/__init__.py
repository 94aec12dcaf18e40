"""Files and projects that are not read or not written as they are."""
