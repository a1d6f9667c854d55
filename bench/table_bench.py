#!/usr/bin/env python3
"""Speed of an existing outbox table (layout = "table") -> relay -> nowhere, as ratios of one run. Starts a PostgreSQL
server of its own in a temporary folder.

    table_bench.py PATH-OF-OUTRIDER PATH-OF-ROW-LOOP [--rows N] [--loop-seconds S]

For the table of every preset, settled by delete: the drain rate of a backlog beside the loop that everybody writes
first, which settles row by row (row_loop.cc), on the same server and the same rows. Then what order per key and
settling by a mark cost."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))

PAYLOAD = '{"order": 1, "text": "' + "x" * 160 + '"}'


class Bench:
    """One table, and a relay for it."""

    def __init__(self, binary, server, folder, schema):
        self.binary = os.path.abspath(binary)
        self.server = server
        self.schema = schema
        self.config = os.path.join(folder, schema.preset + ".toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                f'[store]\nurl = "{server.url}"\nlayout = "table"\n[store.table]\npreset = "{schema.preset}"\n'
                '[[destination]]\nname = "all"\nbroker = "null:"\n'
            )
        self.run_sql(schema.definition)

    def run_sql(self, sql):
        subprocess.run(self.server.psql("-qc", sql), check=True, stdout=subprocess.DEVNULL)

    def make_indexes(self):
        """Those that doctor proposes."""
        printed = subprocess.run(
            [self.binary, "migrate", "print", "--config", self.config], check=True, capture_output=True, text=True
        )
        for statement in printed.stdout.splitlines():
            if statement.startswith("create index"):
                self.run_sql(statement)

    def fill(self, rows, keys=1000):
        values = {
            "id": "('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid", "created": "now() + i * interval "
            "'1 ms'", "topic": "'orders.placed'", "key": f"'key-' || i % {keys}", "payload": f"'{PAYLOAD}'",
            "other": "'shop'",
        }
        columns = self.schema.columns
        self.run_sql(f"truncate {self.schema.table}")
        self.run_sql(f"insert into {self.schema.table} ({', '.join(columns.values())}) select "
                     f"{', '.join(values[what] for what in columns)} from generate_series(1, {rows}) i")
        self.run_sql("vacuum analyze")
        self.run_sql("checkpoint")

    def left(self):
        return int(self.server.query(f"select count(*) from {self.schema.table} where {self.schema.pending}"))

    def drain(self, rows, *settings):
        """Rows a second, start and end of the process included, and its peak memory in MiB."""
        flags = [word for setting in settings for word in ("--set", setting)]
        command = [self.binary, "relay", "--drain", "--log-level", "error", "--config", self.config, *flags]
        start = time.monotonic()
        pid = os.spawnv(os.P_NOWAIT, self.binary, command)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.monotonic() - start
        if os.waitstatus_to_exitcode(status) != 0 or self.left() != 0:
            raise SystemExit("the relay failed")
        return rows / seconds, usage.ru_maxrss / 1024

    def report(self, name, rows, loop, *settings):
        rate, memory = self.drain(rows, *settings)
        print(f"{self.schema.preset:<16} {name}: {rate:,.0f} rows/s, {rate / loop:.1f} times the loop, "
              f"peak {memory:.0f} MiB", flush=True)


def row_loop(program, server, schema, seconds):
    """Rows a second of the loop that settles row by row."""
    conninfo = f"host={server.folder} user=postgres dbname=postgres"
    names = schema.columns
    claim = (f"select {names['id']}, {names['payload']} from {schema.table} where {schema.pending} "
             f"order by {names.get('created', names['id'])} limit 1000 for update skip locked")
    settle = f"delete from {schema.table} where {names['id']} = $1"
    done = subprocess.run([program, conninfo, str(seconds), claim, settle], check=True, capture_output=True, text=True)
    return int(done.stdout) / seconds


def measure(bench, arguments):
    rows = arguments.rows
    delete = "store.table.done=delete"
    bench.make_indexes()
    bench.fill(rows)
    loop = row_loop(arguments.row_loop, bench.server, bench.schema, arguments.loop_seconds)
    print(f"{bench.schema.preset:<16} batches of 1,000, one DELETE for each row, no broker: {loop:,.0f} rows/s",
          flush=True)
    bench.fill(rows)
    bench.report("delete, no order", rows, loop, delete, "destination.all.order=none")
    bench.fill(rows)
    bench.report("delete, no order, 2 workers", rows, loop, delete, "destination.all.order=none",
                 "destination.all.workers=2")
    if bench.schema.preset == "outbox-messages":
        bench.fill(rows)
        bench.report("mark, no order", rows, loop, "destination.all.order=none")
    if bench.schema.preset == "debezium":
        bench.fill(rows)
        bench.report("delete, order per key, 1,000 keys", rows, loop)
        bench.fill(rows, rows)
        bench.report("delete, order per key, every row its own", rows, loop)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("row_loop")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--loop-seconds", type=int, default=5)
    arguments = parser.parse_args()
    os.environ["OUTRIDER_BIN"] = os.path.abspath(arguments.binary)
    from postgres import Server  # pylint: disable=import-outside-toplevel
    from tables import SCHEMAS  # pylint: disable=import-outside-toplevel

    server = Server()
    try:
        with tempfile.TemporaryDirectory(prefix="outrider-bench-") as folder:
            for schema in SCHEMAS:
                bench = Bench(arguments.binary, server, folder, schema)
                measure(bench, arguments)
                bench.run_sql(f"drop table {schema.table}")
    finally:
        server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
