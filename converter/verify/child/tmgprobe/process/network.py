"""Takes the network away from a script: by a network namespace if the system allows one, else by blocking `socket`.

A process without the right to a network namespace gets one together with a user namespace (user_namespaces(7)), which a
process may enter only before it has threads.
"""

from __future__ import absolute_import, division, print_function

import errno
import os
import socket
import struct

from tmgprobe.process import system

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000  # of unshare(2)
SET_FLAGS, UP = 0x8914, 0x1  # of netdevice(7)
UNREACHABLE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED, errno.ENETDOWN)
HINT = 'the network is off, --network lets the scripts use it'
LOCAL = ('localhost', 'localhost.localdomain', '')


def off():
    """Takes the network away from this process and all that it will start; says how."""
    user, group = os.getuid(), os.getgid()
    if system.called('unshare', NEW_NETWORK):
        _loopback()
        return 'namespace'
    if system.called('unshare', NEW_NETWORK | NEW_USER):
        _write('/proc/self/setgroups', 'deny')
        _write('/proc/self/uid_map', '%d %d 1' % (user, user))
        _write('/proc/self/gid_map', '%d %d 1' % (group, group))
        _loopback()
        return 'namespace'
    _block()
    return 'blocked'


def _write(path, text):
    try:
        with open(path, 'w') as stream:
            stream.write(text)
    except (IOError, OSError):
        pass  # the process goes on as the user `nobody`


def _loopback():
    """Brings the loopback device up: servers and clients on this machine can go on talking to each other."""
    try:
        import fcntl

        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            fcntl.ioctl(end.fileno(), SET_FLAGS, struct.pack('16sH14x', b'lo', UP))
        finally:
            end.close()
    except (ImportError, IOError, OSError):
        pass


def _block():
    """Lets sockets reach this machine only, and look up names of it only. Programs that are started are not held."""
    for name in ('connect', 'connect_ex', 'sendto'):
        setattr(socket.socket, name, _to_local(getattr(socket.socket, name), name))
    for name in ('getaddrinfo', 'gethostbyname', 'gethostbyname_ex', 'create_connection'):
        setattr(socket, name, _of_local(getattr(socket, name)))


def _to_local(original, name):
    def blocked(self, *args):
        address = args[-1]
        if isinstance(address, tuple) and not is_local(address[0]):
            if name == 'connect_ex':
                return errno.ENETUNREACH
            raise socket.error(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
        return original(self, *args)

    return blocked


def _of_local(original):
    def blocked(host, *args, **kwargs):
        if not is_local(host[0] if isinstance(host, tuple) else host):
            raise socket.gaierror(socket.EAI_AGAIN, 'Temporary failure in name resolution')
        return original(host, *args, **kwargs)

    return blocked


def is_local(host):
    """Whether a name or address is this machine's own."""
    text = host.decode('ascii', 'replace') if isinstance(host, bytes) else '%s' % (host or '',)
    return text.lower() in LOCAL or text.startswith('127.') or text in ('::1', '0.0.0.0', '::')


def missed(error):
    """Whether an error says that a host cannot be reached, itself or by one that it was raised for."""
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        if isinstance(error, (socket.gaierror, socket.herror)) or getattr(error, 'errno', None) in UNREACHABLE:
            return True
        reason = getattr(error, 'reason', None)
        chained = getattr(error, '__cause__', None) or getattr(error, '__context__', None)
        error = reason if isinstance(reason, Exception) else chained
    return False
