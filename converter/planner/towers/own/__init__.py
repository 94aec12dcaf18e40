"""Examples of which each tower takes its own: out of pipelines, and the edits around the towers for all of them."""
