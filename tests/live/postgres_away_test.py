"""A relay that is started before its database, as service managers do: it waits for what will come back, and ends at
once where only a person can help."""

import os
import signal
import subprocess
import time
import unittest

from harness import BIN, Relay, World, children, run, wait_until
from postgres import Server
from shop import Shop

AWAY = "the store is away"
BACK = "the store is back"
INSERT = "insert into outrider.message (topic, key, payload) values ('orders.placed', 'ada', '{}')"


class PostgresAway(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.world = World(store=self.server.url)
        self.addCleanup(self.world.close)

    def relay_at(self, url, *arguments):
        """How a relay of another store ends, by itself."""
        return run("relay", "--config", self.world.config, "--store", url, *arguments, check=False)

    def test_waits_for_the_server_and_says_so_once(self):
        self.server.query(INSERT)
        self.server.stop()
        relay = Relay(self.world)
        wait_until("the relay to say it", lambda: AWAY in relay.text())
        time.sleep(1)  # several tries
        self.assertIsNone(relay.process.poll())
        self.server.start()
        wait_until("the message", lambda: self.world.count() == 1)
        self.assertEqual(relay.stop(), 0)
        self.assertEqual(relay.text().count(AWAY), 1)
        self.assertIn(BACK, relay.text())

    def test_a_server_that_goes_away_later_is_told_in_the_same_words(self):
        relay = Relay(self.world)
        self.server.query(INSERT)
        wait_until("the message", lambda: self.world.count() == 1)
        wait_until("it to be settled", lambda: self.world.pending() == 0)
        self.assertNotIn(AWAY, relay.text())
        self.server.stop()
        wait_until("the relay to say it", lambda: AWAY in relay.text())
        self.assertNotIn(BACK, relay.text())
        self.server.start()
        wait_until("the relay to say that it is back", lambda: BACK in relay.text())
        self.server.query(INSERT)
        wait_until("the next message", lambda: self.world.count() == 2)
        self.assertEqual(relay.stop(), 0)
        self.assertNotIn("stage=open", relay.text())

    def test_a_signal_ends_the_wait(self):
        self.server.stop()
        relay = Relay(self.world)
        wait_until("the relay to say it", lambda: AWAY in relay.text())
        self.assertEqual(relay.stop(), 0)

    def watch_until(self, watch, is_it):
        """Reads what a watch prints up to the line that is it."""
        for line in watch.stdout:
            if is_it(line):
                return
        self.fail(f"the watch has ended: {watch.wait()}")

    def test_a_watch_outlives_the_server(self):
        for more, error in (([], "cannot "), (["--json"], '{"error":"cannot ')):
            watch = children.start(
                self, [BIN, "status", "--watch", "--config", self.world.config, *more],
                stdout=subprocess.PIPE, text=True,
            )
            self.watch_until(watch, lambda line: "DESTINATION" in line or "destinations" in line)
            self.server.stop()
            self.watch_until(watch, lambda line: line.startswith(error))
            self.server.start()
            self.watch_until(watch, lambda line: "DESTINATION" in line or "destinations" in line)
            watch.send_signal(signal.SIGTERM)
            self.assertEqual(watch.wait(timeout=60), 0)

    def test_a_drain_does_not_wait(self):
        self.server.stop()
        self.assertEqual(self.relay_at(self.server.url, "--drain").returncode, 6)

    def test_a_server_that_starts_or_is_full_is_waited_for(self):
        self.server.query("create role last_one login connection limit 0 in role outrider_relay")
        relay = Relay(self.world, "--store", self.server.url.replace("postgres@", "last_one@"))
        wait_until("the relay to say it", lambda: AWAY in relay.text())
        self.server.query(INSERT)
        self.server.query("alter role last_one connection limit -1")
        wait_until("the message", lambda: self.world.count() == 1)
        self.assertEqual(relay.stop(), 0)

    def test_a_server_that_goes_away_behind_the_login_is_waited_for(self):
        self.server.query("create role hurried login in role outrider_relay")
        self.server.query("alter role hurried set lock_timeout = '50ms'")
        self.server.query(INSERT)
        holder = Shop(self.server).connect()
        with holder.cursor() as cursor:
            cursor.execute("lock table outrider.schema_version")
        relay = Relay(self.world, "--store", self.server.url.replace("postgres@", "hurried@"))
        wait_until("the relay to say it", lambda: AWAY in relay.text())
        holder.close()
        wait_until("the message", lambda: self.world.count() == 1)
        self.assertEqual(relay.stop(), 0)
        self.assertIn(BACK, relay.text())

    def test_what_the_server_refuses_is_an_error(self):
        rules = os.path.join(self.server.data, "pg_hba.conf")
        with open(rules, encoding="utf-8") as file:
            others = file.read()
        with open(rules, "w", encoding="utf-8") as file:
            file.write("local all guarded scram-sha-256\n" + others)
        self.server.query("create role guarded login password 'right'")
        self.server.query("select pg_reload_conf()")
        at = self.server.url
        wait_until("the new rules", lambda: self.server.query("select count(*) from pg_hba_file_rules") != "0")
        for url, reason in (
            (at.replace("postgres@", "guarded:wrong@"), "password authentication failed"),
            (at.replace("postgres@", "guarded@"), "no password supplied"),
            (at.replace("postgres@", "nobody@"), 'role "nobody" does not exist'),
            (at.replace("/postgres?", "/nowhere?"), 'database "nowhere" does not exist'),
        ):
            with self.subTest(reason):
                done = self.relay_at(url)
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertNotIn("wrong@", done.stderr)

    def test_missing_tables_are_an_error(self):
        self.server.query("create database empty")
        done = self.relay_at(self.server.url.replace("/postgres?", "/empty?"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("migrate up", done.stderr)


if __name__ == "__main__":
    unittest.main()
