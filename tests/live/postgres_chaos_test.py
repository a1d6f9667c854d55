"""Eight relay processes with four workers each on one PostgreSQL log, while concurrent transactions write shared keys:
relays killed and frozen, sessions terminated, the server restarted and killed. Nothing may be lost, invented or
reordered."""

import os
import random
import time
import unittest

from harness import Relay, Verdict, World, run, wait_until
from postgres import Server
from shop import Clerk, Shop

FAULTS = int(os.environ.get("FAULTS", "25"))  # of relays and sessions
CRASHES = int(os.environ.get("CRASHES", "2"))  # of the server, for each way to settle
SETTINGS = "max_prepared_transactions = 50\nmax_connections = 300\nshared_buffers = 64MB"
BATCH = 50
WORKERS = 4
DEADLINE = 1  # seconds that a broker may take, and 5 more until the server frees a frozen relay's lanes
FROZEN = DEADLINE + 5 + 1


class Chaos(unittest.TestCase):
    def set_up(self, relays, settle="fast"):
        self.server = Server(SETTINGS)
        self.addCleanup(self.server.close)
        self.world = World(
            batch=BATCH, store=self.server.url, workers=WORKERS, publish_deadline=f"{DEADLINE}s",
            sections='[relay]\nretention = "0s"\n',
        )
        self.addCleanup(self.world.close)
        with open(self.world.config, "r+", encoding="utf-8") as file:
            text = file.read().replace("[store]\n", f'[store]\nsettle = "{settle}"\n')
            file.seek(0)
            file.write(text)
        self.dice = random.Random(8)
        self.shop = Shop(self.server)
        self.clerks = [Clerk(self.shop, i, pause=0.02) for i in range(6)]
        for clerk in self.clerks:
            clerk.start()
        self.relays = [Relay(self.world) for _ in range(relays)]
        for relay in self.relays:  # one that cannot reach its server at the start gives up
            wait_until("the relay to start", lambda log=relay: "relay starts" in log.text())

    def kill_one(self):
        victim = self.dice.randrange(len(self.relays))
        self.relays[victim].kill()
        self.relays[victim] = Relay(self.world)

    def terminate_one(self):
        self.server.query(
            "select pg_terminate_backend(pid) from (select pid from pg_stat_activity "
            "where application_name like 'outrider%' order by random() limit 1) x"
        )

    def wait_for_progress(self):
        """The relays go on: something new arrives."""
        before = self.world.count()
        wait_until("a delivery", lambda: self.world.count() > before)

    def finish(self):
        for clerk in self.clerks:
            clerk.finish()
        for relay in self.relays:
            self.assertEqual(relay.stop(), 0, relay.text()[-2000:])
        run("relay", "--drain", "--config", self.world.config, "--timeout", "90s")
        return Verdict([self.shop], self.world.lines())

    def test_relays_are_killed_frozen_and_cut_off(self):
        self.set_up(relays=8)
        self.wait_for_progress()
        frozen = []
        done = {"killed": 0, "frozen": 0, "terminated": 0}
        while sum(done.values()) < FAULTS:
            time.sleep(self.dice.uniform(0, 0.15))
            for relay, until in list(frozen):
                if time.monotonic() > until:
                    relay.thaw()
                    frozen.remove((relay, until))
            chance = self.dice.random()
            if chance < 0.25:
                self.terminate_one()
                done["terminated"] += 1
            elif chance < 0.35 or done["frozen"] == 0:
                relay = self.dice.choice(self.relays)
                if all(relay is not one for one, _ in frozen):
                    relay.freeze()
                    frozen.append((relay, time.monotonic() + FROZEN))
                    done["frozen"] += 1
            else:
                self.kill_one()
                done["killed"] += 1
        for relay, until in frozen:
            time.sleep(max(0, until - time.monotonic()))
            relay.thaw()  # one that was killed and replaced meanwhile does not hear it
        self.wait_for_progress()
        verdict = self.finish()
        print(f"\n  {done}, {verdict.committed} committed, {verdict.duplicates} repeated")
        self.assertGreater(verdict.committed, FAULTS)
        verdict.expect_good(self, (done["killed"] + done["frozen"]) * WORKERS * BATCH + done["terminated"] * BATCH)

    def crash_server(self, settle):
        self.set_up(relays=4, settle=settle)
        for crash in range(CRASHES):
            self.wait_for_progress()
            time.sleep(self.dice.uniform(0, 0.3))
            if crash % 2 == 0:
                self.server.kill()
            else:
                self.server.stop()
            self.server.start()
        self.wait_for_progress()
        verdict = self.finish()
        lost = sum(clerk.lost_connections for clerk in self.clerks)
        print(f"\n  {CRASHES} ends of the server, settle {settle}: {verdict.committed} committed, "
              f"{verdict.duplicates} repeated, {lost} connections of writers lost")
        self.assertGreaterEqual(lost, CRASHES)
        return verdict

    def test_the_server_is_killed_and_restarted_with_durable_settles(self):
        in_flight = 4 * WORKERS * BATCH
        self.crash_server("durable").expect_good(self, CRASHES * in_flight)

    def test_the_server_is_killed_and_restarted_with_fast_settles(self):
        verdict = self.crash_server("fast")
        # Whatever was settled since the last flush of the log may come again, and is only counted.
        verdict.expect_good(self, verdict.committed)


if __name__ == "__main__":
    unittest.main()
