"""Ports for servers that tests start."""

import contextlib
import random
import socket

_held = []  # by this process, as long as it lives


def _is_ours(port):
    """Nobody else of our tests takes it before this process ends, not even while its server is down: an abstract socket
    with its name says so, here as in tests/brokers/support/process.cc."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0outrider port {port}")
    except OSError:
        claim.close()
        return False
    _held.append(claim)
    return True


def _is_free(port):
    with socket.socket() as one, contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", port))
        return True
    return False


def free_port():
    """A port of 127.0.0.1 that nobody listens on now, below those that the system gives to clients, so that a server
    which was killed can have it again."""
    while True:
        port = random.SystemRandom().randint(20000, 32000)
        if _is_ours(port) and _is_free(port):
            return port
