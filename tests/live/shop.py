"""Writers that share keys: concurrent transactions of psycopg2 on one PostgreSQL database. What was committed stands in
a table of their own, written in the same transactions, so that it is known whatever happens to an answer."""

import contextlib
import json
import random
import threading
import time
import uuid

import psycopg2

INSERT = "insert into outrider.message (id, topic, key, payload) values (%s, 'orders.placed', %s, %s)"


class Shop:
    """The tables of an application."""

    rolled_back = ()  # what a transaction of ours did not commit is simply not in the truth

    def __init__(self, server, keys=40):
        self.server = server
        self.keys = keys
        connection = self.connect()
        with connection, connection.cursor() as cursor:
            cursor.execute("create table counter (key text primary key, n int not null)")
            cursor.execute("create table truth (id text primary key, key text not null, n int not null)")
            cursor.execute("insert into counter select 'key-' || g, 0 from generate_series(1, %s) g", (keys,))
        connection.close()

    def connect(self):
        return psycopg2.connect(host=self.server.folder, user="postgres", dbname="postgres")

    @property
    def committed(self):
        """id -> (key, position), as the checker wants it."""
        connection = self.connect()
        with connection, connection.cursor() as cursor:
            cursor.execute("select id, key, n from truth")
            rows = cursor.fetchall()
        connection.close()
        return {message: (key, n) for message, key, n in rows}


class Clerk(threading.Thread):
    """Writes until told to finish, reconnecting when the server is away: early ids, savepoints, rollbacks, several keys
    to a transaction, some serializable, some in two phases."""

    def __init__(self, shop, number, pause=0.0, rollbacks=0.15):
        """`pause`: seconds between transactions, at most; `rollbacks`: their share."""
        super().__init__(daemon=True)
        self.shop = shop
        self.number = number
        self.pause = pause
        self.rollbacks = rollbacks
        self.dice = random.Random(number)
        self.ending = threading.Event()
        self.failure = None
        self.prepared = 0
        self.lost_connections = 0
        self.longest_insert = 0.0  # seconds, of a message: the statement and its answer

    def run(self):
        connection = None
        while not self.ending.is_set():
            try:
                connection = connection or self.connect()
                self.transaction(connection)
                time.sleep(self.pause * self.dice.random())
            except (psycopg2.OperationalError, psycopg2.InterfaceError) as exception:
                if self.may_try_again(connection, exception):
                    continue
                connection = None
                self.lost_connections += 1
                time.sleep(0.05)
            except Exception as exception:  # pylint: disable=broad-except
                self.failure = exception
                return
        if connection:
            connection.close()

    def connect(self):
        """What was prepared and not ended when the connection was lost is committed now."""
        connection = self.shop.connect()
        for prepared in connection.tpc_recover():
            if prepared.gtrid.startswith(f"clerk-{self.number}-"):
                connection.tpc_commit(prepared)
        connection.rollback()
        return connection

    @staticmethod
    def may_try_again(connection, exception):
        """A deadlock or a serialization failure leaves the connection as it was, unless it is in two phases."""
        if connection is None or connection.closed or exception.pgcode not in ("40001", "40P01"):
            return False
        with contextlib.suppress(psycopg2.Error):  # lost meanwhile, or in two phases
            connection.rollback()
            return True
        connection.close()
        return False

    def transaction(self, connection):
        serializable = self.dice.random() < 0.1
        connection.set_session(isolation_level="SERIALIZABLE" if serializable else "READ COMMITTED")
        in_two_phases = self.dice.random() < 0.05
        if in_two_phases:
            self.prepared += 1
            connection.tpc_begin(connection.xid(0, f"clerk-{self.number}-{self.prepared}", "x"))
        with connection.cursor() as cursor:
            if in_two_phases:
                cursor.execute("set local outrider.bell = off")
            if self.dice.random() < 0.5:
                cursor.execute("select pg_current_xact_id()")
            if self.dice.random() < 0.3:
                time.sleep(self.dice.random() * 0.02)
            keys = self.dice.sample(range(1, self.shop.keys + 1), self.dice.choice([1, 1, 2, 5]))
            for key in sorted(keys):  # in order, so that nobody locks the other out
                self.write(cursor, f"key-{key}")
        rolls_back = self.dice.random() < self.rollbacks
        if in_two_phases:
            connection.tpc_prepare()
            (connection.tpc_rollback if rolls_back else connection.tpc_commit)()
        else:
            (connection.rollback if rolls_back else connection.commit)()

    def write(self, cursor, key):
        """The row lock of what the key stands for, then the message."""
        undone = self.dice.random() < 0.2
        if undone:
            cursor.execute("savepoint s")
        cursor.execute("update counter set n = n + 1 where key = %s returning n", (key,))
        position = cursor.fetchone()[0]
        message = str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
        self.insert(cursor, message, key, position)
        cursor.execute("insert into truth values (%s, %s, %s)", (message, key, position))
        if undone:
            cursor.execute("rollback to s")

    def insert(self, cursor, message, key, position):
        start = time.monotonic()
        cursor.execute(INSERT, (message, key, json.dumps({"position": position})))
        self.longest_insert = max(self.longest_insert, time.monotonic() - start)

    def finish(self):
        self.ending.set()
        self.join()
        self.connect().close()
        if self.failure:
            raise self.failure
