#!/usr/bin/env python3
"""forward.py FROM_HOST:PORT TO_HOST:PORT: passes connections on, byte by byte, until it is killed. Where one side ends the other does."""
import socket
import sys
import threading


def address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def pump(source, to):
    try:
        while data := source.recv(65536):
            to.sendall(data)
    except OSError:
        pass
    for side in (source, to):
        try:
            side.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(near, to):
    try:
        far = socket.create_connection(to, timeout=20)
    except OSError:
        near.close()
        return
    far.settimeout(None)
    for side in (near, far):
        side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    back = threading.Thread(target=pump, args=(far, near), daemon=True)
    back.start()
    pump(near, far)
    back.join()
    near.close()
    far.close()


def main(listen, to):
    server = socket.create_server(address(listen), backlog=16)
    print("listens", flush=True)
    while True:
        threading.Thread(target=serve, args=(server.accept()[0], address(to)), daemon=True).start()


main(*sys.argv[1:])
