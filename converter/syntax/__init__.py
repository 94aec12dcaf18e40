"""A script as its syntax tree: what its names stand for, where its nodes stand, and changes of its text by place."""
