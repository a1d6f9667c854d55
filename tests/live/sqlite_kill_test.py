"""Relay processes on a SQLite database under load, killed in every way. Nothing may be lost, invented or reordered."""

import os
import random
import sqlite3
import subprocess
import time
import unittest

from harness import BIN, Relay, SqliteWriter, Verdict, World, children, run, wait_until

KILLS = int(os.environ.get("KILLS", "100"))
SANITIZED = os.environ.get("SANITIZED") == "1"


class SqliteKill(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)

    def start_writers(self, count, seed):
        writers = [SqliteWriter(self.world, i, seed=seed) for i in range(count)]
        for writer in writers:
            writer.start()
        return writers

    def finish(self, writers):
        for writer in writers:
            writer.finish()
        done = run("relay", "--drain", "--config", self.world.config, "--timeout", "60s")
        self.assertEqual(done.returncode, 0)
        return Verdict(writers, self.world.lines())

    def test_one_relay_killed_many_times(self):
        dice = random.Random(1)
        writers = self.start_writers(2, seed=1)
        for _ in range(KILLS):
            relay = Relay(self.world)
            before = self.world.count() if dice.random() < 0.2 else None
            time.sleep(dice.uniform(0, 0.12))
            if before is not None:
                wait_until("some delivery", lambda: self.world.count() > before, 30)
            relay.kill()
        verdict = self.finish(writers)
        print(f"\n  {KILLS} kills, {verdict.committed} committed, {verdict.duplicates} repeated")
        self.assertGreater(verdict.committed, KILLS)
        verdict.expect_good(self, KILLS * self.world.batch)

    def test_two_relays_killed_at_random(self):
        dice = random.Random(2)
        writers = self.start_writers(3, seed=2)
        relays = [Relay(self.world), Relay(self.world)]
        for _ in range(KILLS // 2):
            time.sleep(dice.uniform(0, 0.15))
            victim = dice.randrange(2)
            relays[victim].kill()
            relays[victim] = Relay(self.world)
        for relay in relays:
            self.assertEqual(relay.stop(), 0)
        verdict = self.finish(writers)
        print(f"\n  {KILLS // 2} kills of two, {verdict.committed} committed, {verdict.duplicates} repeated")
        verdict.expect_good(self, KILLS // 2 * self.world.batch)

    def test_orderly_stops_repeat_nothing(self):
        dice = random.Random(3)
        writers = self.start_writers(2, seed=3)
        for _ in range(15):
            relay = Relay(self.world)
            time.sleep(dice.uniform(0.02, 0.15))
            self.assertEqual(relay.stop(), 0)
        self.finish(writers).expect_good(self, 0)

    def deliver_one(self, connection):
        expected = self.world.count() + 1
        connection.execute("insert into outrider_message(topic, payload) values ('orders.x', 'one')")
        wait_until("delivery", lambda: self.world.count() == expected, 30)

    def take_over(self, connection):
        """Seconds from the death of the one that serves to the first delivery of the one that stood by."""
        first = Relay(self.world)
        self.deliver_one(connection)
        second = Relay(self.world)
        wait_until("the second to stand by", lambda: "stand" in second.text(), 30)
        wait_until("what was delivered to be settled", lambda: self.world.pending() == 0, 30)
        start = time.monotonic()
        first.kill()
        self.deliver_one(connection)
        took = time.monotonic() - start
        self.assertEqual(second.stop(), 0)
        return took

    def test_a_second_relay_takes_over_within_a_second(self):
        connection = self.world.connect()
        times = [self.take_over(connection) for _ in range(3)]
        print("\n  took over after", ", ".join(f"{took:.2f} s" for took in times))
        self.assertLess(min(times), 1.0, "the quickest of three, since the machine may be busy")

    def test_a_backlog_is_drained_in_bounded_memory(self):
        connection = self.world.connect()
        connection.execute("pragma synchronous = off")
        connection.execute("begin")
        connection.executemany(
            "insert into outrider_message(topic, key, payload) values ('orders.x', ?, ?)",
            ((str(i % 1000), "x" * 200) for i in range(100_000)),
        )
        connection.execute("commit")
        drain = subprocess.Popen(
            children.tied([BIN, "relay", "--drain", "--config", self.world.config])
        )
        _, status, usage = os.wait4(drain.pid, 0)
        drain.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(drain.returncode, 0)
        self.assertEqual(self.world.count(), 100_000)
        print(f"\n  resident at most {usage.ru_maxrss // 1024} MiB")
        if not SANITIZED:
            self.assertLess(usage.ru_maxrss, 64 * 1024)

    def test_a_long_write_transaction_costs_no_repeat(self):
        """The settle waits for a writer that is busy, instead of giving up what it knows."""
        relay = Relay(self.world)
        self.addCleanup(relay.kill)
        connection = self.world.connect()
        insert = "insert into outrider_message(topic, payload) values ('orders.x', ?)"
        connection.execute(insert, ("0",))
        wait_until("the first to be settled", lambda: self.world.pending() == 0, 30)
        connection.execute("begin immediate")
        for i in range(1, 50):
            connection.execute(insert, (str(i),))
        connection.execute("commit")
        blocker = sqlite3.connect(self.world.database, timeout=60, isolation_level=None)
        blocker.execute("begin immediate")
        wait_until("delivery", lambda: self.world.count() == 50, 30)
        time.sleep(1)
        blocker.execute("rollback")
        wait_until("settle", lambda: self.world.pending() == 0, 30)
        self.assertEqual(relay.stop(), 0)
        self.assertEqual(self.world.count(), 50)


if __name__ == "__main__":
    unittest.main()
