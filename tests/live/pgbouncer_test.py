"""A relay and its writers behind PgBouncer in transaction mode: every transaction may get another session of the
server."""

import os
import shutil
import subprocess
import tempfile
import unittest

import psycopg2

from harness import Relay, World, children, free_port, run, wait_until
from postgres import Server


class Pooler:
    """PgBouncer in front of a server, with fewer sessions than it has clients."""

    def __init__(self, server):
        self.folder = tempfile.mkdtemp(prefix="outrider-pgbouncer-")
        self.port = free_port()
        config = os.path.join(self.folder, "pgbouncer.ini")
        with open(config, "w", encoding="utf-8") as file:
            file.write(
                f"[databases]\npostgres = host={server.folder} user=postgres\n[pgbouncer]\n"
                f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = any\n"
                "pool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = 10\n"
                "ignore_startup_parameters = extra_float_digits\n"
            )
        user = "postgres" if os.getuid() == 0 else None
        if user:
            shutil.chown(self.folder, user)
            os.chmod(config, 0o644)
        with open(os.path.join(self.folder, "pgbouncer.log"), "wb") as log:
            self.process = subprocess.Popen(
                children.tied(["/usr/sbin/pgbouncer", config], user=user), stdout=log, stderr=log
            )
        wait_until("the pooler to answer", self.answers)

    def connect(self):
        return psycopg2.connect(host="127.0.0.1", port=self.port, user="postgres", dbname="postgres")

    def answers(self):
        try:
            self.connect().close()
            return True
        except psycopg2.OperationalError:
            return False

    @property
    def url(self):
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres?connect_timeout=60"

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class PgBouncer(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)
        self.pooler = Pooler(self.server)
        self.addCleanup(self.pooler.close)
        self.world = World(
            store=self.pooler.url, workers=4, sections='[relay]\nretention = "0s"\nidle_poll = "100ms"\n'
        )
        self.addCleanup(self.world.close)

    def insert(self, count):
        connection = self.pooler.connect()
        with connection, connection.cursor() as cursor:
            for i in range(count):
                cursor.execute(
                    "insert into outrider.message (topic, key, payload) values ('orders.x', %s, %s)",
                    (str(i % 7), str(i)),
                )
        connection.close()

    def arrived(self):
        return [line["id"] for line in self.world.lines()]

    def test_two_relays_deliver_everything_once_and_clean_up(self):
        relays = [Relay(self.world), Relay(self.world)]
        count = 0
        emptied = "select count(*) from outrider.segment where opened_at is not null and segment = 1"

        def deliver_some():
            nonlocal count
            self.insert(20)
            count += 20
            wait_until("delivery", lambda: self.world.count() >= count)
            return self.server.query(emptied) == "0"

        wait_until("the first segment to be emptied", deliver_some, 120)
        wait_until("all to be settled", lambda: self.world.pending() == 0)
        self.assertEqual(len(self.arrived()), count)
        self.assertEqual(len(set(self.arrived())), count)
        for relay in relays:
            self.assertEqual(relay.stop(), 0)
            self.assertNotIn("level=error", relay.text())
        locks = "select count(*) from pg_locks where locktype = 'advisory'"
        wait_until("no lock to be left in a session", lambda: self.server.query(locks) == "0")
        print(f"\n  {count} messages through a pooler")

    def test_it_says_once_that_it_polls(self):
        relay = Relay(self.world)
        self.insert(10)
        wait_until("delivery", lambda: self.world.count() == 10)
        self.assertEqual(relay.stop(), 0)
        self.assertEqual(relay.text().count("pool"), 1, relay.text())

    def test_enqueue_and_the_other_verbs_work(self):
        run("enqueue", "orders.placed", "{}", "--key", "c1", "--config", self.world.config)
        self.assertEqual(self.world.status()["orders"]["pending"], 1)
        run("relay", "--drain", "--config", self.world.config)
        self.assertEqual(len(self.arrived()), 1)
        self.assertEqual(self.world.pending(), 0)


if __name__ == "__main__":
    unittest.main()
