"""Scripts that run as they are: a training up to a checkpoint, an evaluation, a project's others, a first step."""

from __future__ import absolute_import, division, print_function

import functools
import io
import os
import re
import sys

from tmgprobe.roles.role import Role

GPU = re.compile(r'(?i)gpu:(\d+)')


class Train(Role):
    """Lets a script train, until it has taken `job['steps']` steps and then saved a checkpoint, or to its end."""

    def __init__(self, tf, watch, channel, job):
        Role.__init__(self, tf, watch, channel, job)
        self.taken = 0
        self._end_with_a_checkpoint()

    def _end_with_a_checkpoint(self):
        from tensorflow.python.training import saver

        save = saver.Saver.save

        @functools.wraps(save)
        def saved(this, *args, **kwargs):
            result = save(this, *args, **kwargs)
            if self.taken >= self.job['steps'] and not self.channel.is_forked():
                self.channel.leave('trained', steps=self.taken, saved=True)
            return result

        saver.Saver.save = saved

    def step(self, call):
        """Takes one training step."""
        result = call.as_given()
        self.taken += 1
        return result

    def finish(self):
        """The script is at its end; it may have failed after it has trained."""
        if self.taken:
            self.channel.leave('trained', steps=self.taken, saved=False)


class Print(Role):
    """Lets a script run to its end; what it prints goes to `job['said']`, apart from errors and warnings."""

    def __init__(self, tf, watch, channel, job):
        Role.__init__(self, tf, watch, channel, job)
        # what goes to standard output in other ways, as warnings do here, stays in the log
        said = os.open(job['said'], os.O_WRONLY | os.O_CREAT, 0o600)
        sys.stdout = os.fdopen(said, 'w', 1) if str is bytes else io.TextIOWrapper(
            os.fdopen(said, 'wb'), encoding='utf-8', errors='replace', line_buffering=True
        )


class Evaluation(Print):
    """Lets a script run to its end that is not seen to train, and tells which numbers its runs fetch, too."""

    def finish(self):
        """The script is at its end; where it has failed, that is told instead."""
        if not self.message:
            runs = [note['numbers'] for note in self.watch.diary.notes.get('run', ())]
            self.channel.leave('ran', steps=self.watch.diary.steps, runs=runs)


class GraphWriter(Role):
    """Runs a script up to its first training step, and writes its graph to `job['record']` (reference/resized.py)."""

    def step(self, call):
        """At the first training step: ends the process."""
        with open(self.job['record'], 'wb') as stream:
            stream.write(call.session.graph.as_graph_def().SerializeToString())
        self.channel.leave('built')


class Bare(Role):
    """Waits for the first training step, reports which GPUs the script makes visible, and ends the process.

    Nothing of the changes that the comparison makes to TensorFlow is there: devices, sessions' configurations and
    random operations are the script's own. The machine shows no GPU, so that an operation which asks for one has to be
    placed elsewhere, or fails.
    """

    def step(self, call):
        """Takes the training step as the script asks for it."""
        call.as_given()
        config = self.watch.configs.get(id(call.session)) or self.tf.ConfigProto()
        named = [int(found.group(1)) for op in call.step.operations for found in [GPU.search(op.device or '')] if found]
        self.channel.leave(
            'ran',
            gpus=max(named) + 1 if named else 0,
            soft=config.allow_soft_placement,
            environment=os.environ.get('CUDA_VISIBLE_DEVICES'),
            listed=config.gpu_options.visible_device_list,
            counted=dict(config.device_count).get('GPU'),
        )
