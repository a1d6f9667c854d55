"""Runs the order service and a relay on a PostgreSQL server of its own.

    run.py OUTRIDER EXAMPLE    the two binaries"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_postgres import server  # pylint: disable=wrong-import-position

outrider, service = sys.argv[1:3]
here = pathlib.Path(__file__).resolve().parent
with server(outrider) as environment:
    def run(*command):
        subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)

    subprocess.run([outrider, "migrate", "up", "--store", "postgres://"], env=environment, check=True,
                   stdout=subprocess.DEVNULL)
    run("psql", "-qX", "-f", here / "schema.sql")
    run(service)
    run(outrider, "relay", "--drain", "--config", here / "outrider.toml")
    with open("orders.jsonl", encoding="utf-8") as delivered:
        for line in delivered:
            message = json.loads(line)
            print(message["type"], message["key"], message["payload"])
