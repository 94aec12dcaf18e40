"""The helpers that converted scripts carry, as real modules.

A conversion copies the functions it needs out of these files into the script. They are written for
Python 2.7 and 3.4 up, and for TensorFlow 1.4 to 1.15 and `tensorflow.compat.v1`. `tf` and
`NUM_GPUS` stand for the script's own names and are replaced by them.
"""
