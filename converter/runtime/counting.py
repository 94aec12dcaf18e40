"""Counting the GPUs without initialising CUDA."""

import os
import subprocess

NUM_GPUS = 2


def count_gpus():
    """Return how many GPUs this process may use, at least 1; do not initialise CUDA or take GPU memory."""
    visible = os.environ.get('CUDA_VISIBLE_DEVICES')
    try:
        lines = subprocess.check_output(['nvidia-smi', '-L']).decode('utf-8', 'replace').splitlines()
        present = sum(line.startswith('GPU ') for line in lines)
    except (OSError, subprocess.CalledProcessError):
        driver = '/proc/driver/nvidia/gpus'
        present = len(os.listdir(driver)) if os.path.isdir(driver) else None
    if visible is None:
        return max(present or 1, 1)
    count = 0
    for entry in visible.replace(' ', '').split(','):
        known = not entry.isdigit() or present is None or int(entry) < present
        if not entry or entry.startswith('-') or not known:
            break
        count += 1
    return max(count, 1)


def check_gpus():
    """Raise RuntimeError if the script sees fewer GPUs than it builds towers, because towers would share a GPU.

    FEWER_GPUS=allow in the environment permits that. On a machine without GPUs the towers run on the CPU.
    """
    folder = '/proc/driver/nvidia/gpus'
    present = len(os.listdir(folder)) if os.path.isdir(folder) else 0
    visible = os.environ.get('CUDA_VISIBLE_DEVICES')
    if visible is not None:
        present = min(present, len([entry for entry in visible.split(',') if entry.strip() not in ('', '-1')]))
    if 0 < present < NUM_GPUS and os.environ.get('FEWER_GPUS') != 'allow':
        message = '%d towers need %d GPUs, but this script sees %d; set FEWER_GPUS=allow to let towers share'
        raise RuntimeError(message % (NUM_GPUS, NUM_GPUS, present))
