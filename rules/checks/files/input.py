"""What can be wrong with the files themselves, before and beside all conversion."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG001",
        title="the file cannot be read",
        why="There is no such file, it is a folder where a file is wanted, or its permissions forbid "
        "reading. Nothing is guessed in its place, and nothing is written.",
    ),
    Rule(
        code="TMG002",
        title="the file cannot be decoded",
        why="The bytes are not text in the encoding that Python would read the file with: UTF-8, unless a "
        "coding cookie in the first two lines or a byte order mark says otherwise. Decoding it some "
        "other way would change strings and comments that the conversion has to leave alone. In the "
        "example the file was saved as UTF-8 by an editor that left the old cookie standing.",
        before="# -*- coding: ascii -*-\n# Größe eines Stapels\nbatch_size = 64\n",
        after="# -*- coding: utf-8 -*-\n# Größe eines Stapels\nbatch_size = 64\n",
        references=("https://peps.python.org/pep-0263/",),
    ),
    Rule(
        code="TMG003",
        title="the file is empty",
        why="A file without a character but blanks trains nothing. It is refused when it is named for "
        "conversion; in folders, with --in-place and with --check it passes silently.",
    ),
    Rule(
        code="TMG004",
        title="the file mixes Python 2 with Python 3",
        why="Scripts in Python 2 are converted as they are, and what the tool adds to them is Python 2, too. A file "
        "with a print statement and an f-string is neither Python 2 nor Python 3: nothing runs it, so there is nothing "
        "to convert. Of Python 2 itself one thing is not followed: a tuple among the parameters of a function, or "
        "behind `except E,`, whose brackets go over several lines, or whose block begins with a compound statement.",
        before='try:\n    print "step", step\nexcept IOError as error:\n    print(f"no data: {error}")\n',
        after='try:\n    print "step", step\nexcept IOError as error:\n    print "no data: %s" % error\n',
        references=("https://docs.python.org/2.7/reference/grammar.html",),
    ),
    Rule(
        code="TMG005",
        title="the file is not Python",
        why="Python's own parser refuses the file, at the line and column given. Notebook commands "
        "(%matplotlib, !pip) are the usual reason, besides plain slips. A mixture of tabs and blanks that Python 3 "
        "still takes cannot be edited line by line; with blanks alone it can.",
        before="%matplotlib inline\nimport tensorflow as tf\n",
        after="import tensorflow as tf\n",
    ),
    Rule(
        code="TMG006",
        title="the folder holds no Python script",
        why="A folder stands for the `.py` files below it. Hidden folders, virtual environments, "
        "installed packages and the output folder are not looked into; after that, nothing is left "
        "here.",
    ),
    Rule(
        code="TMG007",
        title="the output cannot be written",
        why="The folder does not exist, it or the file is read-only, or the path names a folder where a "
        "file is wanted. A file is written whole or not at all, so what was there is untouched.",
    ),
    Rule(
        code="TMG008",
        title="the output is an input, or two inputs have one output",
        why="Writing over a script that is still to be converted would lose it, and of two results for "
        "one file only the last would stay. To convert a file where it is, say so: --in-place.",
    ),
    Rule(
        code="TMG009",
        title="the script was converted before",
        why="Its header says which script it was made from. Converting it again would put towers into "
        "towers. To convert with other options, convert the original.",
        before="# tf-multigpu 0.2.0: converted from train.py sha256:" + 64 * "0" + " with --num-gpus 2 "
        "--batch per-gpu\nimport tensorflow as tf\n",
    ),
    Rule(
        code="TMG010",
        title="the origin of a converted script is unknown",
        why="--check compares a converted script with the one that its header names. Where that one is "
        "gone there is nothing to compare with, and the script counts as up to date (said with "
        "--verbose). Where the header itself cannot be read, because it was edited or names options "
        "that this version does not know, the check cannot be made and the script is refused.",
        before="# tf-multigpu 0.2.0: converted from train.py sha256:0 with --num-gpus 2\n"
        "import tensorflow as tf\n",
        after="# tf-multigpu 0.2.0: converted from train.py sha256:" + 64 * "0" + " with --num-gpus 2\n"
        "import tensorflow as tf\n",
    ),
    Rule(
        code="TMG011",
        title="the converted script is not up to date",
        why="Its header holds the hash of the script it was made from and the options of the conversion. "
        "Either that script has changed since, or converting it now gives another text than the one "
        "in the file: it was edited by hand, or written by another version of the tool. Converting "
        "again mends both.",
    ),
    Rule(
        code="TMG012",
        title="the conversion did not pass verification",
        why="--verify trains with the script and with its conversion on virtual devices and compares the "
        "steps. Either they differ, or one of the scripts did not run to its training, or there is no "
        "TensorFlow to run them with; the report says which. The output is not written. A difference "
        "should not happen: a conversion that cannot be right ought to be refused, so please report it "
        "together with the script.",
    ),
    Rule(
        code="TMG090",
        title="internal error",
        why="The tool itself failed on this file. Nothing was written for it, and the other files were "
        "still worked on. --verbose shows the traceback; please report it together with the script "
        "and the command.",
    ),
)
