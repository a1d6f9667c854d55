#!/usr/bin/env python3
"""An MQTT 5 server for the tests that says whatever it is told to; mosquitto itself never gives most of the codes.

    mqtt_script.py PORT FILE CONNACK RECEIVE_MAXIMUM [GREETING]

Answers CONNECT with the code CONNACK, or with the bytes GREETING (in hex), one at a time, and hangs up if a - is behind
them. A message to the topic code/135 is answered with that reason code, in a PUBACK or PUBREC; bye/149 with a
DISCONNECT of that code. Hangs up on who subscribes. Acknowledges only when nothing more comes in, and writes into FILE
how many messages were unacknowledged by then, one number a line."""

import select
import socket
import struct
import sys
import threading


def varint(number):
    out = b""
    while True:
        number, low = divmod(number, 128)
        out += bytes([low | (128 if number else 0)])
        if not number:
            return out


def packet(kind, body):
    return bytes([kind]) + varint(len(body)) + body


class Client(threading.Thread):
    def __init__(self, connection, options):
        super().__init__(daemon=True)
        self.connection = connection
        self.options = options
        self.owed = []

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.connection.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def read_packet(self):
        kind = self.read(1)[0]
        length = shift = 0
        while True:
            byte = self.read(1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return kind, self.read(length)

    def run(self):
        try:
            while True:
                if self.owed and not select.select([self.connection], [], [], 0.2)[0]:
                    self.pay()
                self.handle(*self.read_packet())
        except (EOFError, OSError):
            self.connection.close()

    def handle(self, kind, body):
        if kind >> 4 == 1 and self.options["greeting"]:
            self.greet(self.options["greeting"])
        elif kind >> 4 == 1:
            maximum = struct.pack(">BH", 0x21, self.options["maximum"])
            self.connection.sendall(
                packet(0x20, bytes([0, self.options["connack"]]) + varint(len(maximum)) + maximum)
            )
        elif kind >> 4 == 3:
            self.take(kind, body)
        elif kind >> 4 == 6:  # PUBREL
            self.connection.sendall(packet(0x70, body[:2]))
        elif kind >> 4 == 8:  # SUBSCRIBE
            raise EOFError
        elif kind >> 4 == 10:  # UNSUBSCRIBE, of nothing
            self.connection.sendall(packet(0xB0, body[:2] + b"\0\x11"))
        elif kind >> 4 == 12:
            self.connection.sendall(packet(0xD0, b""))

    def greet(self, greeting):
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in bytes.fromhex(greeting.rstrip("-")):
            self.connection.sendall(bytes([byte]))
        if greeting.endswith("-"):
            raise EOFError

    def take(self, kind, body):
        size = struct.unpack(">H", body[:2])[0]
        what, _, code = body[2 : 2 + size].decode().partition("/")
        if what == "bye":
            self.connection.sendall(packet(0xE0, bytes([int(code), 0])))
            raise EOFError
        answer = 0x40 if (kind >> 1) & 3 == 1 else 0x50
        self.owed.append(packet(answer, body[2 + size : 4 + size] + bytes([int(code or 0), 0])))

    def pay(self):
        with self.options["lock"], open(self.options["file"], "a", encoding="utf-8") as file:
            file.write(f"{len(self.owed)}\n")
        self.connection.sendall(b"".join(self.owed))
        self.owed = []


def main(port, file, connack, maximum, greeting=""):
    options = {"file": file, "connack": int(connack), "maximum": int(maximum), "lock": threading.Lock()}
    options["greeting"] = greeting
    with socket.create_server(("127.0.0.1", int(port))) as server:
        while True:
            Client(server.accept()[0], options).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
