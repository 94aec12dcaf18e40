"""Ports of this machine for processes that talk to each other."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_ports(number: int) -> list[int]:
    """As many ports of the loopback interface as are asked for, all free now and different."""
    with ExitStack() as held:
        ports: list[int] = []
        for _ in range(number):
            one = held.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
    return ports
