"""Numbers of training steps that follow the number of GPUs."""

NUM_GPUS = 2


def fewer_steps(steps):
    """Return how many steps on all GPUs train on as many examples as `steps` steps on one; of a list, each.

    At least 1; None and 0 stay what they are.
    """
    if isinstance(steps, (list, tuple)):
        return [fewer_steps(number) for number in steps]
    return max(1, int(round(float(steps) / NUM_GPUS))) if steps else steps
