"""Four relay processes with two workers each on one PostgreSQL log, killed at random, while writers in another language
write with early ids, savepoints and rollbacks. Nothing may be lost, invented or reordered."""

import os
import random
import time
import unittest

from harness import Relay, Verdict, World, run
from postgres import LogWriter, Server

KILLS = int(os.environ.get("KILLS", "100"))


class PostgresKill(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.world = World(batch=200, store=self.server.url, workers=2)
        self.addCleanup(self.world.close)

    def test_four_relays_killed_at_random(self):
        dice = random.Random(4)
        writers = [LogWriter(self.server, i) for i in range(4)]
        for writer in writers:
            writer.start()
        relays = [Relay(self.world) for _ in range(4)]
        for _ in range(KILLS):
            time.sleep(dice.uniform(0, 0.1))
            victim = dice.randrange(4)
            relays[victim].kill()
            relays[victim] = Relay(self.world)
        for writer in writers:
            writer.finish()
        for relay in relays:
            self.assertEqual(relay.stop(), 0)
        done = run("relay", "--drain", "--config", self.world.config, "--timeout", "60s")
        self.assertEqual(done.returncode, 0)
        verdict = Verdict(writers, self.world.lines())
        print(f"\n  {KILLS} kills of four, {verdict.committed} committed, {verdict.duplicates} repeated")
        self.assertGreater(verdict.committed, KILLS)
        verdict.expect_good(self, KILLS * self.world.batch * 2)


if __name__ == "__main__":
    unittest.main()
