"""Relay processes on the outbox tables that people have, as they are: killed at random while writers write, two that
want one row, a change-over to the log while everybody goes on. Nothing may be lost, invented or reordered."""

import json
import os
import random
import subprocess
import time
import unittest

from harness import BIN, Relay, children, free_port, run, wait_until
from postgres import Server
from tables import SCHEMAS, Outbox, TableWriter, Verdict

SANITIZED = os.environ.get("SANITIZED") == "1"
KILLS = int(os.environ.get("TABLE_KILLS", "5" if SANITIZED else "25"))


class Redis:
    """A Redis server of our own on a free port, in memory only."""

    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            children.tied(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                           "--appendonly", "no"]),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        wait_until("redis to answer", lambda: self.ask("PING") == "PONG")

    def ask(self, *words):
        done = subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True)
        return done.stdout.strip()

    def close(self):
        self.process.kill()
        self.process.wait()


class TableKill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def outbox(self, schema, **options):
        outbox = Outbox(self.server, schema, **options)
        self.addCleanup(outbox.close)
        return outbox

    def for_every_schema(self, check):
        for schema in SCHEMAS:
            with self.subTest(preset=schema.preset):
                check(schema)
                self.doCleanups()

    def definition(self, schema):
        """Columns, constraints, indexes and triggers, as the catalogue has them."""
        name = schema.table
        of = f"= '{schema.table}'::regclass"
        return self.server.query(
            "select (select string_agg(attname || ' ' || atttypid::regtype || attnotnull, ',' order by attnum) "
            f"from pg_attribute where attrelid {of}), "
            f"(select string_agg(conname, ',' order by conname) from pg_constraint where conrelid {of}), "
            f"(select string_agg(indexrelid::regclass::text, ',') from pg_index where indrelid {of}), "
            f"(select count(*) from pg_trigger where tgrelid {of}), "
            "(select count(*) from pg_namespace where nspname = 'outrider')"
        )

    def test_relays_killed_at_random(self):
        self.for_every_schema(self.kill_relays)

    def kill_relays(self, schema):
        dice = random.Random(5)
        outbox = self.outbox(schema)
        before = self.definition(schema)
        self.assertTrue(before)
        writers = [TableWriter(outbox, i) for i in range(2)]
        for writer in writers:
            writer.start()
        relays = [Relay(outbox), Relay(outbox)]
        for _ in range(KILLS):
            time.sleep(dice.uniform(0, 0.08))
            victim = dice.randrange(2)
            relays[victim].kill()
            relays[victim] = Relay(outbox)
        for writer in writers:
            writer.finish()
        for relay in relays:
            self.assertEqual(relay.stop(), 0, relay.text())
        outbox.drain()
        verdict = Verdict(outbox, writers, outbox.lines())
        print(f"\n  {schema.preset}: {KILLS} kills of two, {verdict.committed} committed, "
              f"{verdict.duplicates} repeated", flush=True)
        self.assertGreater(verdict.committed, 0)
        verdict.expect_good(self, KILLS * outbox.batch * 2)
        self.assertEqual(outbox.pending(), 0)
        self.assertEqual(self.definition(schema), before, "the table is as it was")

    def test_two_processes_want_one_row(self):
        self.for_every_schema(self.want_one_row)

    def want_one_row(self, schema):
        """Two relays drain side by side; each row is delivered by one of them."""
        outbox = self.outbox(schema)
        writer = TableWriter(outbox, 1)
        script = [schema.insert(writer.next_id(), f"key-{i % 7}", "{}") for i in range(200)]
        self.server.query(" ".join(script))
        command = [BIN, "relay", "--drain", "--timeout", "60s", "--config", outbox.config]
        drains = [subprocess.Popen(children.tied(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                  for _ in range(2)]
        self.assertEqual([drain.wait(timeout=90) for drain in drains], [0, 0])
        ids = [line["id"] for line in outbox.lines()]
        self.assertEqual(len(ids), 200)
        self.assertEqual(len(set(ids)), 200, "delivered twice")
        self.assertEqual(outbox.pending(), 0)

    def test_a_real_broker_gets_every_table_as_it_is(self):
        self.redis = Redis()
        try:
            self.for_every_schema(self.relay_to_redis)
        finally:
            self.redis.close()

    def relay_to_redis(self, schema):
        outbox = self.outbox(schema, broker=f"redis://127.0.0.1:{self.redis.port}")
        before = self.definition(schema)
        writer = TableWriter(outbox, 1)
        messages = [writer.next_id() for _ in range(50)]
        self.server.query(" ".join(schema.insert(message, "a", json.dumps({"m": message})) for message in messages))
        self.redis.ask("FLUSHALL")
        outbox.drain()
        said = self.redis.ask("XRANGE", "orders.placed", "-", "+").split("\n")
        ids = [said[i + 1] for i, word in enumerate(said) if word == "outrider-id"]
        payloads = [json.loads(said[i + 1]) for i, word in enumerate(said) if word == "payload"]
        self.assertEqual(payloads, [{"m": message} for message in ids])
        # Two workers deliver, so only a key has an order.
        self.assertEqual(ids if schema.keyed else sorted(ids), messages, "all of them, once, in order")
        self.assertEqual(outbox.pending(), 0)
        self.assertEqual(self.definition(schema), before, "the table is as it was")

    def test_status_dispatch_and_mistakes(self):
        schema = SCHEMAS[2]
        outbox = self.outbox(schema)
        writer = TableWriter(outbox, 1)
        first = writer.next_id()
        self.server.query(schema.insert(first, "a", "{}"))
        self.server.query(schema.insert(writer.next_id(), "a", "{}"))
        status = json.loads(run("status", "--json", "--config", outbox.config).stdout)
        self.assertEqual(status["destinations"][0]["pending"], 2)
        self.assertEqual(run("dispatch", first, "--config", outbox.config).stdout, f"{first} delivered\n")
        self.assertEqual(run("dispatch", first, "--config", outbox.config).stdout, f"{first} gone\n")
        gone = json.loads(run("dispatch", first, "--json", "--config", outbox.config).stdout)
        self.assertEqual(gone, {"id": first, "outcome": "gone", "error": None})
        wrong = run("dispatch", "nonsense", first, "--config", outbox.config, check=False)
        self.assertEqual(wrong.returncode, 2, wrong.stdout)
        self.assertIn("nonsense invalid: ", wrong.stdout)
        self.assertIn(f"{first} gone\n", wrong.stdout)
        wrong = run("dispatch", first, "--destination", "nope", "--config", outbox.config, check=False)
        self.assertEqual(wrong.returncode, 5)
        self.assertIn("no destination 'nope' is configured, only orders", wrong.stderr)
        self.assertIn("create index concurrently", run("migrate", "print", "--config", outbox.config).stdout)
        advice = run("migrate", "up", "--config", outbox.config).stdout
        self.assertIn("create index concurrently", advice)
        self.assertIn("overtaken", advice)
        wrong = run("relay", "--set", "store.table.error=nowhere", "--config", outbox.config, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn('no column "nowhere"', wrong.stderr)
        wrong = run("relay", "--set", "store.table.preset=efcor", "--config", outbox.config, check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("efcore", wrong.stderr)
        self.assertIn("there is nothing to adopt", run("adopt", "--yes", "--config", outbox.config).stdout)
        wrong = run("destination", "pause", "orders", "--config", outbox.config, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("existing table", wrong.stderr)

    def test_a_dead_row_has_no_time_of_death(self):
        schema = SCHEMAS[5]
        outbox = self.outbox(schema)
        self.server.query(schema.insert(TableWriter(outbox, 1).next_id(), "a", "{}"))
        self.server.query(f"update {schema.table} set status = 'DEAD', attempts = 7")
        letter = json.loads(run("dead", "list", "--json", "--config", outbox.config).stdout)[0]
        self.assertIsNone(letter["died_at"])
        self.assertIsNotNone(letter["occurred_at"])
        listed = run("dead", "list", "--config", outbox.config).stdout.split("\n")[1].split()
        self.assertEqual(listed[4:6], ["7", "-"], "attempts, and no time")

    def test_a_count_that_was_cut_is_shown_as_such(self):
        outbox = self.outbox(SCHEMAS[1])
        self.server.query("insert into outbox_events select i, 'orders.placed', i, '{}', 'PENDING', now() "
                          "from generate_series(1, 100001) i")
        self.assertIn(" 100000+ ", run("status", "--config", outbox.config).stdout)
        status = json.loads(run("status", "--json", "--config", outbox.config).stdout)["destinations"][0]
        self.assertEqual((status["pending"], status["count_max"]), (100000, 100000))
        self.server.query("delete from outbox_events where id::int > 99999")
        self.assertIn(" 99999 ", run("status", "--config", outbox.config).stdout)

    def test_a_drain_ends_where_rows_only_wait(self):
        """Refused where no column says so; not due; behind a dead row that holds its key."""
        large = ["--set", "destination.orders.payload_bytes_max=1000"]
        self.drain_what_waits(SCHEMAS[1], ["a", "b"], large)
        self.drain_what_waits(SCHEMAS[5], ["b"], [], "available_at = now() + interval '1 day'")
        self.drain_what_waits(SCHEMAS[5], ["b"], [*large, "--set", "destination.orders.after_death=hold"])

    def drain_what_waits(self, schema, delivered, arguments, change="status = status"):
        """Three rows: the first of key a, another of key a, one of key b."""
        outbox = self.outbox(schema)
        writer = TableWriter(outbox, 1)
        first = schema.insert(writer.next_id(), "a", json.dumps("x" * 2000))
        behind, free = (schema.insert(writer.next_id(), key, "{}") for key in "ab")
        self.server.query(f"{first} update {schema.table} set {change}; {behind} {free}")
        done = run("relay", "--drain", "--timeout", "30s", "--config", outbox.config, *arguments, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(sorted(line["key"] for line in outbox.lines()), delivered)
        self.doCleanups()

    def test_a_change_over_to_the_log_while_everybody_goes_on(self):
        self.for_every_schema(self.change_over)

    def change_over(self, schema):
        outbox = self.outbox(schema)
        self.addCleanup(self.server.query, "drop schema if exists outrider cascade")
        writers = [TableWriter(outbox, i) for i in range(2)]
        for writer in writers:
            writer.start()
        old = Relay(outbox)
        wait_until("some deliveries from the table", lambda: len(outbox.lines()) > 20)
        done = run("import", "--yes", "--json", "--config", outbox.config)
        self.assertTrue(json.loads(done.stdout)["forwards"])
        reached = max(writer.count for writer in writers)
        new_config = os.path.join(outbox.folder.name, "log.toml")
        with open(outbox.config, encoding="utf-8") as file:
            text = file.read().replace('layout = "table"\n', "").replace(
                f'[store.table]\npreset = "{schema.preset}"\n', "")
        with open(new_config, "w", encoding="utf-8") as file:
            file.write(text)
        wait_until("rows written after the change-over", lambda: max(writer.count for writer in writers) > reached + 20)
        for writer in writers:
            writer.finish()
        self.assertEqual(old.stop(), 0)
        self.assertEqual(outbox.pending(), 0, "the trigger has settled what it forwarded")
        run("relay", "--drain", "--timeout", "60s", "--config", new_config)
        verdict = Verdict(outbox, writers, outbox.lines())
        verdict.expect_good(self, 0)


if __name__ == "__main__":
    unittest.main()
