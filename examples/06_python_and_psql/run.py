"""Runs main.py and a relay on a PostgreSQL server of its own.

    run.py OUTRIDER    the binary"""

import importlib.util
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_postgres import server  # pylint: disable=wrong-import-position


def python_with_psycopg2():
    """This interpreter, or the system's, for which Debian packages the module."""
    if importlib.util.find_spec("psycopg2"):
        return sys.executable
    return "/usr/bin/python3"


outrider = sys.argv[1]
here = pathlib.Path(__file__).resolve().parent
store = ["--store", "postgres://"]
with server(outrider) as environment:
    subprocess.run([outrider, "migrate", "up", *store], env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        ["psql", "-qXc", "create table orders (id integer primary key, customer text)"], env=environment, check=True
    )
    subprocess.run([python_with_psycopg2(), here / "main.py"], env=environment, check=True)
    subprocess.run(
        [outrider, "relay", "--drain", *store, "--set", "destination.orders.broker=file:orders.jsonl"],
        env=environment, check=True, stderr=subprocess.DEVNULL,
    )
    with open("orders.jsonl", encoding="utf-8") as delivered:
        for line in delivered:
            message = json.loads(line)
            print(message["topic"], message["key"], message["type"], message["payload"])
