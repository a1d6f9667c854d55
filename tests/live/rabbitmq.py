"""A RabbitMQ server of our own: folder, ports, node name and port mapper (epmd) are its own, so that several can run
side by side."""

import os
import signal
import socket
import subprocess
import tempfile

from harness import children, free_port, wait_until


class Broker:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="outrider-rabbit-")
        with open(os.path.join(self.folder, "plugins"), "w", encoding="utf-8") as file:
            file.write("[].\n")
        self.process = None
        self.epmd = None
        self.port = None
        for _ in range(5):
            self.choose_ports()
            if self.start():
                return
            self.kill()
        raise AssertionError(f"rabbitmq-server does not start: {self.log()}")

    def choose_ports(self):
        self.end_epmd()
        self.port, self.dist_port, self.epmd_port = free_port(), free_port(), free_port()
        with open(os.path.join(self.folder, "rabbit.conf"), "w", encoding="utf-8") as file:
            file.write(f"listeners.tcp.1 = 127.0.0.1:{self.port}\ndisk_free_limit.absolute = 1MB\n")
        # In the foreground, so that it ends with us; RabbitMQ would leave one behind.
        self.epmd = subprocess.Popen(
            children.tied(["epmd", "-port", str(self.epmd_port), "-address", "127.0.0.1"]),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def environment(self):
        return os.environ | {
            "HOME": self.folder,
            "RABBITMQ_NODENAME": f"outrider{self.port}@localhost",
            "RABBITMQ_MNESIA_BASE": f"{self.folder}/mnesia",
            "RABBITMQ_LOG_BASE": f"{self.folder}/logs",
            "RABBITMQ_CONFIG_FILE": f"{self.folder}/rabbit.conf",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.folder}/plugins",
            "RABBITMQ_PID_FILE": f"{self.folder}/pid",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_DIST_PORT": str(self.dist_port),
            "ERL_EPMD_PORT": str(self.epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
        }

    def launch(self):
        """Starts it, and does not wait."""
        with open(os.path.join(self.folder, "log"), "ab") as log:
            # Not the wrapper in the path, which insists on a user of its own.
            self.process = subprocess.Popen(
                children.tied(["/usr/lib/rabbitmq/bin/rabbitmq-server"]), env=self.environment(), stdout=log,
                stderr=log, start_new_session=True,
            )

    def start(self):
        """Whether it came up."""
        self.launch()
        wait_until("RabbitMQ", lambda: self.process.poll() is not None or self.answers(), 300)
        return self.process.poll() is None

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as one:
                one.sendall(b"AMQP\x00\x00\x09\x01")
                return one.recv(1) == b"\x01"
        except OSError:
            return False

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()[-2000:]

    @property
    def url(self):
        return f"amqp://guest:guest@127.0.0.1:{self.port}"

    def kill(self):
        """The whole group, at once."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def end_epmd(self):
        if self.epmd:
            self.epmd.kill()
            self.epmd.wait()

    def close(self):
        self.kill()
        self.end_epmd()
        subprocess.run(["rm", "-rf", self.folder], check=False)
