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


def check_gpus():
    """Ends a script that sees fewer GPUs than it has towers, which would share them; FEWER_GPUS=allow lets them."""
    present = len(os.listdir('/proc/driver/nvidia/gpus')) if os.path.isdir('/proc/driver/nvidia/gpus') else 0
    visible = os.environ.get('CUDA_VISIBLE_DEVICES', 'all,' * present).split(',')
    count = min(present, len([entry for entry in visible if entry.strip() not in ('', '-1')]))
    if 0 < count < NUM_GPUS and os.environ.get('FEWER_GPUS') != 'allow':
        raise RuntimeError('%d towers need as many GPUs, not %d; FEWER_GPUS=allow lets them share' % (NUM_GPUS, count))
