"""What stands in the way of writing, or of what was asked for, beside the scripts themselves."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG020",
        title="the output is somebody's own file",
        why="A file is there already, and it is not what a conversion left there: it has no header of the tool, or "
        "its text is not the one that the header's digest stands for, so that somebody has edited it. Writing over "
        "it would lose their work. An output folder has the digests of all files that conversions wrote into it, in "
        "`.tf-multigpu.sha256`. --force writes over such files.",
    ),
    Rule(
        code="TMG021",
        title="the script was converted in place with other options",
        why="A script that was converted in place no longer has its original's text, so it cannot be converted anew "
        "with other options. Either the options of its header are given again, or the original is restored from "
        "version control and converted; the message names the commit that has it, where git has one.",
    ),
    Rule(
        code="TMG022",
        title="no input has the name that an option gives",
        why="--shared and --batch-axis name inputs of the training step as the script names them: `x`, `self.images`. "
        "A name that no input has would change nothing, and the conversion would not be what was asked for. Where "
        "several scripts are converted together, one of them has to have the name.",
    ),
    Rule(
        code="TMG023",
        title="an earlier conversion in place was stopped midway",
        why="Where several files of a project change in place, a journal lies beside the script until all of them are "
        "written. It was found: a run was killed, and some files are converted while others are not. The next "
        "conversion in place finishes it, unless one of the files was edited since.",
    ),
    Rule(
        code="TMG024",
        title="a file changed while it was converted",
        why="Between reading a file and writing it in place somebody else wrote it, such as an editor. It is not "
        "written over.",
    ),
    Rule(
        code="TMG025",
        title="the file has other names",
        why="A file is replaced as a whole. Where it has several names (hard links), the others go on standing for the "
        "old text.",
    ),
    Rule(
        code="TMG027",
        title="a comment for the tool has no effect",
        why="Comments that begin with `# tf-multigpu:` tell the tool what the code does not: `shared` and "
        "`batch-axis=K` behind an input, `ignore[CODE]` on the line of a warning, `skip-file` anywhere. One that "
        "stands beside no input, suppresses no warning, or is none of these is reported, as it does not do what "
        "somebody believes it does. An option of the command line goes before a comment that says otherwise, which is "
        "reported; a comment goes before the project's configuration. Comments that contradict each other refuse the "
        "conversion.",
    ),
    Rule(
        code="TMG029",
        title="a notebook is no script",
        why="A notebook is converted to a notebook, and a script to a script: the output's ending must be that of the "
        "source. --trace runs scripts only.",
    ),
    Rule(
        code="TMG030",
        title="a file is not copied into the output folder",
        why="An output folder is a whole working tree, but for what .gitignore or --exclude names, hidden folders, "
        "files over --copy-limit, and what is no regular file. --data link links folders without code and large "
        "files instead of copying them.",
    ),
    Rule(
        code="TMG031",
        title="warnings are not accepted",
        why="With --strict a conversion that has warnings is refused, and nothing is written.",
    ),
    Rule(
        code="TMG032",
        title="the script says that it is not to be converted",
        why="A comment `# tf-multigpu: skip-file` stands in it. In folders it passes, and an output folder "
        "gets a copy.",
    ),
    Rule(
        code="TMG033",
        title="the configuration cannot be followed",
        why="The table [tool.tf-multigpu] of a pyproject.toml, or of the file that --config names, has a key that is "
        "none, a value of another type, or is no TOML. A key that is passed over would be an option that somebody "
        "believes in force, so nothing is done at all. `tf-multigpu config` shows what is in force, and from where.",
    ),
    Rule(
        code="TMG034",
        title="the paths have several configurations",
        why="A run follows one configuration: that of the nearest pyproject.toml with the table [tool.tf-multigpu], "
        "above the paths that are named and not above their repository. These paths have different ones. Give them to "
        "separate runs, or name one configuration for all by --config.",
    ),
    Rule(
        code="TMG035",
        title="the configuration names an input that this script does not have",
        why="`shared` and `batch-axis` in the table [tool.tf-multigpu] hold for all scripts of the project. One that "
        "has no input of such a name is converted without it; a name that was misspelt looks the same. An override, "
        "[[tool.tf-multigpu.overrides]] with `files`, says it for the scripts that have the input.",
    ),
    Rule(
        code="TMG036",
        title="a configuration further down is not followed",
        why="A run follows one configuration, that of the nearest pyproject.toml above the paths that are named. "
        "Another one stands in a folder below, whose scripts are worked on without it. Give that folder to a run of "
        "its own, or say that one configuration is meant for all, or none, by --config or --no-config.",
    ),
    Rule(
        code="TMG037",
        title="an input has no axis of the number that batch-axis names",
        why="`--batch-axis NAME=K`, the comment `# tf-multigpu: batch-axis=K` and `batch-axis` in a configuration say "
        "along which axis an input holds the examples: 0 for the first. The shape of this input has fewer axes, so no "
        "tower could cut it there. Inputs whose shape is not known are not looked at.",
    ),
    Rule(
        code="TMG038",
        title="the script that trains with this file is refused",
        why="A file of a folder builds a model, and another script of the folder, which imports it and trains, is "
        "refused. Converted for itself the file would be right only where that script uses nothing of the model that "
        "changes; it stays as it is, and the refused script goes on working. A file with a main program of its own "
        "(`if __name__ == '__main__'`) and a file that is named are converted all the same.",
    ),
)
