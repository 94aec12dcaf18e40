"""The folders of a project: where imports lead, and which other scripts read or import what a script changes."""
