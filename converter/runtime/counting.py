"""Counting the GPUs without touching them."""
import os
import subprocess
import sys

NUM_GPUS = 2


def count_gpus():
    """The number of visible GPUs, at least 1."""
    return max(visible_gpus(present_gpus()), 1)


def present_gpus():
    """The GPUs of the machine, None where that cannot be told; neither initialises CUDA nor takes GPU memory."""
    try:
        lines = subprocess.check_output(['nvidia-smi', '-L']).decode('utf-8', 'replace').splitlines()
        return sum(line.startswith('GPU ') for line in lines)
    except (OSError, subprocess.CalledProcessError):
        driver = '/proc/driver/nvidia/gpus'
        return len(os.listdir(driver)) if os.path.isdir(driver) else None


def visible_gpus(present):
    """How many of these CUDA_VISIBLE_DEVICES leaves; all that it names where they cannot be told."""
    visible = os.environ.get('CUDA_VISIBLE_DEVICES')
    if visible is None:
        return present or 0
    count = 0
    for entry in visible.replace(' ', '').split(','):
        known = not entry.isdigit() or present is None or int(entry) < present
        if not entry or entry.startswith('-') or not known:
            break
        count += 1
    return count


def check_gpus():
    """Ends a script that has fewer GPUs than towers, unless FEWER_GPUS=allow is set; without any, the CPU computes."""
    if os.environ.get('FEWER_GPUS') == 'allow':
        return
    present = present_gpus()
    count = visible_gpus(present) if present else 0
    if 0 < count < NUM_GPUS:
        raise RuntimeError(
            '%d towers need as many GPUs, and %d can be seen: build fewer towers, look at CUDA_VISIBLE_DEVICES, '
            'or set FEWER_GPUS=allow to let towers share a GPU' % (NUM_GPUS, count))
    if count == 0:
        sys.stderr.write('No GPU is visible: the CPU computes all %d towers.\n' % NUM_GPUS)
