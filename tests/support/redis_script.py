#!/usr/bin/env python3
"""A Redis for the tests that is as new as it is told to be: the one of Debian 12 does not know WAITAOF.

    redis_script.py PORT VERSION SYNCED REPLICAS

INFO says VERSION; WAITAOF answers SYNCED and REPLICAS. Transactions are carried out, entries thrown away."""

import socketserver
import sys


class Client(socketserver.StreamRequestHandler):
    queued = 0

    def handle(self):
        while line := self.rfile.readline():
            self.wfile.write(self.answer([self.read_word() for _ in range(int(line[1:]))]))

    def read_word(self):
        size = int(self.rfile.readline()[1:])
        return self.rfile.read(size + 2)[:-2]

    def answer(self, words):
        name = words[0].upper()
        if name == b"INFO":
            text = f"redis_version:{self.server.version}\r\n".encode()
            return b"$%d\r\n%s\r\n" % (len(text), text)
        if name == b"XADD":
            self.queued += 1
            return b"+QUEUED\r\n"
        if name == b"EXEC":
            count, self.queued = self.queued, 0
            return b"*%d\r\n" % count + b"$3\r\n1-1\r\n" * count
        if name == b"WAITAOF":
            return b"*2\r\n:%d\r\n:%d\r\n" % self.server.synced
        return b"-ERR not here\r\n" if name == b"CONFIG" else b"+OK\r\n"


def main(port, version, synced, replicas):
    with socketserver.ThreadingTCPServer(("127.0.0.1", int(port)), Client) as server:
        server.daemon_threads = True
        server.version = version
        server.synced = (int(synced), int(replicas))
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
