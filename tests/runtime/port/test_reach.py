"""Who takes a connection, and who does not."""

from __future__ import annotations

import socket
import threading

from placewright.runtime.port.on_ray import unreachable

from ...unhindered import unhindered


def test_a_closed_port_and_a_host_that_does_not_answer_are_told_from_an_open_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # it does not listen, and nobody else can take its port meanwhile
        closed = deaf.getsockname()
        began = unhindered()
        assert unreachable({"open": server.getsockname(), "closed": closed}, 60) == {"closed"}
        assert unhindered() - began < 1
        # an address of the range for documentation, which nobody has
        found = unreachable({"open": server.getsockname(), "nobody": ("192.0.2.1", 9)}, 0.2)
        assert found == {"nobody"}
        assert unhindered() - began < 2


def test_nothing_is_reached_where_nothing_is_asked() -> None:
    assert unreachable({}, 1) == set()


def test_a_server_that_takes_connections_and_says_nothing_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as stopped, socket.create_server(("127.0.0.1", 0)) as living:

        def answer() -> None:
            with living.accept()[0] as connection:
                connection.sendall(connection.recv(100))

        thread = threading.Thread(target=answer)
        thread.start()
        assert unreachable({"stopped": stopped.getsockname(), "living": living.getsockname()}, 1.0, b"hello") == {"stopped"}
        thread.join()
