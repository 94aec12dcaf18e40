"""The processes in which scripts run: how they start, what they say, how they end, and the folders they run in."""
