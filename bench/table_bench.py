#!/usr/bin/env python3
"""Speed of an existing outbox table (layout = "table") -> relay -> nowhere, as ratios of one run. Starts a PostgreSQL
server of its own in a temporary folder.

    table_bench.py PATH-OF-OUTRIDER PATH-OF-ROW-LOOP [--rows N] [--loop-seconds S]

Prints the drain rate of a backlog of outboxevent (Debezium's table, settled by delete) and outbox_messages (settled by
a mark), without an order and with one per key, beside the loop that everybody writes first, which settles row by row
(row_loop.cc), on the same server and the same rows."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "live"))

PAYLOAD = '{"order": 1, "text": "' + "x" * 160 + '"}'

DELETE = {
    "preset": "debezium",
    "make": "create table outboxevent (id uuid primary key, aggregatetype varchar(255) not null, aggregateid "
            "varchar(255) not null, type varchar(255) not null, payload jsonb)",
    "fill": "insert into outboxevent select ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'order', "
            "'key-' || i % {keys}, 'order.placed', '{payload}' from generate_series(1, {rows}) i",
    "left": "select count(*) from outboxevent",
}
MARK = {
    "preset": "outbox-messages",
    "make": "create table outbox_messages (id uuid primary key, occurred_on timestamptz not null, type text not null, "
            "payload jsonb not null, processed_on timestamptz, retry_count int not null default 0)",
    "fill": "insert into outbox_messages (id, occurred_on, type, payload) select gen_random_uuid(), now() + i * "
            "interval '1 ms', 'order.placed', '{payload}' from generate_series(1, {rows}) i",
    "left": "select count(*) from outbox_messages where processed_on is null",
}


class Bench:
    def __init__(self, binary, server, folder, schema):
        self.binary = os.path.abspath(binary)
        self.server = server
        self.schema = schema
        self.config = os.path.join(folder, schema["preset"] + ".toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                f'[store]\nurl = "{server.url}"\nlayout = "table"\n[store.table]\npreset = "{schema["preset"]}"\n'
                '[[destination]]\nname = "all"\nbroker = "null:"\n'
            )
        self.run_sql(schema["make"])
        for statement in self.outrider("migrate", "print").stdout.splitlines():
            if statement.startswith("create index") and schema is not DELETE:
                self.run_sql(statement)

    def run_sql(self, sql):
        subprocess.run(self.server.psql("-qc", sql), check=True, stdout=subprocess.DEVNULL)

    def outrider(self, *arguments):
        return subprocess.run(
            [self.binary, *arguments, "--config", self.config], check=True, capture_output=True, text=True
        )

    def fill(self, rows, keys):
        self.run_sql(self.schema["fill"].format(rows=rows, keys=keys, payload=PAYLOAD))
        self.run_sql("vacuum analyze")
        self.run_sql("checkpoint")

    def left(self):
        return int(self.server.query(self.schema["left"]))

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


def row_loop(program, server, seconds):
    """Rows a second of the loop that settles row by row."""
    conninfo = f"host={server.folder} user=postgres dbname=postgres"
    done = subprocess.run([program, conninfo, "outboxevent", str(seconds)], check=True, capture_output=True, text=True)
    return int(done.stdout) / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("row_loop")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--loop-seconds", type=int, default=5)
    arguments = parser.parse_args()
    os.environ["OUTRIDER_BIN"] = os.path.abspath(arguments.binary)
    from postgres import Server  # pylint: disable=import-outside-toplevel

    server = Server()
    try:
        with tempfile.TemporaryDirectory(prefix="outrider-bench-") as folder:
            erase = Bench(arguments.binary, server, folder, DELETE)
            erase.fill(arguments.rows, 1000)
            loop = row_loop(arguments.row_loop, server, arguments.loop_seconds)
            print(f"per row    batches of 1,000, one DELETE for each row, no broker: {loop:,.0f} rows/s", flush=True)
            erase.run_sql("truncate outboxevent")
            for name, keys, settings in (
                ("no order", 1000, ["destination.all.order=none"]),
                ("no order, 2 workers", 1000, ["destination.all.order=none", "destination.all.workers=2"]),
                ("order per key, 1,000 keys", 1000, []),
                ("order per key, every row its own", arguments.rows, []),
            ):
                erase.fill(arguments.rows, keys)
                rate, memory = erase.drain(arguments.rows, *settings)
                print(f"delete     {name}: {rate:,.0f} rows/s, {rate / loop:.1f} times the loop, "
                      f"peak {memory:.0f} MiB", flush=True)
            mark = Bench(arguments.binary, server, folder, MARK)
            mark.fill(arguments.rows, 1)
            rate, memory = mark.drain(arguments.rows, "destination.all.order=none")
            print(f"mark       no order: {rate:,.0f} rows/s, {rate / loop:.1f} times the loop, peak {memory:.0f} MiB")
    finally:
        server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
