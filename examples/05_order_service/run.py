"""Runs the order service and a relay on a PostgreSQL server of its own; with a third word, also on a Kafka of its own.

    run.py OUTRIDER EXAMPLE [KAFKA]    the two binaries, and the folder that tools/kafka.sh has filled"""

import contextlib
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_kafka import kafka  # pylint: disable=wrong-import-position
from with_postgres import server  # pylint: disable=wrong-import-position

outrider, service = sys.argv[1:3]
here = pathlib.Path(__file__).resolve().parent


def from_file():
    """What arrived, as type, key and payload."""
    with open("orders.jsonl", encoding="utf-8") as delivered:
        for line in delivered:
            message = json.loads(line)
            yield message["type"], message["key"], message["payload"]


def from_kafka(address):
    read = subprocess.run(
        ["kcat", "-C", "-e", "-q", "-J", "-b", address, "-t", "orders"],
        capture_output=True, text=True, check=True, timeout=120,
    )
    for line in read.stdout.splitlines():
        record = json.loads(line)
        headers = dict(zip(record["headers"][::2], record["headers"][1::2]))
        yield headers["outrider-type"], record["key"], record["payload"]


with server(outrider) as environment, contextlib.ExitStack() as servers:
    def run(*command):
        subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)

    subprocess.run([outrider, "migrate", "up", "--store", "postgres://"], env=environment, check=True,
                   stdout=subprocess.DEVNULL)
    run("psql", "-qX", "-f", here / "schema.sql")
    run(service)
    sys.stdout.flush()
    relay = [outrider, "relay", "--drain", "--config", here / "outrider.toml"]
    if len(sys.argv) == 3:
        run(*relay)
        arrived = from_file()
    else:
        broker = servers.enter_context(kafka(sys.argv[3], "orders"))
        run(*relay, "--set", f"destination.orders.broker=kafka://{broker}")
        arrived = from_kafka(broker)
    for message in arrived:
        print(*message)
