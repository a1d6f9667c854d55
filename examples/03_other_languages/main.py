"""Any language that speaks SQL can enqueue: a plain INSERT, in the transaction that writes the business row."""

import json
import sqlite3
import subprocess
import sys

outrider = sys.argv[1] if len(sys.argv) > 1 else "outrider"
store = ["--store", "sqlite:shop.db"]
subprocess.run([outrider, "migrate", "up", *store], check=True, stdout=subprocess.DEVNULL)

shop = sqlite3.connect("shop.db", isolation_level=None)
shop.execute("create table orders (id integer primary key, customer text)")
for customer, happens in (("ada", True), ("bob", False), ("ada", True)):
    shop.execute("begin immediate")
    order = shop.execute("insert into orders (customer) values (?)", (customer,)).lastrowid
    shop.execute(
        "insert into outrider_message (topic, key, payload) values (?, ?, ?)",
        ("orders.placed", customer, json.dumps({"order": order})),
    )
    shop.execute("commit" if happens else "rollback")

subprocess.run(
    [outrider, "relay", "--drain", *store, "--set", "destination.orders.broker=file:orders.jsonl"],
    check=True, stderr=subprocess.DEVNULL,
)
for line in open("orders.jsonl", encoding="utf-8"):
    message = json.loads(line)
    print(message["topic"], message["key"], message["payload"])
