"""What all roles have: TensorFlow, the watch, the channel to the starter, and the job."""

from __future__ import absolute_import, division, print_function


class Role(object):
    """Handles the training run calls of a script; `finish` is called when the script is over."""

    def __init__(self, tf, watch, channel, job):
        self.tf, self.watch, self.channel, self.job = tf, watch, channel, job
        self.message = None  # the error with which the script has ended, where it has

    def step(self, call):
        """Takes a training step as the script asks for it."""
        return call.as_given()

    def finish(self):
        """Without a training step there is nothing to tell."""
