"""A way to a server that can go silent: no end of the connection, no answer, nothing acknowledged."""

import ctypes
import socket
import struct
import threading

SO_ATTACH_FILTER = 26
DROP_ALL = ctypes.create_string_buffer(struct.pack("=HBBI", 0x06, 0, 0, 0))  # return 0: keep nothing of a packet


class Gate:
    """Passes on what comes to its port of 127.0.0.1."""

    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(self.target)
            self.sockets += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def carry(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def go_dark(self):
        """The kernel drops what comes in, before it acknowledges it, as if it had been lost on the way."""
        program = struct.pack("HP", 1, ctypes.addressof(DROP_ALL))
        self.listener.close()
        for one in self.sockets:
            one.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)

    def close(self):
        self.listener.close()
        for one in self.sockets:
            one.close()
