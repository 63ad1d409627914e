"""A stand-in for a language model behind the chat interface, on loopback: it answers as told and notes what came."""

import contextlib
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def said(text):
    """The body of a good answer."""
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


@contextlib.contextmanager
def chat_server(answer):
    """A server; ``answer(number, request)`` says what the request of that number, from 0, gets.

    It gives a text (a good answer), bytes (a body as it stands), a number (a status), a tuple (status, headers), or
    a `Fault`. Yields a record with ``url`` and ``requests``.
    """
    record = Record()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with record.lock:
                number = len(record.requests)
                record.requests.append({"path": self.path, "headers": dict(self.headers), **body})
            found = answer(number, body)
            with contextlib.suppress(OSError):
                getattr(self, f"_{type(found).__name__}")(found)

        def _str(self, text):
            self._send(200, said(text))

        def _bytes(self, body):
            self._send(200, body)

        def _int(self, status):
            self._send(status, b"{}")

        def _tuple(self, found):
            self._send(found[0], b"{}", found[1])

        def _Fault(self, fault):
            if fault.name == "hang":
                record.ended += not record.closing.wait(fault.seconds)
            elif fault.name == "reset":
                self.connection.shutdown(socket.SHUT_RDWR)
            elif fault.name == "cut":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + said("half of")[:20])
            else:  # drip
                close = b"Connection: close\r\n" if fault.name == "last drip" else b""
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n" + close + b"\r\n")
                until = time.monotonic() + fault.seconds
                while time.monotonic() < until and not record.closing.is_set():
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.05)
                record.ended += not record.closing.is_set()

        def _send(self, status, body, headers=()):
            self.send_response(status)
            for name, value in dict(headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False  # then closing waits for them
    record.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield record
    finally:
        record.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class Record:
    """What came, and where the server is."""

    def __init__(self):
        self.requests, self.lock, self.closing, self.url = [], threading.Lock(), threading.Event(), ""
        self.ended = 0  # faults that took all their time: nobody gave up before


class Fault:
    """Something that a server does instead of answering: hang, drip (and close), cut, reset."""

    def __init__(self, name, seconds=300.0):
        self.name, self.seconds = name, seconds


HANG, DRIP, LAST_DRIP, CUT, RESET = map(Fault, ("hang", "drip", "last drip", "cut", "reset"))
