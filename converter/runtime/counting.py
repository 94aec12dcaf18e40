"""Counting the GPUs without touching them."""
import os
import subprocess

NUM_GPUS = 2


def count_gpus():
    """The number of visible GPUs, at least 1; neither initialises CUDA nor takes GPU memory."""
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
