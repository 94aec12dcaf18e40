"""Runs the converted script by itself, without the changes that the comparison makes to TensorFlow.

Its devices, its sessions' configurations, its random operations are its own; only the end of its first training step
is seen. The machine shows no GPU, so that an operation which asks for one has to be placed elsewhere, or fails.
"""

from __future__ import absolute_import, division, print_function

import os
import re

from tmgprobe.roles.role import Role

GPU = re.compile(r'(?i)gpu:(\d+)')


class Bare(Role):
    """Waits for the first training step, reports which GPUs the script makes visible, and ends the process."""

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
