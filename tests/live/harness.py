"""What the live tests share: relay processes, writers in another language, and a checker that believes only what
writers and the consumer saw, never Outrider's own tables (but for the list of dead letters)."""

import collections
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
import children  # noqa: E402
from ports import free_port  # noqa: E402,F401

BIN = os.environ.pop("OUTRIDER_BIN")  # not a setting of ours, so no child should see it


def wait_until(what, condition, patience=60.0):
    """Waits for a condition: looks often at first, then less, since a look may start a program. Fails loudly when it
    does not come."""
    deadline = time.monotonic() + patience
    pause = 0.005
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience} s in vain for: {what}")
        time.sleep(pause)
        pause = min(pause * 1.2, 0.1)


def run(*arguments, check=True):
    """Runs the command line and returns what it printed."""
    done = subprocess.run(
        children.tied([BIN, *arguments]), capture_output=True, text=True, timeout=120
    )
    if check and done.returncode != 0:
        raise AssertionError(f"outrider {arguments} exited {done.returncode}: {done.stderr}")
    return done


class World:
    """A temporary folder with a migrated database, a configuration and the file that messages are delivered to."""

    def __init__(self, batch=500, store=None, workers=1, broker=None, sections="", **more):
        """`more`: further settings of the destination; `sections`: further text for the configuration."""
        self.folder = tempfile.TemporaryDirectory(prefix="outrider-live-")
        self.database = os.path.join(self.folder.name, "shop.db")
        store = store or f"sqlite://{self.database}"
        self.delivered = os.path.join(self.folder.name, "delivered.jsonl")
        self.config = os.path.join(self.folder.name, "outrider.toml")
        self.batch = batch
        self.relays = []  # all that were ever started here
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                f'[store]\nurl = "{store}"\n\n[[destination]]\nname = "orders"\n'
                f'broker = "{broker or "file://" + self.delivered}"\ntopics = ["orders.*"]\nworkers = {workers}\n'
                + "".join(f'{name} = "{value}"\n' for name, value in more.items())
                + f"\n[destination.batch]\nmessages = {batch}\n\n{sections}"
            )
        run("migrate", "up", "--config", self.config)

    def connect(self):
        connection = sqlite3.connect(self.database, timeout=60, isolation_level=None)
        return connection

    def lines(self):
        """Whole lines delivered so far. A torn one at the end is not there yet."""
        if not os.path.exists(self.delivered):
            return []
        with open(self.delivered, "rb") as file:
            return [json.loads(line) for line in file.read().split(b"\n")[:-1]]

    def count(self):
        """How many lines that are: read without understanding them, since tests ask often."""
        if not os.path.exists(self.delivered):
            return 0
        with open(self.delivered, "rb") as file:
            return file.read().count(b"\n")

    def status(self):
        document = json.loads(run("status", "--json", "--config", self.config).stdout)
        return {one["name"]: one for one in document["destinations"]}

    def pending(self):
        return self.status().get("orders", {}).get("pending")

    def close(self):
        """Ends what still runs, a failed test included."""
        for relay in self.relays:
            relay.kill()
        self.folder.cleanup()


class Arrivals:
    """Counts the lines of a file that grows, reading each byte once."""

    def __init__(self, path):
        self.path = path
        self.place = 0
        self.count = 0

    def now(self):
        if os.path.exists(self.path):
            with open(self.path, "rb") as file:
                file.seek(self.place)
                while piece := file.read(1 << 20):
                    self.place += len(piece)
                    self.count += piece.count(b"\n")
        return self.count


class Relay:
    """One `outrider relay` process. It ends with its world, or with the test."""

    def __init__(self, world, *arguments):
        self.path = os.path.join(world.folder.name, f"relay-{len(world.relays)}.log")
        self.log = open(self.path, "ab")
        self.process = subprocess.Popen(
            children.tied([BIN, "relay", "--config", world.config, *arguments]), stdout=self.log, stderr=self.log
        )
        world.relays.append(self)

    def text(self):
        """What it has logged so far."""
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()  # killing twice is fine

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """An orderly stop, once it is up: before that a signal simply ends it."""
        wait_until("the relay to start", lambda: os.path.getsize(self.path) > 0)
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self.log.close()
        return code


class Writer(threading.Thread):
    """Writes transactions of several keys until told to finish, some of them rolled back, and remembers what was
    committed: id -> (key, position). The subclasses say by which connection and in which statements."""

    pause = 0  # seconds between transactions

    def __init__(self, number, keys, seed):
        super().__init__(daemon=True)
        self.dice = random.Random(seed * 1000 + number)
        self.keys = [f"writer-{number}-key-{i}" for i in range(keys)]
        self.positions = collections.Counter()
        self.committed = {}
        self.rolled_back = set()
        self.ending = threading.Event()
        self.failure = None

    def run(self):
        try:
            with self.connect() as connection:
                while not self.ending.wait(self.pause):
                    self.transaction(connection)
        except Exception as exception:  # pylint: disable=broad-except
            self.failure = exception

    def connect(self):
        """A context manager around what transaction() is given."""
        raise NotImplementedError

    def transaction(self, connection):
        """Writes one, and calls ended()."""
        raise NotImplementedError

    def commits(self):
        return self.dice.random() > 0.15

    def next_id(self):
        return str(uuid.UUID(int=self.dice.getrandbits(128), version=4))

    def ended(self, committed, written):
        """`written`: id -> (key, position), in order."""
        if not committed:
            self.rolled_back.update(written)
            return
        self.committed.update(written)
        self.positions.update(key for key, _ in written.values())

    def finish(self):
        self.ending.set()
        self.join()
        if self.failure:
            raise self.failure


class SqliteWriter(Writer):
    """Plain INSERTs through Python's own SQLite."""

    pause = 0.0005  # without a disk to wait for it would write hundreds of thousands

    def __init__(self, world, number, keys=5, seed=1):
        super().__init__(number, keys, seed)
        self.world = world

    def connect(self):
        return contextlib.closing(self.world.connect())

    def transaction(self, connection):
        written = {}
        positions = self.positions.copy()
        connection.execute("begin immediate")
        for key in self.dice.choices(self.keys, k=self.dice.randint(1, 4)):
            positions[key] += 1
            message = self.next_id()
            connection.execute(
                "insert into outrider_message(id, topic, key, payload) values (?, 'orders.placed', ?, ?)",
                (message, key, json.dumps({"position": positions[key]})),
            )
            written[message] = (key, positions[key])
        commits = self.commits()
        connection.execute("commit" if commits else "rollback")
        self.ended(commits, written)


class Verdict:
    """Compares what writers committed with what arrived."""

    def __init__(self, writers, lines):
        committed = {}
        rolled_back = set()
        for writer in writers:
            committed.update(writer.committed)
            rolled_back.update(writer.rolled_back)
        seen = {}  # id -> the line it was last seen in
        last = collections.defaultdict(int)
        self.repeated = []  # numbers of lines, from 0, that came again later
        self.phantoms = []
        self.disorder = []
        self.damaged = []
        for number, line in enumerate(lines):
            message = line["id"]
            earlier = seen.get(message)
            seen[message] = number
            if earlier is not None:
                self.repeated.append(earlier)
                continue
            if message not in committed:
                self.phantoms.append((message, message in rolled_back))
                continue
            key, position = committed[message]
            if line["key"] != key or json.loads(line["payload"])["position"] != position:
                self.damaged.append(message)
            if position != last[key] + 1:
                self.disorder.append((key, last[key], position))
            last[key] = position
        self.committed = len(committed)
        self.duplicates = len(self.repeated)
        self.lost = sorted(set(committed) - set(seen))

    def expect_good(self, test, duplicates_max):
        test.assertEqual(self.lost[:5], [], f"{len(self.lost)} of {self.committed} lost")
        test.assertEqual(self.phantoms[:5], [], "phantoms")
        test.assertEqual(self.disorder[:5], [], "out of order per key")
        test.assertEqual(self.damaged[:5], [], "key or payload changed")
        test.assertLessEqual(self.duplicates, duplicates_max, "more repeats than were in flight")
