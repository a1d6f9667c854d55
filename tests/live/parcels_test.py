"""The parcel tracker of examples/07_parcels: API, worker, database and broker are killed while clients report scans.
Every scan that the API confirmed is noted once, and every parcel's journey is in order."""

import http.client
import os
import random
import subprocess
import threading
import time
import unittest
import uuid

from harness import children, free_port, run, wait_until
from postgres import Server
from rabbitmq import Broker

API = os.environ["PARCELS_API"]
WORKER = os.environ["PARCELS_WORKER"]
SCHEMA = os.environ["PARCELS_SCHEMA"]
KILLS = int(os.environ.get("PARCEL_KILLS", "6"))
CLIENTS = 4
VICTIMS = ["api", "worker", "database", "api", "worker", "broker"]


class Client(threading.Thread):
    """Reports the journey of one parcel, scan by scan, each until it is confirmed."""

    def __init__(self, number, port):
        super().__init__(daemon=True)
        self.parcel = f"parcel-{number}"
        self.port = port
        self.places = []
        self.repeats = 0
        self.ending = threading.Event()

    def run(self):
        while not self.ending.is_set():
            place = f"place-{len(self.places) + 1}"
            scan = str(uuid.uuid4())
            while not self.report(scan, place):
                self.repeats += 1
                time.sleep(0.05)
            self.places.append(place)
            self.ending.wait(0.02)  # people scan parcels; nobody waits for anything here

    def report(self, scan, place):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("POST", f"/parcels/{self.parcel}/scans", place, {"Idempotency-Key": scan})
            return connection.getresponse().status in (200, 201)
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def finish(self):
        self.ending.set()
        self.join()


class Parcels(unittest.TestCase):
    def setUp(self):
        self.database = Server()
        self.addCleanup(self.database.close)
        self.broker = Broker()
        self.addCleanup(self.broker.close)
        run("migrate", "up", "--store", self.database.url)
        subprocess.run(
            self.database.psql("-q", "-v", "ON_ERROR_STOP=1", "-f", SCHEMA), check=True, stdout=subprocess.DEVNULL
        )
        self.port = free_port()
        self.commands = {
            "api": [API, str(self.port), self.database.url, self.broker.url],
            "worker": [WORKER, self.database.url, self.broker.url],
        }
        self.processes = {}
        self.addCleanup(self.end_all)
        for name in ("worker", "api"):
            self.start(name)

    def start(self, name):
        with open(os.path.join(self.broker.folder, name + ".log"), "ab") as log:
            self.processes[name] = subprocess.Popen(children.tied(self.commands[name]), stdout=log, stderr=log)

    def end_all(self):
        for process in self.processes.values():
            process.kill()
            process.wait()

    def kill(self, victim):
        if victim in self.commands:
            self.processes[victim].kill()
            self.processes[victim].wait()
            self.start(victim)
        elif victim == "database":
            self.database.kill()
            self.database.start()
        else:
            self.broker.kill()
            self.assertTrue(self.broker.start(), self.broker.log())

    def journey(self, parcel):
        rows = self.database.query(f"select place from journey where parcel = '{parcel}' order by entry")
        return (rows or "").split("\n")

    def test_nothing_is_lost_whoever_is_killed(self):
        dice = random.Random(7)
        clients = [Client(number, self.port) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        wait_until("the first scans", lambda: all(client.places for client in clients))
        for number in range(KILLS):
            time.sleep(dice.uniform(0.05, 0.5))
            self.kill(VICTIMS[number % len(VICTIMS)])
        # Everybody is there again: what is reported now arrives, too.
        goal = [len(client.places) + 3 for client in clients]
        wait_until("scans after the kills", lambda: all(len(c.places) >= g for c, g in zip(clients, goal)))
        for client in clients:
            client.finish()
        total = sum(len(client.places) for client in clients)
        wait_until(
            "all scans to be noted",
            lambda: int(self.database.query("select count(*) from journey") or 0) >= total, 120,
        )
        for client in clients:
            self.assertEqual(self.journey(client.parcel), client.places)
        repeats = sum(client.repeats for client in clients)
        print(f"\n  {KILLS} kills, {total} scans, {repeats} requests repeated, each noted once and in order")


if __name__ == "__main__":
    unittest.main()
