"""How batches enter the graph: fed, read, embedded, looked up by name, or seen in a run."""
