"""The outbox tables that people have, each made from its own documentation, and writers that fill them through
psql."""

import collections
import json
import os
import tempfile
import uuid

from harness import run
from postgres import PsqlWriter


class Schema:
    """One such table: how it is made, and the columns of a row in the order id, created, topic, key, payload."""

    def __init__(self, preset, table, definition, columns, pending, keyed=True):
        self.preset = preset
        self.table = table
        self.definition = definition
        self.columns = columns
        self.pending = pending
        self.keyed = keyed

    def insert(self, message, key, payload):
        """The statement for one row; the table's own clock gives it its place."""
        values = {"id": f"'{message}'", "created": "clock_timestamp()", "topic": "'orders.placed'",
                  "key": f"'{key}'", "payload": f"'{payload}'", "other": "'shop'"}
        names = ", ".join(self.columns.values())
        return f"insert into {self.table} ({names}) values ({', '.join(values[what] for what in self.columns)});"


SCHEMAS = [
    Schema(
        "outbox-messages", "outbox_messages",
        "create table outbox_messages (id uuid primary key, occurred_on timestamptz not null, type text not null, "
        "payload jsonb not null, processed_on timestamptz null, retry_count int not null default 0)",
        {"id": "id", "created": "occurred_on", "topic": "type", "payload": "payload"},
        "processed_on is null", keyed=False),
    Schema(
        "outbox-events", "outbox_events",
        "create table outbox_events (id text primary key, event_type varchar(255) not null, aggregate_id varchar(255) "
        "not null, payload text not null, status varchar(20) not null default 'PENDING', created_at timestamptz)",
        {"id": "id", "topic": "event_type", "key": "aggregate_id", "payload": "payload", "created": "created_at"},
        "status = 'PENDING'"),
    Schema(
        "efcore", '"OutboxMessages"',
        'create table "OutboxMessages" ("Id" uuid not null primary key, "OrderId" text, "EventType" text not null, '
        '"Payload" text not null, "CreatedAt" timestamptz not null, "ProcessedAt" timestamptz, "Processed" boolean not '
        'null default false, "RetryCount" integer not null default 0, "Error" text)',
        {"id": '"Id"', "key": '"OrderId"', "topic": '"EventType"', "payload": '"Payload"', "created": '"CreatedAt"'},
        '"Processed" is not true'),
    Schema(
        "onward", '"Onwrd"."Events"',
        'create schema "Onwrd"; create table "Onwrd"."Events" ("Id" uuid not null primary key, "CreatedOn" timestamp '
        'not null, "DispatchedOn" timestamp(6) null, "TypeId" text not null, "Contents" text not null, "AssemblyName" '
        "text not null)",
        {"id": '"Id"', "created": '"CreatedOn"', "topic": '"TypeId"', "payload": '"Contents"',
         "other": '"AssemblyName"'},
        '"DispatchedOn" is null', keyed=False),
    Schema(
        "debezium", "outboxevent",
        "create table outboxevent (id uuid not null primary key, aggregatetype varchar(255) not null, aggregateid "
        "varchar(255) not null, type varchar(255) not null, payload jsonb)",
        {"id": "id", "other": "aggregatetype", "key": "aggregateid", "topic": "type", "payload": "payload"},
        "true"),
    Schema(
        "open-outbox", "openoutbox_events",
        "create table openoutbox_events (event_id uuid primary key, event_type text not null, partition_key text, "
        "payload bytea not null, headers jsonb not null default '{}', status text not null default 'PENDING', attempts "
        "int not null default 0, last_error text, available_at timestamptz not null default now(), locked_by text, "
        "locked_at timestamptz, delivered_at timestamptz, created_at timestamptz not null default now(), updated_at "
        "timestamptz not null default now(), check (status in ('PENDING', 'DELIVERING', 'DELIVERED', 'DEAD')))",
        {"id": "event_id", "topic": "event_type", "key": "partition_key", "payload": "payload",
         "created": "created_at"},
        "status = 'PENDING'"),
]


class Outbox:
    """One table on a server, the configuration of a relay for it, and the file it delivers to. The members that
    harness.Relay and harness.Verdict use are called as in harness.World."""

    def __init__(self, server, schema, batch=50, workers=2, broker=None):
        self.server = server
        self.schema = schema
        self.batch = batch
        self.relays = []  # all that were ever started here
        self.folder = tempfile.TemporaryDirectory(prefix="outrider-table-")
        self.delivered = os.path.join(self.folder.name, "delivered.jsonl")
        self.config = os.path.join(self.folder.name, "outrider.toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                f'[store]\nurl = "{server.url}"\nlayout = "table"\n[store.table]\npreset = "{schema.preset}"\n'
                f'[[destination]]\nname = "orders"\nbroker = "{broker or "file://" + self.delivered}"\n'
                f'workers = {workers}\n[destination.batch]\nmessages = {batch}\n'
            )
        server.query(schema.definition)

    def lines(self):
        if not os.path.exists(self.delivered):
            return []
        with open(self.delivered, "rb") as file:
            return [json.loads(line) for line in file.read().split(b"\n")[:-1]]

    def pending(self):
        return int(self.server.query(f"select count(*) from {self.schema.table} where {self.schema.pending}"))

    def drain(self, *arguments):
        return run("relay", "--drain", "--timeout", "60s", "--config", self.config, *arguments)

    def close(self):
        """Ends what still runs, a failed test included."""
        for relay in self.relays:
            relay.kill()
        self.server.query(f"drop table {self.schema.table}")
        self.server.query('drop schema if exists "Onwrd"')
        self.folder.cleanup()


class TableWriter(PsqlWriter):
    """Transactions of a few rows each into one such table."""

    def __init__(self, outbox, number, keys=6, seed=1):
        super().__init__(outbox.server, number, keys, seed)
        self.schema = outbox.schema
        self.count = 0

    def next_id(self):
        """Rising within a writer, since a table without a time is in the order of its ids."""
        self.count += 1
        return str(uuid.UUID(int=(self.count << 64) | self.dice.getrandbits(62) | (2 << 62)))

    def transaction(self, connection):
        written = {}
        positions = self.positions.copy()
        script = ["begin;"]
        for key in self.dice.choices(self.keys, k=self.dice.randint(1, 4)):
            positions[key] += 1
            message = self.next_id()
            script.append(self.schema.insert(message, key, json.dumps({"position": positions[key], "key": key})))
            written[message] = (key, positions[key])
        self.end(connection, script, written)


class Verdict:
    """Compares what writers committed with what arrived: nothing lost, nothing invented, order per key where the table
    has one."""

    def __init__(self, outbox, writers, lines):
        committed = {}
        for writer in writers:
            committed.update(writer.committed)
        seen = set()
        last = collections.defaultdict(int)
        self.duplicates = 0
        self.phantoms = []
        self.disorder = []
        for line in lines:
            if line["id"] in seen:
                self.duplicates += 1
                continue
            seen.add(line["id"])
            if line["id"] not in committed:
                self.phantoms.append(line["id"])
                continue
            key, position = committed[line["id"]]
            payload = json.loads(line["payload"])
            if payload != {"position": position, "key": key} or line.get("key", key) != key:
                self.phantoms.append(line)
            if outbox.schema.keyed and position != last[key] + 1:
                self.disorder.append((key, last[key], position))
            last[key] = position
        self.committed = len(committed)
        self.lost = sorted(set(committed) - seen)

    def expect_good(self, test, duplicates_max):
        test.assertEqual(self.lost[:5], [], f"{len(self.lost)} of {self.committed} lost")
        test.assertEqual(self.phantoms[:5], [], "phantoms, or keys and payloads changed")
        test.assertEqual(self.disorder[:5], [], "out of order per key")
        test.assertLessEqual(self.duplicates, duplicates_max, "more repeats than were in flight")

