"""Runs a script that was converted for a cluster: all of its tasks on this machine, or commands for several."""
