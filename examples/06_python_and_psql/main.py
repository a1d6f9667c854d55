"""The same enqueue from Python and from psql: one statement in the transaction that writes the order.

    main.py    the PG... variables of the environment say where the database is"""

import json
import subprocess

import psycopg2

shop = psycopg2.connect("")

# Python: a plain INSERT, and the function for those who like names.
with shop, shop.cursor() as cursor:  # commits at its end, rolls back on an exception
    cursor.execute("insert into orders values (1, 'ada')")
    cursor.execute(
        "insert into outrider.message (topic, key, type, payload) values (%s, %s, %s, %s)",
        ("orders", "ada", "order.placed.v1", json.dumps({"order": 1})),
    )
with shop, shop.cursor() as cursor:
    cursor.execute("insert into orders values (2, 'ada')")
    cursor.execute(
        "select outrider.enqueue('orders', %s::jsonb, key => 'ada', type => 'order.placed.v1')",
        (json.dumps({"order": 2}),),
    )
try:
    with shop, shop.cursor() as cursor:
        cursor.execute("select outrider.enqueue('orders', %s::jsonb, key => 'bob')", ('{"order": 3}',))
        cursor.execute("insert into orders values (1, 'bob')")  # there is an order 1 already
except psycopg2.IntegrityError:
    print("bob's order failed, and its message with it")
shop.close()

# psql: a script, a cron job, somebody's terminal.
subprocess.run(
    ["psql", "-qXAt", "-v", "ON_ERROR_STOP=1"], check=True, text=True, stdout=subprocess.DEVNULL,
    input="""
begin;
insert into orders values (4, 'ada');
select outrider.enqueue('orders', '{"order": 4}'::jsonb, key => 'ada', type => 'order.placed.v1');
commit;
""",
)
