"""A Kafka of its own for an example that is run as a test: one node, in a temporary folder, gone at the end."""

import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
from children import tied  # noqa: E402
from ports import free_port  # noqa: E402

PATIENCE = 120  # seconds; a Java machine on a busy computer

PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
num.partitions=4
offsets.topic.replication.factor=1
"""


def java(libraries, *words):
    """Ends with the program that started it, however that ends."""
    options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{libraries}/libs/*"]
    return tied(["java", *options, *words])


def answers(address):
    asked = subprocess.run(["kcat", "-L", "-b", address, "-m", "1"], capture_output=True, check=False)
    return asked.returncode == 0


def wait_for(kafka, address, log):
    deadline = time.monotonic() + PATIENCE
    while not answers(address):
        if kafka.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"Kafka does not start: {pathlib.Path(log).read_text(encoding='utf-8')}")
        time.sleep(0.1)


def create(address, topic):
    """Whoever asks a broker for a topic in this way gets it, if it was not there."""
    deadline = time.monotonic() + PATIENCE
    ask = ["kcat", "-L", "-b", address, "-t", topic, "-X", "allow.auto.create.topics=true"]
    while "4 partitions" not in subprocess.run(ask, capture_output=True, text=True, check=False).stdout:
        if time.monotonic() > deadline:
            raise RuntimeError(f"Kafka does not create {topic}")
        time.sleep(0.1)


@contextlib.contextmanager
def kafka(libraries, topic):
    """The address of a broker that has this topic. `libraries`: the folder that tools/kafka.sh has filled."""
    with tempfile.TemporaryDirectory(prefix="outrider-kafka-") as folder:
        port, controller = free_port(), free_port()
        properties = pathlib.Path(folder, "server.properties")
        properties.write_text(
            PROPERTIES.format(port=port, controller=controller, folder=folder), encoding="utf-8"
        )
        with open(f"{folder}/log", "wb") as log:
            subprocess.run(
                java(libraries, "kafka.tools.StorageTool", "format", "-t", "b3V0cmlkZXItdGVzdHMtMQ", "-c", properties),
                stdout=log, stderr=log, check=True, timeout=PATIENCE,
            )
            running = subprocess.Popen(java(libraries, "kafka.Kafka", properties), stdout=log, stderr=log)
        try:
            wait_for(running, f"127.0.0.1:{port}", f"{folder}/log")
            create(f"127.0.0.1:{port}", topic)
            yield f"127.0.0.1:{port}"
        finally:
            running.kill()
            running.wait()
