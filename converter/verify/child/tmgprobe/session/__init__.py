"""The runs of sessions that train: which of them train, what they are fed and fetch, how long parts take."""
