"""A transaction of a million messages on a PostgreSQL log, while others commit around it: delivered whole and in order,
by a relay whose memory does not grow with it, and about as fast as the same messages in small transactions."""

import collections
import json
import os
import re
import threading
import time
import unittest

from harness import Arrivals, Relay, Verdict, World, wait_until
from postgres import LogWriter, Server
from shop import Shop

SANITIZED = os.environ.get("SANITIZED") == "1"
ROWS = int(os.environ.get("LARGE_ROWS", "50000" if SANITIZED else "1000000"))
SMALL = 100  # messages of a small transaction
KEYS = 1000
RESIDENT_MAX = 64 << 10  # KiB
SLOWER_MAX = 10  # times; a plan that reads everything for every batch costs far more, a busy machine less

INSERT = """insert into outrider.message (topic, key, payload)
    select 'orders.x', '{name}-' || i % {keys}, (i / {keys} + 1)::text::bytea
    from generate_series({first}, {last}) i"""
OURS = re.compile(rb'"key":"((?:small|large)-\d+)"')
PAYLOAD = re.compile(rb'"payload":"(\d+)"')


class PostgresLarge(unittest.TestCase):
    def setUp(self):
        self.server = Server("shared_buffers = 256MB\nmax_wal_size = 4GB\nsynchronous_commit = off")
        self.addCleanup(self.server.close)
        self.world = World(batch=5000, store=self.server.url, workers=2)
        self.addCleanup(self.world.close)
        self.shop = Shop(self.server)
        self.arrivals = Arrivals(self.world.delivered)

    def insert(self, name, first, last):
        return INSERT.format(name=name, keys=KEYS, first=first, last=last)

    def write_small(self, rows):
        self.server.query(
            "do $$begin for t in 0.." + str(rows // SMALL - 1) + " loop "
            + self.insert("small", f"t * {SMALL}", f"t * {SMALL} + {SMALL - 1}") + "; commit; end loop; end$$"
        )

    def await_count(self, count):
        """How long it took, until so many lines are there."""
        start = time.monotonic()
        wait_until(f"{count} lines", lambda: self.arrivals.now() >= count, 120)
        return time.monotonic() - start

    def resident(self, relay):
        """The most it has ever had in memory, in KiB."""
        with open(f"/proc/{relay.process.pid}/status", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("VmHWM")).split()[1])

    def read(self):
        """What arrived, told apart by key: the positions of each of our own, and the lines of the writers."""
        positions = collections.defaultdict(list)
        lines = []
        with open(self.world.delivered, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break  # a torn one is not there yet
                ours = OURS.search(line)  # ten times as fast as json
                if ours:
                    positions[ours[1]].append(int(PAYLOAD.search(line)[1]))
                else:
                    lines.append(json.loads(line))
        return positions, lines

    def expect_whole(self, positions, name, rows):
        """Every position of every key, once, in order."""
        for key in range(KEYS):
            got = positions.get(f"{name}-{key}".encode(), [])
            self.assertEqual(got, list(range(1, rows // KEYS + 1)), f"order, loss or repeat of {name}-{key}")

    def test_a_large_transaction_among_small_ones(self):
        small = ROWS // 5
        self.write_small(small)
        relay = Relay(self.world)
        self.await_count(1)
        start = self.arrivals.now()
        small_rate = (small - start) / self.await_count(small)

        connection = self.shop.connect()
        with connection.cursor() as cursor:
            cursor.execute(self.insert("large", 0, ROWS - 1))
        writers = [LogWriter(self.server, i) for i in range(2)]
        for writer in writers:
            writer.start()
        self.await_count(small + 20)  # those around it do not wait for it
        self.assertNotIn(b"large-0", self.read()[0])
        connection.commit()
        large_rate = ROWS / self.await_count(small + ROWS)
        threading.Event().wait(0.2)
        for writer in writers:
            writer.finish()
        around = sum(len(writer.committed) for writer in writers)
        self.await_count(small + ROWS + around)
        wait_until("all to be settled", lambda: self.world.pending() == 0)
        resident = self.resident(relay)
        self.assertEqual(relay.stop(), 0)
        print(f"\n  {ROWS} in one transaction: {large_rate:.0f} a second, {small_rate:.0f} in transactions of {SMALL}; "
              f"{around} around it; {resident} KiB resident at most")
        self.assertEqual(self.arrivals.now(), small + ROWS + around)
        positions, lines = self.read()
        self.expect_whole(positions, "small", small)
        self.expect_whole(positions, "large", ROWS)
        Verdict(writers, lines).expect_good(self, 0)
        if not SANITIZED:  # a few thousand messages say nothing about rates, and sanitizers take memory of their own
            self.assertGreater(large_rate * SLOWER_MAX, small_rate)
            self.assertLess(resident, RESIDENT_MAX)


if __name__ == "__main__":
    unittest.main()
