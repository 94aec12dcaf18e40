"""The report as one page, with its pictures."""
