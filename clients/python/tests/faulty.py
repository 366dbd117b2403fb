"""A proxy on loopback that does to each connection what the test says: passes it on, cuts it, answers by itself."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from types import TracebackType
from urllib.parse import urlsplit

Deed = Callable[[socket.socket, "FaultyProxy"], None]


class FaultyProxy:
    """The n-th connection gets the n-th deed, those after the last are passed on."""

    def __init__(self, url: str, *deeds: Deed) -> None:
        self._target = urlsplit(url)
        self._deeds = list(deeds)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.requests: list[bytes] = []
        """What each connection began with."""
        self.open_connections = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def heads(self, name: str) -> list[str]:
        """The values of a header, in the order of the requests that began a connection."""
        found = [line for head in self.requests for line in head.split(b"\r\n") if line.lower().startswith(name.encode())]
        return [line.partition(b":")[2].strip().decode() for line in found]

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with self._lock:
            deed = self._deeds.pop(0) if self._deeds else through()
            self.open_connections += 1
        try:
            deed(client, self)
        except OSError:
            pass
        finally:
            _end(client)
            client.close()
            with self._lock:
                self.open_connections -= 1

    def connect(self) -> socket.socket:
        return socket.create_connection((self._target.hostname or "", self._target.port or 80))

    def head_of(self, client: socket.socket) -> bytes:
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(65536)
            if not more:
                raise OSError("closed")
            head += more
        self.requests.append(head)
        return head

    def __enter__(self) -> FaultyProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()


def through(most: int | None = None) -> Deed:
    """Passes the connection on; the answers are cut after `most` bytes."""

    def deed(client: socket.socket, proxy: FaultyProxy) -> None:
        head = proxy.head_of(client)
        with proxy.connect() as server:
            server.sendall(head)
            threading.Thread(target=_pump, args=(client, server), daemon=True).start()
            left = most
            while left is None or left > 0:
                chunk = server.recv(65536 if left is None else min(left, 65536))
                if not chunk:
                    return
                client.sendall(chunk)
                left = None if left is None else left - len(chunk)

    return deed


def answer(status: str, *headers: str, body: bytes = b"") -> Deed:
    """Answers the first request by itself, and closes."""

    def deed(client: socket.socket, proxy: FaultyProxy) -> None:
        proxy.head_of(client)
        lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close", "", ""]
        client.sendall("\r\n".join(lines).encode() + body)

    return deed


def stream(text: str) -> Deed:
    """Answers with these server-sent events, then cuts."""

    def deed(client: socket.socket, proxy: FaultyProxy) -> None:
        proxy.head_of(client)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + text.encode())

    return deed


def cut() -> Deed:
    """Reads the request, and closes without a word."""

    def deed(client: socket.socket, proxy: FaultyProxy) -> None:
        proxy.head_of(client)

    return deed


def lose_answer() -> Deed:
    """The server does what was asked, and nobody hears of it."""

    def deed(client: socket.socket, proxy: FaultyProxy) -> None:
        head = proxy.head_of(client)
        with proxy.connect() as server:
            server.sendall(head)
            threading.Thread(target=_pump, args=(client, server), daemon=True).start()
            server.recv(65536)

    return deed


def silent() -> Deed:
    """Never answers."""

    def deed(client: socket.socket, proxy: FaultyProxy) -> None:
        proxy.head_of(client)
        while client.recv(65536):
            pass

    return deed


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(65536):
            target.sendall(chunk)
    except OSError:
        pass
    _end(target)


def _end(connection: socket.socket) -> None:
    """A socket that another thread reads is not closed by `close` alone."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
