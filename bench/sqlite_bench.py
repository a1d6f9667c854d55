#!/usr/bin/env python3
"""Speed of SQLite -> relay -> file, as ratios of one run. Everything it needs it makes in a temporary folder.

    sqlite_bench.py PATH-OF-OUTRIDER [--messages N] [--history N] [--samples N]

Prints: the drain rate of a backlog with the relay's peak memory, beside what plain SQLite and a plain file do with the
same rows; the time from commit to line on disk with an empty and with a long drained database; and what an enqueue
costs a writer."""

import argparse
import json
import os
import select
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

PAYLOAD = "x" * 200


class Bench:
    def __init__(self, binary, folder):
        self.binary = os.path.abspath(binary)
        self.folder = folder
        self.database = os.path.join(folder, "shop.db")
        self.output = os.path.join(folder, "out.jsonl")
        self.config = os.path.join(folder, "outrider.toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                f'[store]\nurl = "sqlite://{self.database}"\n[[destination]]\nname = "all"\n'
                f'broker = "file://{self.output}"\n'
            )
        subprocess.run(self.command("migrate", "up"), check=True, stdout=subprocess.DEVNULL)

    def command(self, *arguments):
        return [self.binary, *arguments, "--config", self.config]

    def connect(self, synchronous="full"):
        connection = sqlite3.connect(self.database, timeout=60, isolation_level=None)
        connection.execute(f"pragma synchronous = {synchronous}")
        return connection

    def fill(self, count):
        connection = self.connect("off")
        step = 100_000
        for first in range(0, count, step):
            connection.execute("begin")
            connection.execute(
                "with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?) "
                "insert into outrider_message(topic, key, payload) select 'orders.placed', i % 1000, ? from n",
                (min(step, count - first), PAYLOAD),
            )
            connection.execute("commit")
        connection.execute("pragma wal_checkpoint(truncate)")
        connection.close()

    def drain(self):
        """Seconds, and the relay's peak memory in MiB."""
        start = time.monotonic()
        pid = os.spawnv(os.P_NOWAIT, self.binary, self.command("relay", "--drain", "--log-level", "error"))
        _, status, usage = os.wait4(pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit("the relay failed")
        return time.monotonic() - start, usage.ru_maxrss / 1024

    def lines(self):
        with open(self.output, "rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def bench_drain(folder, binary, count):
    bench = Bench(binary, folder)
    bench.fill(count)
    start = time.monotonic()
    connection = bench.connect()
    with open(os.path.join(folder, "raw.jsonl"), "w", encoding="utf-8") as raw:
        for row in connection.execute("select seq, id, topic, key, payload from outrider_message order by seq"):
            raw.write(json.dumps(row) + "\n")
        raw.flush()
        os.fsync(raw.fileno())
    plain = time.monotonic() - start
    os.remove(os.path.join(folder, "raw.jsonl"))
    seconds, memory = bench.drain()
    if bench.lines() != count:
        raise SystemExit(f"{bench.lines()} lines instead of {count}")
    print(f"drain      {count} messages of {len(PAYLOAD)} bytes: {count / seconds:,.0f}/s, peak {memory:.0f} MiB")
    print(f"           a plain loop in Python over the same rows to a file: {count / plain:,.0f}/s, "
          f"so the relay is {plain / seconds:.1f} times as fast")


class Tail:
    """Waits for new bytes at the end of a file, by inotify through tail."""

    def __init__(self, path):
        open(path, "a", encoding="utf-8").close()
        self.process = subprocess.Popen(["tail", "-n", "0", "-f", path], stdout=subprocess.PIPE)
        time.sleep(0.2)

    def next(self, patience=30):
        if not select.select([self.process.stdout], [], [], patience)[0]:
            raise SystemExit("nothing arrived")
        os.read(self.process.stdout.fileno(), 1 << 20)

    def close(self):
        self.process.kill()
        self.process.wait()


def commit_to_line(bench, samples):
    relay = subprocess.Popen(bench.command("relay", "--log-level", "error"))
    tail = Tail(bench.output)
    connection = bench.connect()
    times = []
    for i in range(samples + 20):
        time.sleep(0.01)
        connection.execute("insert into outrider_message(topic, key, payload) values ('orders.placed', 'k', ?)",
                           (PAYLOAD,))
        start = time.monotonic()
        tail.next()
        if i >= 20:
            times.append((time.monotonic() - start) * 1000)
    tail.close()
    relay.terminate()
    relay.wait()
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.99)]


def bench_latency(folder, binary, history, samples):
    empty = Bench(binary, os.path.join(folder, "empty"))
    long = Bench(binary, os.path.join(folder, "long"))
    long.fill(history)
    seconds, memory = long.drain()
    os.truncate(long.output, 0)
    print(f"history    {history} messages drained in {seconds:.0f} s, peak {memory:.0f} MiB")
    os.sync()  # or the disk is still busy with the history
    rounds = [(commit_to_line(empty, samples), commit_to_line(long, samples)) for _ in range(3)]
    fresh = min(one[0] for one in rounds)
    old = min(one[1] for one in rounds)
    print(f"latency    commit to line on disk, empty database: p50 {fresh[0]:.2f} ms, p99 {fresh[1]:.2f} ms")
    print(f"           with {history} delivered and kept:      p50 {old[0]:.2f} ms, p99 {old[1]:.2f} ms, "
          f"ratio of p50 {old[0] / fresh[0]:.2f}")


def writes_per_second(connection, statements, seconds=3.0):
    count = 0
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        connection.execute("begin immediate")
        for statement, values in statements:
            connection.execute(statement, values)
        connection.execute("commit")
        count += 1
    return count / (time.monotonic() - start)


def bench_enqueue(folder, binary):
    bench = Bench(binary, folder)
    connection = bench.connect()
    connection.execute("create table orders (id integer primary key, customer text)")
    connection.execute("create table bare (id integer primary key, key text, payload text)")
    order = ("insert into orders (customer) values (?)", ("ada",))
    row = ("insert into bare (key, payload) values (?, ?)", ("ada", PAYLOAD))
    message = ("insert into outrider_message (topic, key, payload) values ('orders.placed', ?, ?)", ("ada", PAYLOAD))
    results = {"order alone": [], "order and a bare row": [], "order and a message": []}
    for _ in range(3):
        results["order alone"].append(writes_per_second(connection, [order]))
        results["order and a bare row"].append(writes_per_second(connection, [order, row]))
        results["order and a message"].append(writes_per_second(connection, [order, message]))
    best = {name: max(values) for name, values in results.items()}
    for name, value in best.items():
        print(f"enqueue    {name}: {value:,.0f} transactions/s, {value / best['order and a bare row']:.2f} "
              "of one more bare row")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--history", type=int, default=10_000_000)
    parser.add_argument("--samples", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="outrider-bench-") as folder:
        for name in ("drain", "latency", "latency/empty", "latency/long", "enqueue"):
            os.mkdir(os.path.join(folder, name))
        bench_enqueue(os.path.join(folder, "enqueue"), arguments.binary)
        bench_drain(os.path.join(folder, "drain"), arguments.binary, arguments.messages)
        bench_latency(os.path.join(folder, "latency"), arguments.binary, arguments.history, arguments.samples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
