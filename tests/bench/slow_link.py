"""A TCP proxy on loopback with the bandwidth of a slow link, for tests/bench/psgd.py; it counts what passes."""
import socket
import threading
import time

CHUNK = 65536


class SlowLink:
    """Connections to .port are passed to `target`.  Both directions have `rate` bytes per second, each shared by all."""

    def __init__(self, target: int, rate: float):
        self.target, self.rate, self.bytes = target, rate, 0
        self.lock = threading.Lock()
        self.free_at = [0.0, 0.0]  # when each direction has sent what was given to it
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            self.sockets += [near, far]
            for s in (near, far):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for way, (a, b) in enumerate(((near, far), (far, near))):
                threading.Thread(target=self.pump, args=(way, a, b), daemon=True).start()

    def pump(self, way: int, a: socket.socket, b: socket.socket):
        try:
            while data := a.recv(CHUNK):
                with self.lock:
                    self.bytes += len(data)
                    begin = max(self.free_at[way], time.monotonic())
                    self.free_at[way] = begin + len(data) / self.rate
                if (wait := self.free_at[way] - time.monotonic()) > 0:
                    time.sleep(wait)
                b.sendall(data)
        except OSError:
            pass
        finally:
            for s in (a, b):
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        for s in (self.listener, *self.sockets):
            s.close()
