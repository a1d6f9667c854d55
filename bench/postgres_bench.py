#!/usr/bin/env python3
"""Speed of PostgreSQL -> relay -> nowhere, as ratios of one run, on a server of its own.

    postgres_bench.py FOLDER-OF-THE-BUILD [--messages N] [--history N] [--seconds S]

Prints: the drain rate of a backlog (plain, under a held snapshot, of one late transaction, right after a truncation,
behind a long history) with the relay's memory and the WAL that progress costs; what an enqueue costs a business
transaction; the time from commit to delivery at half of that rate; and how much an idle relay asks."""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("OUTRIDER_BIN", "")  # the harness asks for it; we give a path of our own
sys.path.insert(0, os.path.join(HERE, "..", "tests", "live"))
from postgres import Server  # pylint: disable=wrong-import-position

PAYLOAD_BYTES = 200
STEP = 100_000  # messages of one filling transaction
KEYS = 1000
PATIENCE = 60  # seconds, for what should take a few

INSERT = (f"insert into outrider.message (topic, key, payload) select 'orders.placed', i % {KEYS}, "
          f"repeat('x', {PAYLOAD_BYTES})::bytea from generate_series(1, {{}}) i")
DELIVERED = "select sum(n) from (select max(delivered) n from outrider.cursor group by destination, lane) x"

BUSINESS = "insert into orders (customer, amount) values ('ada', 42)"
BARE = ("insert into bare (topic, key, payload) "
        "values ('orders.placed', 'customer-' || :client_id, repeat('x', 200)::bytea)")
MESSAGE = ("insert into outrider.message (topic, key, payload) "
           "values ('orders.placed', 'customer-' || :client_id, repeat('x', 200)::bytea)")
NUMBER = r"(\d+(?:\.\d+)?)"


class Bench:
    def __init__(self, build, folder):
        self.binary = os.path.join(build, "outrider")
        self.latency_program = os.path.join(build, "bench", "postgres_latency")
        self.folder = folder
        self.server = Server()
        self.server.query("alter system set shared_buffers = '1GB'")
        self.server.query("alter system set max_wal_size = '16GB'")
        self.server.query("alter system set checkpoint_timeout = '1h'")
        self.server.process.terminate()
        self.server.process.wait()
        self.server.start()
        self.config = os.path.join(folder, "outrider.toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f'[store]\nurl = "{self.server.url}"\n[[destination]]\nname = "all"\nbroker = "null:"\n')
        self.migrate()
        self.ask("create table orders (id bigserial primary key, customer text, amount int)")
        self.ask("create table bare (id bigserial primary key, topic text, key text, payload bytea)")

    def recycle_wal(self):
        """As in a server that has been up for some time: files of the WAL are used again, not made and zeroed."""
        self.ask("alter system set min_wal_size = '2GB'")
        self.ask("select pg_reload_conf()")
        for _ in range(4):
            self.ask("insert into bare (payload) select repeat('x', 2000)::bytea from generate_series(1, 200000)")
            self.ask("truncate bare")
        self.ask("checkpoint")

    def migrate(self):
        self.ask("drop schema if exists outrider cascade")
        subprocess.run(self.command("migrate", "up"), check=True, stdout=subprocess.DEVNULL)

    def command(self, *arguments):
        return [self.binary, *arguments, "--config", self.config]

    def ask(self, sql):
        answer = self.server.query(sql)
        if answer is None:
            raise SystemExit(f"the server refused: {sql}")
        return answer

    def fill(self, count):
        for first in range(0, count, STEP):
            self.ask(INSERT.format(min(STEP, count - first)))

    def hold(self, *statements):
        """A psql whose transaction is open when this returns."""
        command = self.server.psql("-qAt", "-v", "ON_ERROR_STOP=1")
        psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        psql.stdin.write(";\n".join([*statements, "select 'open';\n"]))
        psql.stdin.flush()
        while (line := psql.stdout.readline().strip()) != "open":
            if not line:
                raise SystemExit(f"the server refused: {statements}")
        return psql

    @contextlib.contextmanager
    def relay(self, *options):
        """One that runs meanwhile."""
        process = subprocess.Popen(self.command("relay", "--log-level", "error", *options))
        try:
            yield
        finally:
            process.terminate()
            process.wait()

    def wal(self):
        return int(self.ask("select pg_current_wal_insert_lsn() - '0/0'").split(".")[0])

    def drain(self, *options):
        """Seconds, and the relay's peak memory in MiB."""
        start = time.monotonic()
        words = self.command("relay", "--drain", "--log-level", "error", *options)
        _, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, self.binary, words), 0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit("the relay failed")
        return time.monotonic() - start, usage.ru_maxrss / 1024

    def measured_drain(self, name, count, base=None, workers=2):
        """Fills, drains and prints; returns the rate. One relay, a worker for each core unless told otherwise."""
        self.fill(count)
        return self.measure(name, count, base, workers)

    def measure(self, name, count, base=None, workers=2):
        """The same for what was filled already."""
        before = self.wal()
        seconds, memory = self.drain("--set", f"destination.all.workers={workers}")
        per_message = (self.wal() - before) / count
        rate = count / seconds
        ratio = f", {rate / base:.2f} of that" if base else ""
        print(f"drain      {name}: {rate:,.0f}/s{ratio}, peak {memory:.0f} MiB, "
              f"{per_message:.1f} bytes of WAL per message", flush=True)
        return rate

    def close(self):
        self.server.close()


def bench_drain(bench, count, history):
    bench.measured_drain(f"{count} messages of {PAYLOAD_BYTES} bytes, one worker", count, workers=1)
    rate = bench.measured_drain("the same with two workers", count)
    holder = bench.hold("begin isolation level repeatable read", "select count(*) from orders")
    bench.measured_drain("while a snapshot is held open", count, rate)
    holder.communicate("rollback;\n")
    bench_late_transaction(bench, count, rate)
    bench_truncated(bench, count, rate)
    bench.migrate()
    bench.fill(history)
    bench.drain()
    bench.measured_drain(f"with {history} delivered and kept", count, rate)


def bench_late_transaction(bench, count, base):
    """Its id is in progress while others that come later commit and are delivered."""
    bench.migrate()
    with bench.relay():
        late = bench.hold("begin", INSERT.format(count))
        for _ in range(50):
            bench.fill(20)
        await_so("the small messages to be delivered", lambda: bench.ask(DELIVERED) == "1000")
    late.communicate("commit;\n")
    bench.measure("all of them in one late transaction", count, base)
    if bench.ask(DELIVERED) != str(count + 1000):
        raise SystemExit("not all of the late transaction was delivered")


def bench_truncated(bench, count, base):
    """The segment that is written to was truncated, and nobody has analyzed it since."""
    bench.migrate()
    set_autovacuum(bench, "off")
    new = files(bench)
    await_so("the active segment to be a truncated one", lambda: rotate(bench) and active_file(bench) not in new)
    bench.measured_drain("right after a truncation", count, base)
    if bench.ask(f"select reltuples > 0 from pg_class where relfilenode = {active_file(bench)}") != "f":
        raise SystemExit("the truncated segment was analyzed")
    set_autovacuum(bench, "on")


def rotate(bench):
    """The next segment is written to, and those that everybody has passed are emptied. A relay cleans when it starts,
    and takes its segment for old enough after a second. Always true."""
    before = active_file(bench)
    bench.fill(KEYS)
    bench.drain()
    bench.ask("update outrider.segment set opened_at = opened_at - interval '1 minute'")
    with bench.relay("--set", "relay.retention=0s"):
        await_so("the relay to open the next segment", lambda: active_file(bench) != before)
    return True


def files(bench):
    return set(bench.ask("select relfilenode from pg_class where relname ~ '^message_[0-9]$'").split())


def active_file(bench):
    return bench.ask("select pg_relation_filenode('outrider.message_' || last_value) from outrider.active")


def set_autovacuum(bench, value):
    bench.ask(f"alter system set autovacuum = {value}")
    bench.ask("select pg_reload_conf()")


def await_so(what, is_so):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {PATIENCE} s in vain for {what}")
        time.sleep(0.05)


def pgbench(bench, lines, seconds):
    script = os.path.join(bench.folder, "script.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    done = subprocess.run(
        [os.path.join(bench.server.programs, "pgbench"), "-h", bench.server.folder, "-U", "postgres", "-n",
         "-M", "prepared", "-c", "16", "-j", "2", "-T", str(seconds), "-f", script, "postgres"],
        capture_output=True, text=True, check=True,
    )
    return float(re.search(rf"tps = {NUMBER}", done.stdout).group(1))


def transaction(*statements):
    return ["begin;", *(statement + ";" for statement in statements), "commit;"]


def pipelined(*statements):
    return ["\\startpipeline", *transaction(*statements), "\\endpipeline"]


def bench_enqueue(bench, seconds):
    """Returns the rate of business transactions with an enqueue."""
    bench.recycle_wal()
    bench.migrate()
    variants = {
        "business alone": transaction(BUSINESS),
        "business alone, pipelined": pipelined(BUSINESS),
        "and one more bare row": transaction(BUSINESS, BARE),
        "and a message": transaction(BUSINESS, MESSAGE),
        "and a message, pipelined": pipelined(BUSINESS, MESSAGE),
    }
    rates = {name: [] for name in variants}
    with bench.relay("--set", "relay.retention=0s"):
        for _ in range(3):
            for name, lines in variants.items():
                rates[name].append(pgbench(bench, lines, seconds))

    def ratio(one, other):
        return statistics.median(a / b for a, b in zip(rates[one], rates[other]))

    for name, values in rates.items():
        print(f"enqueue    {name}: {statistics.median(values):,.0f} transactions/s")
    print(f"           with a message: {ratio('and a message', 'and one more bare row'):.2f} of one more bare row; "
          f"pipelined: {ratio('and a message, pipelined', 'business alone'):.2f} of the business alone, "
          f"{ratio('and a message, pipelined', 'business alone, pipelined'):.2f} of it pipelined, too", flush=True)
    return statistics.median(rates["and a message"])


def bench_latency(bench, rate, seconds):
    bench.migrate()
    done = subprocess.run(
        [bench.latency_program, bench.server.url, str(int(rate / 2)), str(seconds)],
        capture_output=True, text=True, check=True, timeout=60 + 10 * seconds,
    )
    print("latency    " + done.stdout.strip().replace("\n", "\n           "), flush=True)


def bench_idle(bench, seconds):
    bench.migrate()
    bench.ask("alter system set log_min_duration_statement = 0")
    bench.ask("select pg_reload_conf()")
    log = os.path.join(bench.server.folder, "server.log")

    def statements():
        with open(log, encoding="utf-8", errors="replace") as file:
            return sum(" duration: " in line and (" execute " in line or " statement: " in line) for line in file)

    with bench.relay():
        time.sleep(3)  # it settles in
        before = statements()
        time.sleep(seconds)
        asked = statements() - before
    print(f"idle       a relay without work: {asked / seconds:.1f} statements/s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--history", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--only", default="drain,enqueue,latency,idle")
    arguments = parser.parse_args()
    only = arguments.only.split(",")
    with tempfile.TemporaryDirectory(prefix="outrider-bench-") as folder:
        bench = Bench(os.path.abspath(arguments.build), folder)
        try:
            if "enqueue" in only or "latency" in only:
                rate = bench_enqueue(bench, arguments.seconds)
            if "latency" in only:
                bench_latency(bench, rate, arguments.seconds)
            if "idle" in only:
                bench_idle(bench, arguments.seconds)
            if "drain" in only:
                bench_drain(bench, arguments.messages, arguments.history)
        finally:
            bench.close()


if __name__ == "__main__":
    main()
