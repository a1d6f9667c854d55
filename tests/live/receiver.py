"""A place that messages are posted to, which answers when the test wants it to."""

import http.server
import threading


class Receiver:
    """Remembers the ids of what was posted, in order. `url` is a broker's; close() ends it."""

    def __init__(self, delay=0.0):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                receiver.take(self.headers["outrider-id"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

            def handle(self):
                try:
                    super().handle()
                except ConnectionError:  # the relay was killed
                    pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024  # a relay opens many connections at once

        self.posted = []
        self.lock = threading.Lock()
        self.delay = delay
        self.pause = threading.Event()
        self.open = threading.Event()  # cleared: nobody is answered
        self.open.set()
        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, message):
        with self.lock:
            self.posted.append(message)
        self.pause.wait(self.delay)
        self.open.wait()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/?allow_private=true&timeout=60s&version=1.1"

    def close(self):
        self.open.set()
        self.pause.set()
        self.server.shutdown()
        self.server.server_close()
