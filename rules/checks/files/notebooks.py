"""Messages about notebooks, raised where their cells are read as a script, or a script becomes cells again."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG040",
        title="this is not a notebook",
        why="The file ends in .ipynb, and is not JSON, or has not the parts of a notebook: `nbformat`, and "
        "`cells` each with `cell_type` and `source`. A key that stands twice in one object is refused, too: "
        "programs take different ones of the two.",
    ),
    Rule(
        code="TMG041",
        title="a notebook of another format",
        why="Notebooks of format 4 are read (all minor versions), which Jupyter has written since 2015. `jupyter "
        "nbconvert --to notebook --nbformat 4` writes older ones anew.",
    ),
    Rule(
        code="TMG042",
        title="a notebook in another language",
        why="The notebook's kernel runs R, Julia or something else, and only Python is converted. In a folder "
        "such a notebook passes, and an output folder gets a copy.",
    ),
    Rule(
        code="TMG043",
        title="a cell cannot be followed",
        why="A cell waits by itself (`await` outside of a function), which a notebook can and a script cannot, or "
        "has one of the marks by which the tool keeps cells apart.",
    ),
    Rule(
        code="TMG044",
        title="cells cannot become one",
        why="A tower loop cannot span cells, so the cells from its first statement to its last become one, the "
        "first of them. That would move their code past a cell of another language between them (%%bash), or "
        "a cell's magic (%%time, %%capture) into the middle of a cell, where it has no meaning. Put the model "
        "into cells that follow each other, without magics in their first lines.",
    ),
    Rule(
        code="TMG045",
        title="a magic runs Python that is not looked into",
        why="%run, %timeit, %prun and their like run a statement or a file that the tool does not read. What it "
        "binds is not known, and what it trains stays on one GPU. `%time STATEMENT` is read as the statement.",
    ),
)
