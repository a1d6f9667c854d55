"""Runs the real binary, OUTRIDER_BIN, from end to end on SQLite and files, and what operators do on PostgreSQL, too."""

import fcntl
import http.server
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import children  # noqa: E402

BINARY = os.environ["OUTRIDER_BIN"]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))
from postgres import Server  # noqa: E402

PATIENCE = 30  # seconds; a bound for waits, never a pause

CONFIG = """\
[store]
url = "sqlite:shop.db"

[[destination]]
name = "orders"
broker = "file:orders.jsonl"
topics = ["orders.*"]
"""


def clean_environment():
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("OUTRIDER_") and name not in ("DATABASE_URL", "NOTIFY_SOCKET")
    }


def wait_until(is_so, what):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain until " + what)
        time.sleep(0.02)


def has_open(pid, path):
    """Whether the process has the file open. Descriptors come and go while we look."""
    for one in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            if os.readlink(one) == path:
                return True
        except FileNotFoundError:
            continue
    return False


class CliTest(unittest.TestCase):
    # What is said otherwise on another store.
    tables = "outrider_"
    long_ago = "1"
    escape = "char(27)"
    in_one_order = True  # across keys, too: one lane
    fault = ("drop trigger outrider_message_number", "number_guard")  # how to cause one, and its code

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="outrider_cli_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.write("outrider.toml", CONFIG.replace("sqlite:shop.db", self.make_store()))

    def make_store(self):
        """Its url. There is nothing in it."""
        return "sqlite:shop.db"

    def wait_for_the_dead(self):
        """Until all that a process held is free which was killed: at once, where the kernel frees it."""

    def execute(self, sql):
        with sqlite3.connect(self.folder / "shop.db") as database:
            database.execute(sql)
        database.close()

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def insert_old_message(self):
        self.execute(
            f"insert into {self.tables}message (topic, payload, occurred_at) "
            f"values ('orders.x', 'old', {self.long_ago})"
        )

    def run_outrider(self, *words, expect=0, environment=None, stdin=""):
        done = subprocess.run(
            children.tied([BINARY, *words]),
            cwd=self.folder,
            env={**clean_environment(), **(environment or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        self.assertEqual(done.returncode, expect, f"{words}: {done.stdout}{done.stderr}")
        return done

    def out(self, *words, **how):
        return self.run_outrider(*words, **how).stdout.strip()

    def json(self, *words, **how):
        return json.loads(self.out(*words, "--json", **how))

    def error(self, *words, **how):
        return self.run_outrider(*words, **how).stderr

    def start(self, *words, environment=None):
        return children.start(
            self,
            [BINARY, *words],
            cwd=self.folder,
            env={**clean_environment(), **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lines(self, name="orders.jsonl"):
        path = self.folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def status(self, name="orders"):
        found = [one for one in self.json("status")["destinations"] if one["name"] == name]
        self.assertEqual(len(found), 1)
        return found[0]


class Delivery(CliTest):
    def test_a_message_travels_from_enqueue_to_the_file(self):
        self.assertIn("migrated from version 0", self.out("migrate", "up"))
        self.assertIn("nothing to do", self.out("migrate", "up"))
        identifier = self.out(
            "enqueue", "orders.placed", '{"id":1}', "--key", "c1", "--type", "order.placed",
            "--content-type", "application/json", "--header", "a=b", "--header", "c=d=e",
        )
        self.assertEqual(self.status()["pending"], 1)
        self.run_outrider("relay", "--drain")
        (line,) = self.lines()
        line.pop("occurred_at")
        self.assertEqual(
            line,
            {
                "id": identifier, "topic": "orders.placed", "key": "c1", "type": "order.placed",
                "content_type": "application/json", "payload": '{"id":1}',
                "headers": {"a": "b", "c": "d=e"},
            },
        )

    def test_status_has_stable_names(self):
        self.out("migrate", "up")
        self.out("enqueue", "orders.placed", "a")
        self.out("enqueue", "stray", "b")
        self.run_outrider("relay", "--drain")
        status = self.status()
        for name in ("name", "pending", "oldest_pending_seconds", "parked", "dead", "circuit", "rate"):
            self.assertIn(name, status)
        self.assertIsNone(status["oldest_pending_seconds"])
        self.assertEqual(status["circuit"], "closed")
        self.assertIsInstance(status["rate"], (int, float))
        self.assertFalse(status["relay_running"])
        self.assertEqual(self.json("status")["unrouted"], [{"topic": "stray", "messages": 1}])
        self.assertIn("stray", self.out("status"))

    def test_any_language_can_write_with_a_plain_insert(self):
        self.out("migrate", "up")
        with sqlite3.connect(self.folder / "shop.db") as database:
            database.execute(
                "insert into outrider_message(topic, key, payload) values ('orders.x', 'k', 'hello')"
            )
        database.close()
        self.run_outrider("relay", "--drain")
        (line,) = self.lines()
        self.assertEqual((line["topic"], line["key"], line["payload"]), ("orders.x", "k", "hello"))

    def test_payloads_of_any_shape_arrive(self):
        self.out("migrate", "up")
        for payload in ("[1,2]", "", "a,b", "{}", "x=y", '"quoted"'):
            self.out("enqueue", "orders.x", payload)
        self.out("enqueue", "orders.x", "--", "--dashes")
        self.out("enqueue", "orders.x", "--stdin", stdin="two\nlines\n")
        self.run_outrider("relay", "--drain")
        self.assertEqual(
            [line["payload"] for line in self.lines()],
            ["[1,2]", "", "a,b", "{}", "x=y", '"quoted"', "--dashes", "two\nlines\n"],
        )

    def test_lines_are_written_all_or_none(self):
        self.out("migrate", "up")
        good = '{"topic":"orders.a","payload":{"n":1},"key":"k","headers":{"h":"v"}}\n'
        bad = good + '{"topic":"orders.b","playload":"x"}\n'
        error = self.error("enqueue", "--jsonl", stdin=bad, expect=2)
        self.assertIn("line 2", error)
        self.assertIn("did you mean 'payload'?", error)
        self.assertIn("payload_base64, headers", error)
        self.assertIn("payload_base64, headers", self.out("enqueue", "--help"))
        for line in ("{", "[]", '{"topic":"a","topic":"b"}', '{"payload":"x"}', "[" * 100 + "]" * 100,
                     '{"topic":"a","payload_base64":"*"}', '{"topic":"a","id":"x"}'):
            self.assertIn("line 2", self.error("enqueue", "--jsonl", stdin=good + line, expect=2))
        self.run_outrider("relay", "--drain")
        self.assertEqual(self.lines(), [])
        ids = [json.loads(line)["id"] for line in
               self.out("enqueue", "--jsonl", "--json", stdin=good + "\n" + good).splitlines()]
        self.run_outrider("relay", "--drain")
        self.assertEqual([line["id"] for line in self.lines()], ids)
        self.assertEqual(self.lines()[0]["payload"], '{"n":1}')

    def test_lines_say_everything_themselves(self):
        self.out("migrate", "up")
        for words in (["orders.x"], ["--key", "k"], ["--type", "t"], ["--content-type", "t"], ["--stdin"],
                      ["--header", "a=b"], ["--deliver-after", "+5m"],
                      ["--id", "00000000-0000-4000-8000-000000000000"]):
            error = self.error("enqueue", "--jsonl", *words, stdin='{"topic":"orders.x"}', expect=2)
            self.assertIn("leave out " + (words[0] if words[0].startswith("--") else "TOPIC"), error)
        self.assertEqual(self.json("status")["destinations"][0]["pending"], 0)

    def test_what_the_file_broker_wrote_can_be_enqueued_again(self):
        self.out("migrate", "up")
        self.out("enqueue", "orders.x", "a", "--key", "k")
        with sqlite3.connect(self.folder / "shop.db") as database:
            database.execute("insert into outrider_message(topic, payload) values ('orders.x', x'ff00')")
        database.close()
        self.run_outrider("relay", "--drain")
        first = (self.folder / "orders.jsonl").read_text()
        self.out("enqueue", "--jsonl", stdin=first)
        self.run_outrider("relay", "--drain")
        self.assertEqual((self.folder / "orders.jsonl").read_text(), first + first)

    def test_delayed_messages_are_parked(self):
        self.out("migrate", "up")
        self.out("enqueue", "orders.x", "later", "--deliver-after", "+1h")
        self.run_outrider("relay", "--drain", expect=3)
        self.assertEqual((self.lines(), self.status()["parked"]), ([], 1))
        self.out("enqueue", "orders.x", "past", "--deliver-after", "2020-01-01T00:00:00+01:00")
        self.run_outrider("relay", "--drain", expect=3)
        self.assertEqual([line["payload"] for line in self.lines()], ["past"])
        self.assertIn("+5m", self.error("enqueue", "a", "--deliver-after", "soon", expect=2))

    def test_standard_output_carries_messages_and_nothing_else(self):
        self.out("migrate", "up")
        self.out("enqueue", "orders.x", "a")
        done = self.run_outrider("relay", "--drain", "--set", "destination.orders.broker=stdout:")
        self.assertEqual(json.loads(done.stdout)["payload"], "a")

    def test_a_destination_can_be_made_by_flag(self):
        self.out("migrate", "up")
        self.out("enqueue", "orders.x", "a")
        done = self.run_outrider("relay", "--drain", "--set", "destination.audit.broker=stdout:")
        self.assertEqual(json.loads(done.stdout)["payload"], "a")
        self.assertEqual(len(self.lines()), 1)

    def test_relay_can_migrate_first(self):
        error = self.error("relay", "--drain", expect=6)
        self.assertIn("outrider migrate up", error)
        sqlite3.connect(self.folder / "shop.db").execute("create table mine (x)").connection.close()
        self.assertIn("outrider migrate up", self.error("relay", "--drain", expect=1))
        self.assertIn("outrider migrate up", self.error("status", expect=1))
        self.assertIn("outrider migrate up", self.error("enqueue", "orders.x", expect=1))
        self.run_outrider("relay", "--drain", "--migrate")
        self.assertTrue(self.json("migrate", "status")["up_to_date"])


class Relay(CliTest):
    def setUp(self):
        super().setUp()
        self.out("migrate", "up")

    def test_a_signal_stops_it_in_order(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            relay = self.start("relay")
            before = len(self.lines())
            self.out("enqueue", "orders.x", "a")
            wait_until(lambda: len(self.lines()) > before, "the message arrives")
            wait_until(lambda: self.status()["relay_running"], "the relay holds its lanes")
            relay.send_signal(number)
            _, log = relay.communicate(timeout=PATIENCE)
            self.assertEqual(relay.returncode, 0, log)
            self.assertIn("msg=serving destination=orders", log)
            self.assertIn('msg="relay stopped"', log)

    def test_an_idle_relay_stops_at_once(self):
        relay = self.start("relay")
        wait_until(lambda: self.status()["relay_running"], "the relay holds its lanes")
        relay.send_signal(signal.SIGTERM)
        relay.communicate(timeout=PATIENCE)
        self.assertEqual(relay.returncode, 0)

    def test_a_second_relay_stands_by_and_takes_over(self):
        first = self.start("relay")
        wait_until(lambda: self.status()["relay_running"], "the first holds the lanes")
        second = self.start("relay")
        first.send_signal(signal.SIGKILL)
        first.wait(timeout=PATIENCE)
        self.out("enqueue", "orders.x", "a")
        wait_until(lambda: len(self.lines()) == 1, "the second delivers")
        second.send_signal(signal.SIGTERM)
        second.communicate(timeout=PATIENCE)
        self.assertEqual(second.returncode, 0)

    def test_the_service_manager_is_told(self):
        path = str(self.folder / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(path)
            listener.settimeout(PATIENCE)
            relay = self.start("relay", environment={"NOTIFY_SOCKET": path})
            self.assertEqual(listener.recv(100), b"READY=1")
            relay.send_signal(signal.SIGTERM)
            self.assertEqual(listener.recv(100), b"STOPPING=1")
            relay.communicate(timeout=PATIENCE)
            self.assertEqual(relay.returncode, 0)

    def test_no_destinations_is_worth_a_warning(self):
        self.write("empty.toml", '[store]\nurl = "sqlite:shop.db"\n')
        log = self.error("relay", "--drain", "--config", "empty.toml")
        self.assertIn("level=warning", log)

    def test_logs_can_be_json(self):
        log = self.error("relay", "--drain", "--log-format", "json")
        for line in log.splitlines():
            self.assertLessEqual({"time", "level", "msg"}, json.loads(line).keys())
        self.assertEqual(self.error("relay", "--drain", "--log-level", "error"), "")

    def test_a_drain_has_a_time_limit(self):
        self.out("enqueue", "orders.x", "a")
        full = ["--set", "destination.orders.broker=file:/dev/full"]
        log = self.error("relay", "--drain", "--timeout", "5s", *full, expect=4)
        self.assertIn("circuit open", log)
        self.assertIn("No space left", log)
        self.assertEqual((self.status()["circuit"], self.status()["pending"]), ("open", 1))
        self.assertIn("No space left", self.out("status"))
        self.run_outrider("relay", "--drain")
        wait_until(lambda: self.status()["circuit"] == "closed", "the circuit is closed")

    def start_stuck_relay(self, *words):
        """A relay whose broker waits for a lock that we hold, and the file that is locked."""
        self.out("enqueue", "orders.x", "a")
        file = open(self.folder / "orders.jsonl", "a")
        self.addCleanup(file.close)
        fcntl.flock(file, fcntl.LOCK_EX)
        relay = self.start("relay", *words)
        path = os.path.realpath(self.folder / "orders.jsonl")
        wait_until(lambda: has_open(relay.pid, path), "the broker has opened its file")
        return relay, file

    def test_a_stop_that_takes_too_long_is_cut_short(self):
        relay, _ = self.start_stuck_relay("--set", "relay.stop_deadline=200ms")
        relay.send_signal(signal.SIGTERM)
        _, log = relay.communicate(timeout=PATIENCE)
        self.assertEqual(relay.returncode, 1)
        self.assertIn("relay.stop_deadline", log)

    def wait_for_the_stop(self, relay):
        while "msg=stopping" not in relay.stderr.readline():
            self.assertIsNone(relay.poll())

    def test_a_later_signal_cuts_the_stop_short(self):
        relay, _ = self.start_stuck_relay()
        relay.send_signal(signal.SIGTERM)
        self.wait_for_the_stop(relay)

        def is_over():
            relay.send_signal(signal.SIGTERM)  # those of the first second do not count
            return relay.poll() is not None

        wait_until(is_over, "the relay has ended itself")
        _, log = relay.communicate(timeout=PATIENCE)
        self.assertEqual(relay.returncode, 1)
        self.assertIn("second signal", log)

    def test_two_signals_at_once_are_one(self):
        relay, file = self.start_stuck_relay()
        relay.send_signal(signal.SIGSTOP)  # so that both are there before it sees either
        relay.send_signal(signal.SIGTERM)
        relay.send_signal(signal.SIGINT)
        relay.send_signal(signal.SIGCONT)
        self.wait_for_the_stop(relay)
        fcntl.flock(file, fcntl.LOCK_UN)
        _, log = relay.communicate(timeout=PATIENCE)
        self.assertEqual(relay.returncode, 0, log)
        self.assertIn('msg="relay stopped"', log)

    def test_a_drain_stops_at_a_paused_destination(self):
        self.run_outrider("relay", "--drain")
        self.out("destination", "pause", "orders")
        self.run_outrider("relay", "--drain")
        self.out("enqueue", "orders.x", "a")
        self.assertIn("resume", self.error("relay", "--drain", expect=1))
        self.assertIn("paused", self.out("status"))
        self.out("destination", "resume", "orders")
        self.run_outrider("relay", "--drain")
        self.assertEqual(len(self.lines()), 1)


class Replay(CliTest):
    def setUp(self):
        super().setUp()
        self.out("migrate", "up")
        for number in range(3):
            self.out("enqueue", "orders.x", str(number), "--key", "k")
        self.out("enqueue", "orders.y", "other", "--key", "j")
        self.run_outrider("relay", "--drain")

    def payloads(self, key=None):
        return [line["payload"] for line in self.lines() if key in (None, line["key"])]

    def test_history_is_sent_once_more(self):
        words = ("replay", "--destination", "orders", "--from", "2", "--key", "k")
        self.assertEqual(
            self.json(*words, "--dry-run"), {"matched": 2, "replayed": 0, "dry_run": True}
        )
        self.assertIn("add --yes", self.error(*words, expect=2))
        self.assertIn("sending 2 messages to 'orders'", self.out(*words, "--yes"))
        self.out("enqueue", "orders.x", "new", "--key", "k")
        self.run_outrider("relay", "--drain")
        self.assertEqual(self.payloads("k"), ["0", "1", "2", "1", "2", "new"])
        self.assertEqual(self.payloads("j"), ["other"])
        if self.in_one_order:
            self.assertEqual(self.payloads(), ["0", "1", "2", "other", "1", "2", "new"])

    def test_a_beginning_that_cannot_be_is_refused(self):
        for start in (str(2**63), str(2**64 - 1), "2026-02-31T00:00:00Z", "2026-11-15T12:00:00+99:99", ""):
            self.assertIn("--from", self.error("replay", "--destination", "orders", f"--from={start}", expect=2))

    def test_it_begins_at_a_moment(self):
        words = ("replay", "--destination", "orders", "--yes", "--json")
        self.assertEqual(json.loads(self.out(*words, "--from=-1h", "--topic", "*.y"))["replayed"], 1)
        self.error(*words, "--from", "2100-01-01T00:00:00Z", expect=5)
        self.assertIn("2026-11-15T12:00:00Z", self.error(*words, "--from", "noon", expect=2))
        self.assertIn("nobody", self.error("replay", "--destination", "nobody", "--from", "1", expect=5))

    def test_a_replay_under_a_relay_that_is_killed_loses_nothing(self):
        relay = self.start("relay")
        self.out("replay", "--destination", "orders", "--from", "1", "--yes")
        for _ in range(3):
            relay.kill()
            relay.communicate()
            relay = self.start("relay")
        relay.kill()
        relay.communicate()
        self.wait_for_the_dead()
        self.run_outrider("relay", "--drain")
        self.assertEqual(self.status()["parked"], 0)
        counts = [self.payloads().count(one) for one in ("0", "1", "2", "other")]
        self.assertGreaterEqual(min(counts), 2)


class Doctor(CliTest):
    def test_it_says_what_to_do_and_exits_4(self):
        self.out("migrate", "up")
        self.assertIn("all is well", self.out("doctor"))
        cause, code = self.fault
        self.execute(cause)
        self.assertIn(f"fault {code}", self.out("doctor", expect=4))
        document = self.json("doctor", expect=4)
        self.assertFalse(document["healthy"])
        self.assertEqual([one["code"] for one in document["findings"]], [code])
        self.assertLessEqual({"gravity", "code", "what", "advice"}, document["findings"][0].keys())

    def test_it_looks_at_destinations_too(self):
        self.out("migrate", "up")
        self.out("enqueue", "stray", "x")
        self.assertIn("hint unrouted", self.out("doctor"))
        self.insert_old_message()
        self.assertIn("fault unserved", self.out("doctor", expect=4))

    def test_a_missing_migration_is_found(self):
        self.execute("create table mine (x int)")
        self.assertIn("fault migration", self.out("doctor", expect=4))

    def test_a_store_at_home_has_nothing_to_adopt(self):
        self.out("migrate", "up")
        adoption = self.json("adopt", "--yes")
        self.assertEqual(adoption, {"was_foreign": False, "carried_over": 0, "follows_promotions": False})


class DeadLetters(CliTest):
    def setUp(self):
        super().setUp()
        self.out("migrate", "up")
        self.ids = [
            self.out("enqueue", "orders.large", "x" * 100, "--key", "k1"),
            self.out("enqueue", "orders.huge", "y" * 200),
        ]
        self.out("enqueue", "orders.small", "z")
        self.run_outrider(
            "relay", "--drain", "--set", "destination.orders.payload_bytes_max=50", expect=3
        )

    def test_they_are_listed_with_stable_names(self):
        self.assertEqual([line["payload"] for line in self.lines()], ["z"])
        listed = self.json("dead", "list")
        self.assertEqual(listed, sorted(listed, key=lambda letter: letter["died_at"]))
        letters = listed if self.in_one_order else sorted(listed, key=lambda letter: letter["id"])
        self.assertEqual([letter["id"] for letter in letters], self.ids)
        for name in ("id", "destination", "topic", "key", "attempts", "error", "died_at"):
            self.assertIn(name, letters[0])
        self.assertEqual((letters[0]["key"], letters[1]["key"]), ("k1", None))
        self.assertRegex(letters[0]["died_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertIn(self.ids[0], self.out("dead", "list"))
        self.assertIn("the oldest 1: --limit N for more", self.out("dead", "list", "--limit", "1"))
        for flags, count in (
            (["--topic", "orders.l*"], 1), (["--key", "k1"], 1), (["--topic", "x"], 0),
            (["--limit", "1"], 1), (["--destination", "orders"], 2),
        ):
            self.assertEqual(len(self.json("dead", "list", *flags)), count, flags)
        self.assertEqual(self.status()["dead"], 2)

    def test_a_destination_that_nobody_knows_is_a_mistake(self):
        for words in (["list"], ["replay", "--yes"], ["discard", "--yes"]):
            error = self.error("dead", *words, "--destination", "ordres", expect=5)
            self.assertIn("no destination 'ordres' is known to the store, only orders; did you mean", error)
        new = ["--set", "destination.new.broker=file:new.jsonl", "--destination", "new"]
        self.assertEqual(self.json("dead", "list", *new), [])

    def test_one_is_shown_with_its_payload(self):
        (letter,) = self.json("dead", "show", self.ids[0])
        self.assertEqual(letter["payload"], "x" * 100)
        self.assertIn("x" * 100, self.out("dead", "show", self.ids[0]))
        self.run_outrider("dead", "show", "00000000-0000-4000-8000-000000000000", expect=5)
        self.run_outrider("dead", "show", "nonsense", expect=2)

    def test_replay_sends_them_again_under_the_same_id(self):
        self.assertEqual(
            self.json("dead", "replay", "--all", "--dry-run"),
            {"matched": 2, "replayed": 0, "dry_run": True},
        )
        self.assertIn("--yes", self.error("dead", "replay", "--all", expect=2))
        self.run_outrider("dead", "replay", expect=2)
        unknown = "00000000-0000-4000-8000-000000000000"
        self.assertIn(unknown, self.error("dead", "replay", self.ids[1], unknown, expect=5))
        self.assertEqual(self.json("dead", "replay", self.ids[1])["replayed"], 1)
        self.assertEqual(self.json("dead", "replay", "--all", "--yes")["replayed"], 1)
        self.run_outrider("dead", "replay", "--all", "--yes", expect=5)
        self.run_outrider("relay", "--drain")
        self.assertEqual({line["id"] for line in self.lines()[1:]}, set(self.ids))
        self.assertEqual(self.status()["dead"], 0)

    def test_discard_removes_them(self):
        self.assertEqual(self.json("dead", "discard", *self.ids)["discarded"], 2)
        self.assertEqual(self.json("dead", "list"), [])
        self.run_outrider("dead", "discard", "--topic", "*", "--yes", expect=5)
        self.run_outrider("relay", "--drain")

    def test_the_log_names_them_without_payload_or_key(self):
        secret_key = "customer-4711"
        identifier = self.out("enqueue", "orders.large", "s3cret" * 20, "--key", secret_key)
        log = self.error(
            "relay", "--drain", "--set", "destination.orders.payload_bytes_max=50", expect=3
        )
        self.assertIn(identifier, log)
        self.assertNotIn("s3cret", log)
        self.assertNotIn(secret_key, log)

    def test_control_characters_do_not_reach_the_terminal(self):
        self.execute(f"update {self.tables}dead set topic = 'a' || {self.escape} || '[2Jb'")
        self.assertNotIn("\x1b", self.out("dead", "list"))
        self.assertNotIn("\x1b", self.out("dead", "show", self.ids[0]))

    def test_a_terminal_is_asked(self):
        leader, follower = pty.openpty()
        with os.fdopen(leader, "wb", buffering=0) as keyboard:
            for answer, code in ((b"n\n", 1), (b"y\n", 0)):
                process = children.start(
                    self, [BINARY, "dead", "replay", "--all"], cwd=self.folder, env=clean_environment(),
                    stdin=follower, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
                keyboard.write(answer)
                self.assertEqual(process.wait(timeout=PATIENCE), code)
        os.close(follower)


class Destinations(CliTest):
    def setUp(self):
        super().setUp()
        self.out("migrate", "up")
        self.run_outrider("relay", "--drain")

    def test_list_pause_resume_forget(self):
        (one,) = self.json("destination", "list")
        self.assertEqual((one["name"], one["paused"], one["configured"]), ("orders", False, True))
        self.assertEqual(self.json("destination", "pause", "orders"), {"name": "orders", "paused": True})
        self.assertTrue(self.status()["paused"])
        self.out("destination", "resume", "orders")
        self.assertFalse(self.status()["paused"])
        self.assertIn("orders", self.out("destination", "list"))
        self.assertIn("--yes", self.error("destination", "forget", "orders", expect=2))
        self.out("destination", "forget", "orders", "--yes")
        self.assertEqual(self.json("destination", "list"), [])
        self.assertIn("did you mean", self.error_after_relay("destination", "pause", "ordres"))

    def error_after_relay(self, *words):
        self.run_outrider("relay", "--drain")
        return self.error(*words, expect=5)

    def test_one_that_is_served_is_not_forgotten(self):
        relay = self.start("relay")
        wait_until(lambda: self.status()["relay_running"], "the relay holds its lanes")
        self.assertIn("stop it", self.error("destination", "forget", "orders", "--yes", expect=1))
        relay.send_signal(signal.SIGTERM)
        relay.communicate(timeout=PATIENCE)

    def test_status_is_a_probe(self):
        self.run_outrider("status", "--max-age", "1s")
        self.out("destination", "pause", "orders")
        self.insert_old_message()
        self.run_outrider("status", "--max-age", "1h", expect=4)
        self.assertGreater(self.status()["oldest_pending_seconds"], 3600)
        self.run_outrider("status", "--max-age", "often", expect=2)


class OnPostgres(CliTest):
    """A database of its own for each case, all on one server."""

    server = None
    databases = 0
    tables = "outrider."
    long_ago = "to_timestamp(1)"
    escape = "chr(27)"
    in_one_order = False
    fault = ("alter sequence outrider.seq cache 20", "sequence_cache")

    @classmethod
    def setUpClass(cls):
        if os.environ.get("OUTRIDER_POSTGRES") == "0":
            raise unittest.SkipTest("this build has no PostgreSQL")
        if OnPostgres.server is None:
            OnPostgres.server = Server()
            unittest.addModuleCleanup(OnPostgres.server.close)

    def make_database(self, *options):
        OnPostgres.databases += 1
        name = f"shop_{OnPostgres.databases}"
        self.assertIsNotNone(self.server.query(" ".join(["create database", name, *options])))
        return name

    def make_store(self):
        self.database = self.make_database()
        return self.server.url_of(self.database)

    def execute(self, sql):
        self.assertIsNotNone(self.server.query(sql, self.database), sql)

    def wait_for_the_dead(self):
        """The server ends the sessions of a process that was killed when it comes to it."""
        sessions = f"select count(*) from pg_stat_activity where datname = '{self.database}'"
        wait_until(lambda: self.server.query(sessions) == "0", "the server has ended the sessions")


class ReplayOnPostgres(OnPostgres, Replay):
    pass


class DeadLettersOnPostgres(OnPostgres, DeadLetters):
    pass


class DestinationsOnPostgres(OnPostgres, Destinations):
    pass


class DoctorOnPostgres(OnPostgres, Doctor):
    def test_a_copy_is_relayed_once_it_is_adopted(self):
        self.out("migrate", "up")
        self.out("enqueue", "orders.x", "done")
        self.run_outrider("relay", "--drain")
        self.out("enqueue", "orders.x", "pending")
        copy = ["--store", self.server.url_of(self.make_database("template", self.database))]
        self.assertIn("outrider adopt", self.error("relay", "--drain", *copy, expect=1))
        self.assertIn("outrider adopt", self.out("doctor", *copy, expect=4))
        self.assertIn("--yes", self.error("adopt", *copy, expect=2))
        said = self.out("adopt", "--yes", "--follow-promotions", *copy)
        self.assertIn("adopted; 1 messages", said)
        self.assertIn("later promotions", said)
        adoption = self.json("adopt", "--yes", *copy)
        self.assertEqual(adoption, {"was_foreign": False, "carried_over": 0, "follows_promotions": True})
        self.run_outrider("relay", "--drain", *copy)
        self.assertEqual([line["payload"] for line in self.lines()], ["done", "pending"])
        self.assertIn("all is well", self.out("doctor", *copy))


class Configuration(CliTest):
    def problems(self, text, *words, environment=None):
        self.write("outrider.toml", text)
        return self.error("config", "check", *words, expect=2, environment=environment)

    def test_mistakes_are_told_with_place_and_nearest_name(self):
        for text, expected in (
            ('[store]\nulr = "sqlite:a"\n', "outrider.toml:2:1: unknown key 'store.ulr'; did you mean"),
            ("[store\n", "outrider.toml:1:7: not valid TOML"),
            ('[store]\nurl = "shop.db"\n', "outrider.toml:2:1: 'shop.db' is no URL"),
            ('[store]\nurl = "mysql://u:hunter2@h/d"\n', "this build has no driver for 'mysql'"),
            ('[store]\nurl = "sqlit:a"\n', "did you mean 'sqlite'?"),
            ('[store]\nurl = "sqlite://a/b"\n', "write sqlite:///absolute/path"),
            ('[store]\nurl = "sqlite:file:a"\n', "outrider.toml:2:1: 'sqlite:file:a' has a second scheme: write"),
            ('[store]\nurl = "sqlite:///nowhere/a.db"\n', "outrider.toml:2:1: the folder '/nowhere' does"),
            ('[store]\nurl = "sqlite:a"\nwake = "poll"\n', "are for PostgreSQL"),
            ('[store]\nurl = "postgres://h/d"\nwake = "pol"\n', "did you mean 'poll'?"),
            ('[store]\nurl = "postgres://h/d"\nschema = "a\\"b"\n', "letters, digits and underscores"),
            ('[store]\nurl = "postgres://h/d"\nlanes = 0\n', "outrider.toml:3:1"),
            ('[store]\nurl = "postgres://h/d"\nlanes = 12\n', "one of 1, 2, 4, 8, 16"),
            ("", "no store is configured"),
        ):
            error = self.problems(text)
            self.assertIn(expected, error)
            self.assertTrue(error.startswith("outrider: "), error)
            self.assertNotIn("hunter2", error)

    def test_only_the_cause_is_told(self):
        for text, expected in (
            ("[store\n", "outrider.toml:1:7: not valid TOML"),
            ('[stroe]\nurl = "sqlite:a"\n', "outrider.toml:1:2: unknown table 'stroe'; did you mean 'store'?"),
            ("[store]\nurl = 1\n", "outrider.toml:2:1: store.url: expected a URL"),
            ('[store]\nulr = "sqlite:a"\n', "outrider.toml:2:1: unknown key 'store.ulr'"),
        ):
            error = self.problems(text)
            self.assertIn(expected, error)
            self.assertEqual(error.count("outrider: "), 1, error)
        self.assertEqual(self.error("status", "--config", "missing.toml", expect=2).count("outrider: "), 1)
        self.write("outrider.toml", "")
        for words, environment in ((["--set", "store.ulr=sqlite:a"], {}), ([], {"OUTRIDER_STORE_ULR": "sqlite:a"})):
            error = self.error("config", "check", *words, environment=environment, expect=2)
            self.assertEqual(error.count("outrider: "), 1, error)
            self.assertIn("did you mean", error)
        self.assertIn("no store is configured", self.problems('[relay]\nretention = "x"\n'))

    def test_the_store_s_own_keys_are_found_where_they_are(self):
        if os.environ.get("OUTRIDER_POSTGRES") == "0":
            self.skipTest("this build has no PostgreSQL")
        start = '[store]\nurl = "postgres://h/d"\nlayout = "table"\n'
        (error,) = self.problems(start + '[store.table]\npreset = "outbox"\n').splitlines()
        self.assertIn("outrider.toml:5:1: store.table.preset: there is no 'outbox'", error)
        (error,) = self.problems(start + '[store.table]\npreset = "efcore"\nsettle = "x"\n').splitlines()
        self.assertIn("outrider.toml:6:1: store.table.settle", error)
        for error in self.problems(start).splitlines():
            self.assertIn("outrider.toml:3:1: store.table.", error)
        for text, place in (
            ('url = "postgres://h/d"\n[store.table]\npreset = "efcore"\n', "4:1: [store.table] is for layout"),
            ('url = "sqlite:a"\nwake = "poll"\n', "3:1: store.schema"),
            ('url = "sqlite:a"\n[store.table]\npreset = "efcore"\n', "4:1: store.schema"),
            ('url = "postgres://h/d"\nschema = "a b"\n', "3:1: "),
        ):
            self.assertIn("outrider.toml:" + place, self.problems("[store]\n" + text))

    def test_brokers_are_checked(self):
        for url, expected in (
            ("kafka://u:hunter2@h?wrong=1", "outrider.toml:6:1: unknown parameter wrong"),
            ("handler:", "embedded"),
            ("file:///nowhere/x.jsonl", "outrider.toml:6:1: the folder '/nowhere' does not exist"),
            ("file:.", "is a folder"),
            ("file:shop.db", "outrider.toml:6:1: that file is the store itself: name another"),
            ("file:./shop.db-wal", "that file is the store itself"),
            ("fiel:x", "unknown scheme 'fiel': expected one of file:, stdout:, null:"),
            ("stdout:x", "write stdout:"),
            ("null:x", "write null:"),
        ):
            error = self.problems(CONFIG.replace("file:orders.jsonl", url))
            self.assertIn(expected, error)
            self.assertNotIn("hunter2", error)
            self.run_outrider("relay", expect=2)

    def test_a_missing_folder_of_a_broker_does_not_blind_the_operator(self):
        self.out("migrate", "up")
        self.write("outrider.toml", CONFIG.replace("file:orders.jsonl", "file:///nowhere/x"))
        self.run_outrider("status")

    def test_folders_that_cannot_be_written_are_refused(self):
        os.mkdir(self.folder / "closed", 0o555)
        os.chmod(self.folder, 0o777)
        self.write("outrider.toml", CONFIG.replace("file:", "file:closed/"))
        done = subprocess.run(
            [BINARY, "config", "check"], cwd=self.folder, env=clean_environment(),
            capture_output=True, text=True, timeout=PATIENCE,
            user=65534 if os.geteuid() == 0 else None,  # root may write everywhere
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("outrider.toml:6:1: the folder 'closed' cannot be written", done.stderr)

    def test_every_source_is_named(self):
        self.assertIn(
            "environment variable OUTRIDER_RELAY_RETENTION: relay.retention: expected a duration",
            self.problems(CONFIG, environment={"OUTRIDER_RELAY_RETENTION": "soon"}),
        )
        self.assertIn("--set relay.retention: ", self.problems(CONFIG, "--set", "relay.retention=x"))
        self.assertIn("--log-level: ", self.problems(CONFIG, "--log-level", "loud"))
        self.assertIn("KEY=VALUE", self.problems(CONFIG, "--set", "relay"))
        result = self.json("config", "check", "--set", "relay.retention=x", expect=2)
        self.assertEqual((result["ok"], len(result["problems"])), (False, 1))

    def test_file_variable_and_flag(self):
        self.write("other.toml", CONFIG + '[relay]\nretention = "1d"\n')

        def retention(*words, environment=None):
            return self.json("config", "print", *words, environment=environment)["relay"]["retention"]

        self.assertEqual(retention(), "7d")
        self.assertEqual(retention("--config", "other.toml"), "1d")
        other = {"OUTRIDER_CONFIG": "other.toml"}
        self.assertEqual(retention(environment=other), "1d")
        self.assertEqual(retention(environment={**other, "OUTRIDER_RELAY_RETENTION": "2d"}), "2d")
        self.assertEqual(
            retention("--set", "relay.retention=3d", environment={"OUTRIDER_RELAY_RETENTION": "2d"}), "3d"
        )
        self.assertIn("missing.toml", self.error("config", "check", "--config", "missing.toml", expect=2))

    def test_services_around_a_container_are_no_settings(self):
        services = {
            "OUTRIDER_RELAY_SERVICE_HOST": "10.0.0.1", "OUTRIDER_RELAY_SERVICE_PORT": "80",
            "OUTRIDER_RELAY_SERVICE_PORT_HTTP": "80", "OUTRIDER_STORE_PORT": "tcp://10.0.0.1:80",
            "OUTRIDER_DESTINATION_ORDERS_PORT_80_TCP_ADDR": "10.0.0.1",
        }
        self.out("config", "check", environment=services)
        self.assertIn("OUTRIDER_RELAY_PORTS", self.problems(CONFIG, environment={"OUTRIDER_RELAY_PORTS": "80"}))

    def test_every_key_is_documented(self):
        """docs/configuration.md has a row for each key of the binary, and for no other."""
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "configuration.md"
        told = [
            tuple(cell.strip() for cell in line.strip("|").split("|"))
            for line in page.read_text().splitlines()
            if re.match(r"\| `[a-z_.]+` \|", line)
        ]
        known = [
            (f"`{one['key']}`", "" if one["default"] is None else f"`{json.dumps(one['default'])}`",
             one["values"], one["meaning"])
            for one in self.json("config", "print", "--all")
        ]
        self.assertGreater(len(known), 50)
        self.assertEqual(sorted(told), sorted(known))

    def test_every_key_is_explained_in_a_file_that_changes_nothing(self):
        text = self.out("config", "print", "--all")
        self.assertIn('# How often an idle relay looks into the store unasked. (a duration, at least 1ms)\n'
                      '#idle_poll = "1s"\n', text)
        before = self.out("config", "print")
        self.write("outrider.toml", CONFIG + text)
        self.assertEqual(self.out("config", "print"), before)
        # Each line can be taken as it stands.
        lines = [line[1:] if re.match(r"#[\[a-z]", line) else line for line in text.splitlines()]
        self.write("whole.toml", "\n".join(lines))
        broker = {"OUTRIDER_DESTINATION_ORDERS_BROKER": "file:orders.jsonl"}
        error = self.error("config", "print", "--config", "whole.toml", "--store", "sqlite:a", environment=broker,
                           expect=2)
        self.assertEqual(error.count("\n"), 2, error)
        self.assertIn("are for PostgreSQL", error)
        self.assertIn("form of its own", error)

    def test_the_store_of_the_platform_is_the_last_resort(self):
        self.write("outrider.toml", "")
        platform = {"DATABASE_URL": "sqlite:platform.db"}

        def store(*words, **more):
            return self.json("config", "print", *words, environment={**platform, **more})["store"]["url"]

        self.assertEqual(store(), "sqlite:platform.db")
        self.assertEqual(store(OUTRIDER_STORE_URL="sqlite:ours.db"), "sqlite:ours.db")
        self.assertEqual(store("--store", "sqlite:flag.db"), "sqlite:flag.db")
        self.write("outrider.toml", CONFIG)
        self.assertEqual(store(), "sqlite:shop.db")
        self.assertIn("else DATABASE_URL", self.out("--help"))

    def test_secrets_never_appear(self):
        canary = "c4n4ry"
        url = f"mysql://shop:{canary}@db/shop?password={canary}"
        broker = {"OUTRIDER_DESTINATION_ORDERS_BROKER": f"amqp://u:{canary}@h/?token={canary}"}
        for words in (["config", "print"], ["config", "print", "--json"], ["config", "check"],
                      ["relay"], ["status"], ["migrate", "up"], ["enqueue", "a", "b"]):
            done = self.run_outrider(*words, "--store", url, environment=broker, expect=2)
            self.assertNotIn(canary, done.stdout + done.stderr)
        self.assertIn("***", self.run_outrider("config", "print", "--store", url, expect=2).stdout)
        if os.environ.get("OUTRIDER_POSTGRES") == "0":
            return
        away = f"postgres://shop:{canary}@127.0.0.1:1/shop"
        for words in (["status"], ["enqueue", "a", "b"], ["migrate", "up"]):
            done = self.run_outrider(*words, "--store", away, expect=6)
            self.assertNotIn(canary, done.stdout + done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertNotIn("?", done.stderr)

    def test_paths_may_be_encoded(self):
        self.out("migrate", "up", "--store", "sqlite:my%20shop.db")
        self.assertTrue((self.folder / "my shop.db").exists())
        self.out("migrate", "up", "--store", f"sqlite://{self.folder}/other.db")
        self.assertTrue((self.folder / "other.db").exists())


class CommandLine(CliTest):
    def test_an_empty_value_does_not_take_the_next_word(self):
        self.out("migrate", "up")
        self.out("enqueue", "--key=", "orders.placed", "1")
        self.out("relay", "--drain")
        self.assertEqual([line["topic"] for line in self.lines()], ["orders.placed"])

    def test_a_store_that_cannot_be_read_is_not_well(self):
        self.out("migrate", "up")
        self.execute(f"alter table {self.tables}destination rename to elsewhere")
        self.error("status", expect=1)
        self.assertRegex(self.out("doctor", expect=4), "(?m)^fault unreadable: ")

    def test_an_empty_value_does_not_mean_everything(self):
        for words in (["dead", "discard", "--topic", "", "--yes"], ["dead", "list", "--destination="],
                      ["replay", "--destination", "orders", "--from=-1h", "--topic", "", "--yes"],
                      ["status", "--max-age", ""], ["status", "--store", ""], ["status", "--config="]):
            with self.subTest(words=words):
                self.assertIn(": the value is empty: ", self.error(*words, expect=2))

    def test_a_time_limit_is_one_of_a_drain(self):
        self.assertIn("--drain", self.error("relay", "--timeout", "3s", expect=2))

    def test_a_count_is_a_whole_number_from_1_on(self):
        for words in (["dead", "list", "--limit"], ["dead", "replay", "--limit"], ["demo", "--seconds"]):
            for count in ("0", "-1", "abc", "1.5", "9" * 30, ""):
                self.assertEqual(
                    self.error(*words, count, expect=2),
                    f"outrider: {words[-1]}: expected a whole number from 1 on, not '{count}': "
                    f"see 'outrider {' '.join(words[:-1])} --help'\n",
                )

    def test_exit_codes(self):
        self.run_outrider(expect=2)
        self.assertIn("did you mean 'status'?", self.error("statsu", expect=2))
        self.assertIn("did you mean '--json'?", self.error("status", "--jsno", expect=2))
        self.assertIn("outrider migrate up", self.error("status", expect=6))
        self.write("shop.db", "this is not a database, and long enough to be looked at" * 100)
        self.run_outrider("status", expect=6)

    def test_help_has_examples_and_exit_codes(self):
        text = self.out("--help")
        self.assertIn("Exit codes:", text)
        self.assertIn("Examples:", text)
        for verb in ("migrate", "enqueue", "relay", "status", "dead", "destination", "config", "demo"):
            self.assertIn(verb, text)
            self.assertRegex(self.out(verb, "--help"), "Examples?:")
        self.assertNotIn("Exit codes:", self.out("version", "--help"))

    def test_version(self):
        version = self.json("version")
        self.assertRegex(version["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("sqlite", version["stores"])
        self.assertIn("file", version["brokers"])
        self.assertIn("outrider ", self.out("version"))
        self.assertEqual(self.out("--version"), f"outrider {version['version']}")

    def test_migrate_print_needs_no_database(self):
        text = self.out("migrate", "print")
        self.assertFalse((self.folder / "shop.db").exists())
        database = sqlite3.connect(self.folder / "shop.db")
        database.executescript(text)
        database.close()
        self.assertIn("nothing to do", self.out("migrate", "up"))

    def complete(self, *words):
        self.write("completion.bash", self.out("completion", "bash"))
        script = (
            "source completion.bash; COMP_WORDS=(outrider " + " ".join(f"'{word}'" for word in words)
            + "); COMP_CWORD=${#COMP_WORDS[@]}; ((COMP_CWORD--)); _outrider; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", script], cwd=self.folder, capture_output=True, text=True,
            timeout=PATIENCE, check=True,
        )
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_really_completes(self):
        self.assertEqual(self.complete("st"), ["status"])
        self.assertEqual(self.complete("dead", "re"), ["replay"])
        self.assertEqual(self.complete("--config", "x", "destination", "pa"), ["pause"])
        self.assertLessEqual({"list", "show", "replay", "discard"}, set(self.complete("dead", "")))
        self.assertLessEqual({"--drain", "--json", "--config"}, set(self.complete("relay", "--")))
        self.assertEqual(self.complete("status", "--config", "outr"), ["outrider.toml"])

    def test_other_shells_get_theirs(self):
        self.assertTrue(self.out("completion", "zsh").startswith("#compdef outrider"))
        self.assertIn("complete -c outrider", self.out("completion", "fish"))
        self.assertIn("bash, zsh or fish", self.error("completion", "csh", expect=2))
        for shell in ("zsh", "fish"):
            if shutil.which(shell):
                self.write("script", self.out("completion", shell))
                subprocess.run([shell, "-n", "script"], cwd=self.folder, check=True, timeout=PATIENCE)

    def test_tables_have_no_colour_when_piped(self):
        self.out("migrate", "up")
        self.assertIsNone(re.search("\x1b", self.out("status")))



def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def closed_port():
    """A port of this machine that nobody listens on: taken, so that nobody else gets it, and never opened."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return taken


class DestinationTest(CliTest):
    """outrider destination test, and brokers that are not there."""

    SCHEMES = ("redis", "nats", "amqp", "kafka", "mqtt", "http")

    def away(self, scheme):
        taken = closed_port()
        self.addCleanup(taken.close)
        login = "" if scheme == "redis" else "me:opensesame@"
        options = "/?allow_private=true" if scheme == "http" else ""
        return f"destination.orders.broker={scheme}://{login}127.0.0.1:{taken.getsockname()[1]}{options}"

    def test_it_says_what_the_broker_is_and_publishes_only_on_request(self):
        found = self.json("destination", "test", "orders")
        self.assertEqual(found["broker"], "file:orders.jsonl")
        self.assertIs(found["connected"], True)
        self.assertIn("file", found["server"])
        self.assertIn("synced to disk", found["durability"])
        self.assertIsNone(found["probe"])
        self.assertIn("synced to disk", self.out("destination", "test", "orders"))
        self.assertEqual(self.lines(), [])
        self.assertIn("--topic", self.error("destination", "test", "orders", "--publish", expect=2))
        self.assertIn("--publish", self.error("destination", "test", "orders", "--topic", "x", expect=2))
        self.assertEqual(self.lines(), [])
        probe = self.json("destination", "test", "orders", "--publish", "--topic", "orders.x")["probe"]
        self.assertEqual(probe["verdict"], "acknowledged")
        (line,) = self.lines()
        self.assertEqual((line["id"], line["topic"], line["type"]), (probe["id"], "orders.x", "outrider.probe"))

    def test_it_has_exit_codes_for_scripts(self):
        self.assertIn("did you mean 'orders'", self.error("destination", "test", "ordres", expect=5))
        full = ["--set", "destination.orders.broker=file:/dev/full", "--publish", "--topic", "orders.x"]
        found = self.json("destination", "test", "orders", *full, expect=1)
        self.assertEqual(found["probe"]["verdict"], "unanswered")
        self.assertIn("No space left", found["error"])

    def test_it_says_that_a_broker_is_away(self):
        for scheme in self.SCHEMES:
            found = self.json("destination", "test", "orders", "--set", self.away(scheme), expect=6)
            self.assertIs(found["connected"], False, scheme)
            self.assertTrue(found["error"], scheme)
            self.assertNotIn("opensesame", json.dumps(found))

    def test_the_doctor_asks_servers_and_leaves_files_alone(self):
        self.out("migrate", "up")
        self.assertIn("all is well", self.out("doctor"))
        self.assertFalse((self.folder / "orders.jsonl").exists())
        for scheme in self.SCHEMES:
            (finding,) = self.json("doctor", "--set", self.away(scheme), expect=4)["findings"]
            self.assertEqual((finding["gravity"], finding["code"]), ("fault", "broker"), scheme)
            self.assertIn("'orders'", finding["what"])
            self.assertNotIn("opensesame", json.dumps(finding))
        wrong = ["--set", "destination.orders.broker=redis://127.0.0.1/x"]
        self.assertIn("number", self.out("doctor", *wrong, expect=4))

    def test_a_redis_that_evicts_is_reported(self):
        self.out("migrate", "up")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        limits = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]
        children.start(self, ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", *limits],
                       cwd=self.folder, stdout=subprocess.DEVNULL)
        wait_until(lambda: listens(int(port)), "redis-server listens")
        url = f"destination.orders.broker=redis://127.0.0.1:{port}"
        self.assertIn("fault broker: ", self.out("doctor", "--set", url, expect=4))
        self.assertIn("allkeys-lru", self.json("destination", "test", "orders", "--set", url, expect=6)["error"])
        url += "?allow_eviction=true"
        (finding,) = self.json("doctor", "--set", url, expect=4)["findings"]
        self.assertEqual((finding["gravity"], finding["code"]), ("warning", "broker_risk"))
        self.assertIn("allkeys-lru", finding["what"])
        self.assertIn("allkeys-lru", self.json("destination", "test", "orders", "--set", url)["risk"])
        self.assertIn("risk         this Redis evicts", self.out("destination", "test", "orders", "--set", url))

    def test_a_broker_that_is_down_when_the_relay_starts_is_no_error(self):
        self.out("migrate", "up")
        self.out("enqueue", "orders.x", "a")
        for scheme in self.SCHEMES:
            relay = self.start("relay", "--set", self.away(scheme))
            wait_until(lambda: self.status()["circuit"] == "open", f"{scheme}: the circuit is open")
            status = self.status()
            self.assertTrue(status["circuit_reason"], scheme)
            self.assertEqual((status["pending"], status["dead"], status["parked"]), (1, 0, 0))
            self.assertIsNone(relay.poll())
            relay.send_signal(signal.SIGTERM)
            _, log = relay.communicate(timeout=PATIENCE)
            self.assertEqual(relay.returncode, 0, log)
            self.assertIn("circuit open", log)
            self.assertNotIn("opensesame", log)
            self.run_outrider("relay", "--drain")
            wait_until(lambda: self.status()["circuit"] == "closed", "the circuit is closed")
            self.out("enqueue", "orders.x", "a")

    def test_why_messages_are_refused_is_said_everywhere(self):
        class Busy(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.send_error(429, "come back later")

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"destination.orders.broker=http://127.0.0.1:{server.server_address[1]}/?allow_private=true"
        self.out("migrate", "up")
        self.out("enqueue", "orders.x", "a")
        relay = self.start("relay", "--set", url)
        wait_until(lambda: self.status()["parked"] == 1, "the message is parked")
        relay.send_signal(signal.SIGTERM)
        _, log = relay.communicate(timeout=PATIENCE)
        (told,) = [line for line in log.splitlines() if "refused, and will be tried again" in line]
        self.assertIn("429", told)
        self.assertIn("429", self.status()["parked_reason"])
        self.assertIn("429", self.out("status"))
        (finding,) = self.json("doctor", expect=4)["findings"]
        self.assertEqual((finding["gravity"], finding["code"]), ("warning", "refused"))

    def test_the_form_of_messages_is_said_by_keys_of_the_destination(self):
        in_url = ["--set", "destination.orders.broker=redis://127.0.0.1:1?target=x"]
        self.assertIn("write target as a key", self.error("config", "check", *in_url, expect=2))
        slip = ["--set", "destination.orders.broker=redis://127.0.0.1:1?maxlne=5"]
        answer = self.error("config", "check", *slip, expect=2)
        self.assertIn("did you mean 'maxlen'?", answer)
        self.assertNotIn("target", answer)
        by_key = ["--set", "destination.orders.broker=nats://127.0.0.1:1"]
        self.out("config", "check", *by_key, "--set", "destination.orders.target=shop.{topic}")
        wrong = self.error("config", "check", *by_key, "--set", "destination.orders.target={x}", expect=2)
        self.assertIn("{x}", wrong)
        on_file = self.error("config", "check", "--set", "destination.orders.format=cloudevents-binary", expect=2)
        self.assertIn("form of its own", on_file)


if __name__ == "__main__":
    unittest.main()
