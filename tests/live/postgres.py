"""A PostgreSQL server of our own, and writers that speak to it through psql: another language, plain INSERTs."""

import contextlib
import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile

from harness import Writer, children, wait_until


class Server:
    """In a temporary folder, reached by a socket there, so that any number may run. OUTRIDER_PG_BIN names the folder of
    its programs, else the newest of Debian's. `settings`: further lines for postgresql.conf."""

    def __init__(self, settings=""):
        self.folder = tempfile.mkdtemp(prefix="outrider-pg-")
        self.programs = os.environ.get("OUTRIDER_PG_BIN") or max(glob.glob("/usr/lib/postgresql/*/bin"))
        self.data = os.path.join(self.folder, "data")
        self.user = "postgres" if os.getuid() == 0 else None  # PostgreSQL refuses to run as root
        if self.user:
            os.chown(self.folder, pwd.getpwnam("postgres").pw_uid, -1)
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--no-sync")
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write(
                f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\nmax_connections = 200\n{settings}\n"
            )
        self.process = None
        self.start()

    def command(self, program, *arguments, by="KILL"):
        return children.tied([os.path.join(self.programs, program), *arguments], by, self.user)

    def run(self, program, *arguments):
        subprocess.run(
            self.command(program, *arguments), check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
        )

    def start(self):
        wait_until("the server to answer", self.comes_up)

    def comes_up(self):
        """Right after a kill the old server's children may still be there, and a new one gives up: then once more."""
        if self.process is None or self.process.poll() is not None:
            with open(os.path.join(self.folder, "server.log"), "ab") as log:
                self.process = subprocess.Popen(
                    self.command("postgres", "-D", self.data, by="QUIT"), stdout=log, stderr=log, cwd=self.folder
                )
        return self.query("select 1") == "1"

    def query(self, sql, database="postgres"):
        done = subprocess.run(self.psql("-Atc", sql, database=database), capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    # Debian's client, which speaks to any server, and not the script that looks for it: tests ask often.
    def psql(self, *arguments, database="postgres"):
        client = max(glob.glob("/usr/lib/postgresql/*/bin/psql"), default="psql")
        return [client, "-X", "-h", self.folder, "-U", "postgres", *arguments, database]

    def url_of(self, database):
        return f"postgres://postgres@/{database}?host={self.folder}&connect_timeout=60"

    @property
    def url(self):
        return self.url_of("postgres")

    def stop(self, how=signal.SIGINT):
        """SIGINT: sessions are ended; SIGQUIT: as in a crash."""
        self.process.send_signal(how)
        self.process.wait()

    def kill(self):
        """Kills every process of the server at once, so that nobody is left to end in order."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            everyone = [pid, *map(int, file.read().split())]
        for one in everyone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


class PsqlWriter(Writer):
    """Writes through one psql. What was committed is learnt from psql's own answer."""

    def __init__(self, server, number, keys=6, seed=1):
        super().__init__(number, keys, seed)
        self.server = server

    @contextlib.contextmanager
    def connect(self):
        psql = subprocess.Popen(
            children.tied(self.server.psql("-qAt", "-v", "ON_ERROR_STOP=1")),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        yield psql
        psql.communicate()

    def end(self, psql, script, written):
        """Runs the statements as one transaction, which is committed or rolled back."""
        commits = self.commits()
        script += ["commit;" if commits else "rollback;", "select 'over';\n"]
        psql.stdin.write("\n".join(script))
        psql.stdin.flush()
        if psql.stdout.readline().strip() != "over":
            raise AssertionError("psql did not answer")
        self.ended(commits, written)


class LogWriter(PsqlWriter):
    """Plain INSERTs into Outrider's log, in transactions with early ids, savepoints and pauses."""

    def transaction(self, connection):
        written = {}
        script = ["begin;"]
        if self.dice.random() < 0.5:
            script.append("select pg_current_xact_id() \\g /dev/null")
        for key in self.dice.sample(self.keys, self.dice.randint(1, 3)):
            undone = self.dice.random() < 0.1
            message = self.next_id()
            position = self.positions[key] + 1
            insert = (
                "insert into outrider.message (id, topic, key, payload) values "
                f"('{message}', 'orders.placed', '{key}', '{json.dumps({'position': position})}');"
            )
            script += ["savepoint s;", insert, "rollback to s;"] if undone else [insert]
            if undone:
                self.rolled_back.add(message)
            else:
                written[message] = (key, position)
        if self.dice.random() < 0.05:
            script.append(f"select pg_sleep({self.dice.random() * 0.1}) \\g /dev/null")
        self.end(connection, script, written)
