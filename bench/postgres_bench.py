#!/usr/bin/env python3
"""Speed of PostgreSQL -> relay -> nowhere, as ratios of one run, on a server of its own.

    postgres_bench.py FOLDER-OF-THE-BUILD [--messages N] [--history N] [--seconds S] [--rounds N]

Prints: the drain rate of a backlog (plain, under a held snapshot, of one late transaction, right after a truncation,
behind a long history) with the relay's memory and the WAL that progress costs; what an enqueue costs a business
transaction; the time from commit to delivery at half of that rate; and how much an idle relay asks (--seconds is for
these two).

Machines are noisy: what is compared is measured in turns, several rounds of it, and a ratio is the median of those of
the rounds."""

import argparse
import collections
import contextlib
import functools
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

# What a shared machine gives us changes within seconds, by more than what is measured here: many short rounds.
ENQUEUE_SECONDS = 3
ENQUEUE_ROUNDS = 2  # for each one of the others

INSERT = (f"insert into outrider.message (topic, key, payload) select 'orders.placed', i % {KEYS}, "
          f"repeat('x', {PAYLOAD_BYTES})::bytea from generate_series(1, {{}}) i")
DELIVERED = "select sum(delivered) from outrider.cursor"

BUSINESS = "insert into orders (customer, amount) values ('ada', 42)"
BARE = ("insert into bare (topic, key, payload) "
        "values ('orders.placed', 'customer-' || :client_id, repeat('x', 200)::bytea)")
MESSAGE = ("insert into outrider.message (topic, key, payload) "
           "values ('orders.placed', 'customer-' || :client_id, repeat('x', 200)::bytea)")
NUMBER = r"(\d+(?:\.\d+)?)"


# Of one drain: messages per second, the relay's peak memory in MiB, bytes of WAL per message.
Drained = collections.namedtuple("Drained", "rate memory wal")


def make_server():
    server = Server()
    for setting in ("shared_buffers = '1GB'", "max_wal_size = '16GB'", "checkpoint_timeout = '1h'"):
        server.query(f"alter system set {setting}")
    server.process.terminate()
    server.process.wait()
    server.start()
    return server


class Bench:
    """A log in a database, and what is done with it."""

    def __init__(self, build, folder, server, database):
        self.binary = os.path.join(build, "outrider")
        self.latency_program = os.path.join(build, "bench", "postgres_latency")
        self.folder = folder
        self.server = server
        self.database = database
        self.url = server.url_of(database)
        self.config = os.path.join(folder, database + ".toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f'[store]\nurl = "{self.url}"\n[[destination]]\nname = "all"\nbroker = "null:"\n')
        server.query(f"create database {database}")
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
        answer = self.server.query(sql, self.database)
        if answer is None:
            raise SystemExit(f"the server refused: {sql}")
        return answer

    def fill(self, count):
        for first in range(0, count, STEP):
            self.ask(INSERT.format(min(STEP, count - first)))

    def hold(self, *statements):
        """A psql whose transaction is open when this returns."""
        command = self.server.psql("-qAt", "-v", "ON_ERROR_STOP=1", database=self.database)
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

    def measured_drain(self, count, workers=2):
        """Of what was filled already. One relay, a worker for each core unless told otherwise."""
        before = self.wal()
        seconds, memory = self.drain("--set", f"destination.all.workers={workers}")
        return Drained(count / seconds, memory, (self.wal() - before) / count)


def bench_drain(bench, kept, options):
    """`kept`: a log of its own that has a long history."""
    count = options.messages
    kept.fill(options.history)
    kept.drain()
    base = "with two workers"
    cases = {
        "with one worker": lambda: drain_plain(bench, count, workers=1),
        base: lambda: drain_plain(bench, count),
        "while a snapshot is held open": lambda: drain_held(bench, count),
        "all of them in one late transaction": lambda: drain_late(bench, count),
        "right after a truncation": lambda: drain_truncated(bench, count),
        f"with {options.history} delivered and kept": lambda: drain_kept(kept, count),
    }
    drained = there_and_back(cases, options.rounds)
    rates = {name: both_ways([one.rate for one in all_of]) for name, all_of in drained.items()}
    print(f"drain      {count} messages of {PAYLOAD_BYTES} bytes, medians of {options.rounds} rounds there and back")
    for name, all_of in drained.items():
        ratio = statistics.median(one / other for one, other in zip(rates[name], rates[base]))
        rate, memory, wal = (statistics.median(values) for values in zip(*all_of))
        print(f"           {name}: {rate:,.0f}/s, {ratio:.2f} of that with two workers, peak {memory:.0f} MiB, "
              f"{wal:.1f} bytes of WAL per message", flush=True)


def there_and_back(cases, rounds):
    """What each case returns, twice in every round: a machine that gets slower meanwhile makes no difference."""
    results = {name: [] for name in cases}
    for _ in range(rounds):
        for name in [*cases, *reversed(cases)]:
            results[name].append(cases[name]())
    return results


def both_ways(values):
    """The mean of each round of there_and_back."""
    return [(there + back) / 2 for there, back in zip(values[::2], values[1::2])]


def drain_plain(bench, count, workers=2):
    bench.migrate()
    bench.fill(count)
    return bench.measured_drain(count, workers)


def drain_kept(kept, count):
    kept.fill(count)
    return kept.measured_drain(count)


def drain_held(bench, count):
    bench.migrate()
    holder = bench.hold("begin isolation level repeatable read", "select count(*) from orders")
    bench.fill(count)
    drained = bench.measured_drain(count)
    holder.communicate("rollback;\n")
    return drained


def drain_late(bench, count):
    """Its id is in progress while others that come later commit and are delivered."""
    bench.migrate()
    with bench.relay():
        late = bench.hold("begin", INSERT.format(count))
        for _ in range(50):
            bench.fill(20)
        await_so("the small messages to be delivered", lambda: bench.ask(DELIVERED) == "1000")
    late.communicate("commit;\n")
    drained = bench.measured_drain(count)
    if bench.ask(DELIVERED) != str(count + 1000):
        raise SystemExit("not all of the late transaction was delivered")
    return drained


def drain_truncated(bench, count):
    """The segment that is written to was truncated, and nobody has analyzed it since."""
    bench.migrate()
    set_autovacuum(bench, "off")
    new = files(bench)
    await_so("the active segment to be a truncated one", lambda: rotate(bench) and active_file(bench) not in new)
    bench.fill(count)
    drained = bench.measured_drain(count)
    if bench.ask(f"select reltuples > 0 from pg_class where relfilenode = {active_file(bench)}") != "f":
        raise SystemExit("the truncated segment was analyzed")
    set_autovacuum(bench, "on")
    return drained


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
    """Transactions per second. The first second is not counted: sessions begin, and a relay that slept is woken."""
    script = os.path.join(bench.folder, "script.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    done = subprocess.run(
        [os.path.join(bench.server.programs, "pgbench"), "-h", bench.server.folder, "-U", "postgres", "-n",
         "-M", "prepared", "-c", "16", "-j", "2", "-T", str(1 + seconds), "-P", "1", "-f", script, bench.database],
        capture_output=True, text=True, check=True,
    )
    by_second = [float(tps) for tps in re.findall(rf"progress: .*?, {NUMBER} tps", done.stderr)]
    return statistics.mean(by_second[1:1 + seconds])


def transaction(*statements):
    return ["begin;", *(statement + ";" for statement in statements), "commit;"]


def pipelined(*statements):
    return ["\\startpipeline", *transaction(*statements), "\\endpipeline"]


def bench_enqueue(bench, options):
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
    cases = {name: functools.partial(pgbench, bench, lines, ENQUEUE_SECONDS) for name, lines in variants.items()}
    with bench.relay():
        measured = there_and_back(cases, ENQUEUE_ROUNDS * options.rounds)
    rates = {name: both_ways(values) for name, values in measured.items()}

    def ratio(one, other):
        return statistics.median(a / b for a, b in zip(rates[one], rates[other]))

    for name, values in rates.items():
        print(f"enqueue    {name}: {statistics.median(values):,.0f} transactions/s")
    print(f"           with a message: {ratio('and a message', 'and one more bare row'):.2f} of one more bare row; "
          f"pipelined: {ratio('and a message, pipelined', 'business alone'):.2f} of the business alone, "
          f"{ratio('and a message, pipelined', 'business alone, pipelined'):.2f} of it pipelined, too", flush=True)
    return statistics.median(rates["and a message"])


def bench_latency(bench, rate, options):
    rounds = [latency(bench, rate, options.seconds) for _ in range(options.rounds)]
    print(f"latency    at {statistics.median(achieved for achieved, _ in rounds):,.0f} messages/s, "
          f"medians of {options.rounds} rounds")
    for name in rounds[0][1]:
        p50, p99, most = (statistics.median(values) for values in zip(*(times[name] for _, times in rounds)))
        print(f"           {name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, most {most:.2f} ms", flush=True)


def latency(bench, rate, seconds):
    """Messages per second, and (p50, p99, most) by name, as the program prints them."""
    bench.migrate()
    done = subprocess.run(
        [bench.latency_program, bench.url, str(int(rate / 2)), str(seconds)],
        capture_output=True, text=True, check=True, timeout=60 + 10 * seconds,
    )
    achieved = float(re.search(rf"at {NUMBER}/s", done.stdout)[1])
    times = re.findall(rf"(?m)^(.*): p50 {NUMBER} ms, p99 {NUMBER} ms, most {NUMBER} ms$", done.stdout)
    return achieved, {name: tuple(map(float, values)) for name, *values in times}


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
    bench.ask("alter system reset log_min_duration_statement")
    bench.ask("select pg_reload_conf()")
    print(f"idle       a relay without work: {asked / seconds:.1f} statements/s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--history", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="drain,enqueue,latency,idle")
    options = parser.parse_args()
    only = options.only.split(",")
    with tempfile.TemporaryDirectory(prefix="outrider-bench-") as folder, contextlib.closing(make_server()) as server:
        def log(database):
            return Bench(os.path.abspath(options.build), folder, server, database)

        bench = log("bench")
        if "enqueue" in only or "latency" in only:
            rate = bench_enqueue(bench, options)
        if "latency" in only:
            bench_latency(bench, rate, options)
        if "idle" in only:
            bench_idle(bench, options.seconds)
        if "drain" in only:
            bench_drain(bench, log("kept"), options)


if __name__ == "__main__":
    main()
