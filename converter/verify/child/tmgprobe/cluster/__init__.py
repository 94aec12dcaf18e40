"""Scripts that were converted for a cluster: records their workers' steps, and replays them with the original."""
