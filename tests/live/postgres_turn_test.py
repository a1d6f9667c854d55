"""What a turn on a PostgreSQL log does to others while its broker is slow, and what others do to it."""

import os
import threading
import time
import unittest

from gate import Gate
from harness import Relay, World, free_port, wait_until
from postgres import Server
from receiver import Receiver
from shop import Clerk, Shop

TURN = float(os.environ.get("TURN_SECONDS", "1"))  # how long a slow broker takes
LENGTH = float(os.environ.get("LENGTH_SECONDS", "3"))  # how long something is held
EMPTIED = int(os.environ.get("EMPTIED", "1"))  # how many segments must go meanwhile
STRICT = os.environ.get("STRICT") == "1"  # judge by the clock as well: a quiet machine
SILENCE_MAX = 16 if STRICT else 20  # seconds; 15 are promised

RELAYS = "from pg_stat_activity where application_name like 'outrider%' and state = 'idle in transaction'"
BLOCKED = """select max(clock_timestamp() - l.waitstart) from pg_locks l join pg_class c on c.oid = l.relation
    where not l.granted and c.relname like 'message%' and l.mode <> 'AccessExclusiveLock'"""


class PostgresTurn(unittest.TestCase):
    def set_up(self, workers=1, batch=500, delay=0.0, relay="", settings="", **more):
        self.server = Server("max_prepared_transactions = 50\n" + settings)
        self.addCleanup(self.server.close)
        self.receiver = Receiver(delay)
        self.addCleanup(self.receiver.close)
        self.world = World(
            batch=batch, store=self.server.url, workers=workers, broker=self.receiver.url,
            sections=f"[relay]\n{relay}\n", **more,
        )
        self.addCleanup(self.world.close)

    def insert(self, count, keys=1):
        self.server.query(
            "insert into outrider.message (topic, key, payload) "
            f"select 'orders.x', (i % {keys})::text, i::text::bytea from generate_series(1, {count}) i"
        )

    def test_two_processes_want_the_same_and_one_delivers(self):
        self.set_up(workers=4)
        relays = [Relay(self.world), Relay(self.world)]
        self.insert(300, keys=100)
        wait_until("all to arrive", lambda: len(self.receiver.posted) >= 300)
        wait_until("all to be settled", lambda: self.world.pending() == 0)
        for relay in relays:
            self.assertEqual(relay.stop(), 0)
        self.assertEqual(len(self.receiver.posted), 300)
        self.assertEqual(len(set(self.receiver.posted)), 300)

    def test_a_relay_that_freezes_in_mid_turn_loses_its_lanes_and_settles_nothing_twice(self):
        self.set_up(publish_deadline="10s")
        frozen = Relay(self.world)
        self.receiver.open.clear()
        self.insert(1)
        wait_until("the turn to be under way", lambda: len(self.receiver.posted) == 1)
        frozen.freeze()
        # Its housekeeping may have frozen in a transaction, too, but locks no lanes.
        lanes = "(select count(*) from pg_locks l where l.pid = pg_stat_activity.pid and locktype = 'advisory')"
        self.assertEqual(
            self.server.query(f"select count(*), count(coalesce(backend_xid, backend_xmin)) {RELAYS} and {lanes} > 1"),
            "1|0",
        )
        self.receiver.open.set()
        other = Relay(self.world)
        wait_until("the other to take over", lambda: len(self.receiver.posted) == 2)
        wait_until("it to be settled", lambda: self.world.pending() == 0)
        turns = self.server.query("select max(turn) from outrider.progress")
        frozen.thaw()
        wait_until("the frozen one to notice", lambda: "stage=settle" in frozen.text())
        self.insert(1)
        wait_until("the next message", lambda: len(self.receiver.posted) == 3)
        wait_until("it to be settled", lambda: self.world.pending() == 0)
        self.assertEqual(self.world.status()["orders"]["delivered"], 2)
        self.assertEqual(len(set(self.receiver.posted)), 2)
        self.assertNotEqual(self.server.query("select max(turn) from outrider.progress"), turns)
        self.assertEqual(frozen.stop(), 0)
        self.assertEqual(other.stop(), 0)

    def test_a_silent_network_frees_the_lanes(self):
        """Neither the publish deadline nor the end of a process does it here: the server must notice by itself."""
        port = free_port()
        os.environ["PGPORT"] = str(port)  # for everybody who goes by the server's own socket
        self.addCleanup(os.environ.pop, "PGPORT")
        self.set_up(settings=f"listen_addresses = '127.0.0.1'\nport = {port}", publish_deadline="10m")
        near = self.world.config
        gate = Gate(port)
        self.addCleanup(gate.close)
        with open(near, encoding="utf-8") as file:
            text = file.read().replace(self.server.url, f"postgres://postgres@127.0.0.1:{gate.port}/postgres")
        self.world.config = near + ".far"
        with open(self.world.config, "w", encoding="utf-8") as file:
            file.write(text)
        cut_off = Relay(self.world)
        self.world.config = near
        self.receiver.open.clear()
        self.insert(1)
        wait_until("the turn to be under way", lambda: len(self.receiver.posted) == 1)
        gate.go_dark()
        start = time.monotonic()
        other = Relay(self.world)
        wait_until("the other to take over", lambda: len(self.receiver.posted) == 2)
        silence = time.monotonic() - start
        print(f"\n  lanes free {silence:.1f} s after the network went silent")
        self.assertLess(silence, SILENCE_MAX)
        self.receiver.open.set()
        wait_until("it to be settled", lambda: self.world.pending() == 0)
        self.assertEqual(other.stop(), 0)
        cut_off.kill()

    def test_slow_turns_do_not_starve_truncation_nor_does_it_stall_anybody(self):
        """Every worker is always in a turn; segments are emptied all the same."""
        self.set_up(workers=4, batch=20, delay=TURN, relay='retention = "0s"', publish_deadline="60s")
        shop = Shop(self.server)
        clerks = [Clerk(shop, i, pause=TURN) for i in range(2)]  # slower than a broker that takes a key one by one
        clerks.append(Clerk(shop, 2, pause=0.02, rollbacks=1))  # leaves the broker nothing, so may write often
        for clerk in clerks:
            clerk.start()
        relays = [Relay(self.world)]
        threading.Event().wait(4)  # so that they do not all clean at the same time
        relays.append(Relay(self.world))
        files, blocked = [], []

        def look():
            now = self.server.query("select array_agg(relfilenode order by relname) from pg_class "
                                    "where relname ~ '^message_[0-9]$'")
            if not files or files[-1] != now:
                files.append(now)
            blocked.append(self.server.query(f"select extract(epoch from ({BLOCKED}))") or "0")
            return len(files) > EMPTIED

        wait_until("segments to be emptied", look, 60 + EMPTIED * (20 + 4 * TURN))
        for clerk in clerks:
            clerk.finish()
        self.assertGreater(len(self.receiver.posted), 0)
        worst = max(float(one) for one in blocked)
        longest = max(clerk.longest_insert for clerk in clerks)
        print(f"\n  turns of {TURN} s: {len(files) - 1} segments emptied, the longest wait seen {worst * 1000:.0f} ms, "
              f"the longest INSERT {longest * 1000:.0f} ms")
        self.assertGreater(longest, 0)
        if STRICT:
            self.assertLess(worst, 0.2)
            self.assertLess(longest, 0.2)
        self.receiver.delay = 0
        wait_until("all to be delivered", lambda: self.world.pending() == 0)
        self.assertEqual(set(self.receiver.posted), set(shop.committed))
        for relay in relays:
            self.assertEqual(relay.stop(), 0)

    def test_a_held_snapshot_and_a_long_write_transaction_hold_back_nobody(self):
        self.set_up(workers=2)
        relay = Relay(self.world)
        shop = Shop(self.server)
        reader, writer = shop.connect(), shop.connect()
        reader.set_session(isolation_level="REPEATABLE READ")
        with reader.cursor() as cursor, writer.cursor() as late:
            cursor.execute("select count(*) from outrider.message")
            late.execute("insert into outrider.message (topic, key, payload) values ('orders.x', 'late', 'late')")
            end = time.monotonic() + LENGTH
            count = 0
            while time.monotonic() < end or count == 0:
                self.insert(200, keys=50)
                count += 200
                wait_until("all but the open one", lambda: len(self.receiver.posted) >= count)
            self.assertEqual(len(self.receiver.posted), count)
        writer.commit()
        wait_until("the late one", lambda: len(self.receiver.posted) == count + 1)
        reader.rollback()
        wait_until("all to be settled", lambda: self.world.pending() == 0)
        self.assertEqual(len(set(self.receiver.posted)), count + 1)
        self.assertEqual(relay.stop(), 0)
        print(f"\n  {count} messages under a snapshot held for {LENGTH} s")

    def test_a_server_that_comes_back_is_found_again(self):
        """Back-off on any loss: terminated, stopped in order, crashed."""
        self.set_up(workers=2, relay='reconnect_delay_max = "500ms"')
        relay = Relay(self.world)
        self.insert(1)
        wait_until("the first", lambda: len(self.receiver.posted) >= 1)
        wait_until("it to be settled", lambda: self.world.pending() == 0)
        for end in (self.server.stop, self.server.kill):
            count = len(self.receiver.posted)
            self.server.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")
            end()
            threading.Event().wait(0.5)
            self.server.start()
            self.insert(1)
            wait_until("delivery after it is back", lambda: len(self.receiver.posted) > count)
        self.assertEqual(relay.stop(), 0)


if __name__ == "__main__":
    unittest.main()
