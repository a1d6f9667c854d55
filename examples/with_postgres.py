"""A PostgreSQL server of its own for an example that is run as a test: in a temporary folder, gone at the end."""

import contextlib
import os
import pathlib
import sys


@contextlib.contextmanager
def server(outrider):
    """The environment of a program that shall find the server. `outrider`: the binary."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "live"))
    os.environ["OUTRIDER_BIN"] = outrider
    from postgres import Server  # pylint: disable=import-outside-toplevel

    running = Server()
    try:
        yield dict(os.environ, PGHOST=running.folder, PGUSER="postgres", PGDATABASE="postgres")
    finally:
        running.close()
