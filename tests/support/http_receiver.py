#!/usr/bin/env python3
"""A receiver of webhooks for the tests. Writes every request as one line of JSON into a file, before it answers.

    http_receiver.py PORT FILE [CERTIFICATE KEY [AUTHORITY OF CLIENTS]]

What it answers is said by the path of the request:
    /status/404         that status                        /status/503?retry_after=7   with a Retry-After
    /slow-headers       begins an answer and never ends it /stalled-body     announces a body that never comes
    /dripping-body      200, and a byte of its body now and then, for ever
    /endless-body       200, and a body without an end     /early-close      closes without an answer
    /cut-body           closes in the middle of its body   /broken           answers something that is not HTTP
    /cut-head           closes in the middle of a header   /cut-status       closes behind the status line
    /hints              103, and then 200                  /hints-only       103, and closes
    /echo               400 and N letters, the login, more letters (/echo?letters=N)
    /redirect           302 to /elsewhere                  /picky            415 for bodies that contain "poison"
    /refuses-once       500, then closes without an answer /picky?status=500 the same with that status
    /no-options/...     200 to a POST; to OPTIONS: /closed closes, /silent says nothing, else 503
    anything else       200"""

import base64
import http.server
import json
import ssl
import sys
import threading
import time
import urllib.parse


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *arguments):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def record(self, body):
        text = lambda value: value.encode("latin-1").decode("utf-8", "replace")
        line = {
            "method": self.command,
            "path": self.path,
            "peer": self.client_address[1],
            "headers": [[text(name), text(value)] for name, value in self.headers.items()],
            "body": base64.b64encode(body).decode(),
        }
        with self.server.lock:
            self.server.file.write(json.dumps(line) + "\n")
            self.server.file.flush()

    def answer(self, status, text=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()

    def do_OPTIONS(self):
        if self.path == "/no-options/closed":
            self.close_connection = True
        elif self.path == "/no-options/silent":
            self.hang()
        else:
            self.answer(503 if self.path.startswith("/no-options/") else 204)

    def do_GET(self):
        self.answer(405)

    def do_POST(self):
        body = self.body()
        self.record(body)
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        trick = getattr(self, "do_" + url.path.strip("/").split("/")[0].replace("-", "_"), None)
        if trick is None:
            return self.answer(200, b"taken")
        return trick(url.path, query, body)

    def do_status(self, path, query, body):
        headers = [("Retry-After", query["retry_after"])] if "retry_after" in query else []
        status = int(path.split("/")[2])
        self.answer(status, b"" if status in (204, 304) else b"because", headers)

    def do_redirect(self, path, query, body):
        self.answer(302, b"", [("Location", "/elsewhere")])

    def do_picky(self, path, query, body):
        self.answer(int(query.get("status", 415)) if b"poison" in body else 200)

    def do_refuses_once(self, path, query, body):
        if self.server.has_refused:
            self.close_connection = True
            return
        self.server.has_refused = True
        self.answer(500)

    def do_echo(self, path, query, body):
        login = self.headers.get("Authorization", "")
        kind, _, value = login.partition(" ")
        plain = base64.b64decode(value).decode().partition(":") if kind == "Basic" else ()
        letters = "x" * int(query.get("letters", 0))
        self.answer(400, " ".join([letters, login, *plain, letters, login]).encode())

    def do_slow_headers(self, path, query, body):
        self.raw(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self.hang()

    def do_stalled_body(self, path, query, body):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123")
        self.hang()

    def do_endless_body(self, path, query, body):
        self.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while True:
                self.raw(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        except OSError:
            self.close_connection = True

    def do_dripping_body(self, path, query, body):
        status = query.get("status", "200").encode()
        self.raw(b"HTTP/1.1 " + status + b" Slow\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while True:
                self.raw(b"1\r\nx\r\n")
                time.sleep(0.05)
        except OSError:
            self.close_connection = True

    def do_cut_body(self, path, query, body):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123")
        self.close_connection = True

    def do_cut_head(self, path, query, body):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Le")
        self.close_connection = True

    def do_cut_status(self, path, query, body):
        self.raw(b"HTTP/1.1 200 OK\r\n")
        self.close_connection = True

    def do_hints(self, path, query, body):
        self.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        self.answer(200)

    def do_hints_only(self, path, query, body):
        self.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        self.close_connection = True

    def do_early_close(self, path, query, body):
        self.close_connection = True

    def do_broken(self, path, query, body):
        self.raw(b"+OK welcome\r\n")
        self.close_connection = True

    def raw(self, data):
        self.wfile.write(data)
        self.wfile.flush()

    def hang(self):
        """Until the other side has had enough."""
        self.close_connection = True
        try:
            self.connection.recv(1)
        except OSError:
            pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port, file):
        super().__init__(("127.0.0.1", port), Receiver)
        self.lock = threading.Lock()
        self.file = open(file, "a", encoding="utf-8")
        self.tls = None
        self.has_refused = False

    def finish_request(self, request, client_address):
        # In the connection's own thread: a handshake that never ends stops nobody else.
        if self.tls is not None:
            request = self.tls.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(request, client_address)


def main(port, file, certificate=None, key=None, authority=None):
    server = Server(int(port), file)
    if certificate:
        server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.tls.load_cert_chain(certificate, key)
        if authority:
            server.tls.load_verify_locations(authority)
            server.tls.verify_mode = ssl.CERT_REQUIRED
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
