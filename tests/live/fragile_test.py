"""A handler that ends its process on one message: three ends, then the message is parked as refused with that reason,
and everything else is delivered, in order per key."""

import json
import os
import signal
import subprocess
import unittest

from harness import BIN, children, World, run, wait_until
from postgres import Server

FRAGILE = os.environ["OUTRIDER_FRAGILE"]
KEYS = 4
EACH = 12
POISON = (2, 5)  # key and position

EXPECTED = {
    f"k{key}": [str(i) for i in range(1, EACH + 1) if (key, i) != POISON] for key in range(KEYS)
}


class Fragile(unittest.TestCase):
    def setUp(self):
        self.server = None
        self.processes = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.processes:
            process.kill()
            process.wait()

    def make_world(self, postgres):
        if postgres:
            self.server = Server()
            self.addCleanup(self.server.close)
        self.world = World(store=self.server.url if postgres else None)
        self.addCleanup(self.world.close)
        self.store = self.server.url if postgres else f"sqlite:{self.world.database}"
        self.output = os.path.join(self.world.folder.name, "handled")
        messages = []
        for position in range(1, EACH + 1):
            for key in range(KEYS):
                messages.append((f"k{key}", "poison" if (key, position) == POISON else str(position)))
        self.enqueue(messages)

    def enqueue(self, messages):
        lines = [json.dumps({"topic": "t", "key": key, "payload": payload}) for key, payload in messages]
        subprocess.run(
            [BIN, "enqueue", "--jsonl", "--config", self.world.config], input="\n".join(lines), text=True, check=True,
            stdout=subprocess.DEVNULL,
        )

    def start(self, how, retry):
        process = subprocess.Popen(
            children.tied([FRAGILE, self.store, self.output, how, retry]), stderr=subprocess.DEVNULL
        )
        self.processes.append(process)
        return process

    def handled(self):
        """Positions per key, first deliveries only; order is judged by them."""
        keys = {f"k{key}": [] for key in range(KEYS)}
        if os.path.exists(self.output):
            with open(self.output, encoding="utf-8") as file:
                for line in file.read().splitlines():
                    key, position = line.split()
                    if position not in keys[key]:
                        keys[key].append(position)
        return keys

    def is_over(self, expected):
        """All that can be delivered is, and the message has been judged: lanes come in any order."""
        if self.handled() != expected:
            return False
        status = self.status()
        return status["dead"] + status["blocked_keys"] >= 1

    def live_through(self, how, retry, expected):
        """Starts the service until it survives. Returns how often it ended."""
        ends = 0
        while ends < 10:
            process = self.start(how, retry)
            wait_until(
                "an end, or all that can be delivered",
                lambda: process.poll() is not None or self.is_over(expected),
            )
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=60), 0)
                return ends
            ends += 1
            if self.server:  # which ends the sessions of the dead when it comes to it
                sessions = "select count(*) from pg_stat_activity where application_name = 'outrider'"
                wait_until("their sessions to end", lambda: self.server.query(sessions) == "0")
        return ends

    def status(self):
        return self.world.status()["fragile"]

    def waiting(self):
        """The message itself is parked; of those behind it some may not have been looked at before the stop."""
        status = self.status()
        self.assertGreaterEqual(status["parked"], 1)
        return status["parked"] + status["pending"]

    def expect_parked(self, how, postgres):
        self.make_world(postgres)
        key, position = POISON
        expected = dict(EXPECTED)
        expected[f"k{key}"] = [str(i) for i in range(1, position)]  # the rest waits behind it
        self.assertEqual(self.live_through(how, "later", expected), 3)
        self.assertEqual(self.waiting(), EACH - position + 1)
        self.assertEqual(self.status()["blocked_keys"], 1)
        self.assertEqual(self.status()["dead"], 0)
        # Another start delivers what is new; the message and what is behind it wait.
        self.enqueue([("k0", str(EACH + 1)), (f"k{key}", str(EACH + 1))])
        expected["k0"] = expected["k0"] + [str(EACH + 1)]
        self.assertEqual(self.live_through(how, "later", expected), 0)
        self.assertEqual(self.waiting(), EACH - position + 2)

    def expect_dead(self, how, postgres):
        self.make_world(postgres)
        self.assertEqual(self.live_through(how, "never", EXPECTED), 3)
        dead = run("dead", "list", "--json", "--config", self.world.config).stdout
        self.assertIn("the process ended 3 times while this message was being handled", dead)
        self.assertEqual(self.status()["dead"], 1)
        self.assertEqual(self.status()["parked"], 0)

    def test_abort_on_sqlite(self):
        self.expect_parked("abort", False)

    def test_exit_on_sqlite(self):
        self.expect_dead("exit", False)

    def test_terminate_on_postgres(self):
        self.expect_parked("throw", True)

    def test_abort_on_postgres(self):
        self.expect_dead("abort", True)


if __name__ == "__main__":
    unittest.main()
