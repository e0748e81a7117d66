"""TLS as PROTOCOL.md has it, by the machine's own Mbed TLS: a host or an agent of a test's making. Python's ssl knows no shared keys yet."""
import ctypes
import ctypes.util
import os
import threading

READ, WRITE = -0x6900, -0x6880
ECDHE_PSK_CHACHA20, CURVE25519 = 0xCCAC, 9  # of 2.28's ecp.h
library = ctypes.CDLL(ctypes.util.find_library("mbedtls"))
SEND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_ubyte), ctypes.c_size_t)
RANDOM = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_ubyte), ctypes.c_size_t)


class Broken(Exception):
    """What the library says: a negative number."""


def enrolled(path, name, secret=None, mode=0o600):
    """A key file as `quiesce devices enroll` makes it."""
    secret = secret or os.urandom(32)
    with open(path, "w", encoding="ascii") as f:
        f.write(f"quiesce-key {name} {secret.hex()}\n")
    os.chmod(path, mode)
    return secret


def read_enrolled(path):
    with open(path, encoding="ascii") as f:
        _, name, secret = f.read().split()
    return name, bytes.fromhex(secret)


class Tls:
    """One end over a socket. One thread may read while another writes."""

    def __init__(self, sock, name, secret, server=False, suites=(ECDHE_PSK_CHACHA20,)):
        self.sock, self.lock, self.came, self.raw = sock, threading.Lock(), bytearray(), bytearray()
        self.config, self.ssl = ctypes.create_string_buffer(16384), ctypes.create_string_buffer(16384)
        self.suites = (ctypes.c_int * (len(suites) + 1))(*suites, 0)
        self.curves = (ctypes.c_int * 2)(CURVE25519, 0)
        self.keep = SEND(self._send), SEND(self._receive), RANDOM(self._random)
        library.mbedtls_ssl_config_init(self.config)
        library.mbedtls_ssl_init(self.ssl)
        self._must(library.mbedtls_ssl_config_defaults(self.config, int(server), 0, 0))
        library.mbedtls_ssl_conf_rng(self.config, self.keep[2], None)
        library.mbedtls_ssl_conf_ciphersuites(self.config, self.suites)
        library.mbedtls_ssl_conf_curves(self.config, self.curves)
        library.mbedtls_ssl_conf_renegotiation(self.config, 1)
        self._must(library.mbedtls_ssl_conf_psk(self.config, secret, ctypes.c_size_t(len(secret)), name.encode(), ctypes.c_size_t(len(name))))
        self._must(library.mbedtls_ssl_setup(self.ssl, self.config))
        library.mbedtls_ssl_set_bio(self.ssl, None, self.keep[0], self.keep[1], None)

    @staticmethod
    def _must(status):
        if status < 0:
            raise Broken(hex(status))
        return status

    def _send(self, _, data, n):
        try:
            self.sock.sendall(ctypes.string_at(data, n))
        except OSError:
            return -1
        return n

    def _receive(self, _, data, n):
        if not self.came:
            return READ
        part = bytes(self.came[:n])
        del self.came[:n]
        ctypes.memmove(data, part, len(part))
        return len(part)

    @staticmethod
    def _random(_, data, n):
        ctypes.memmove(data, os.urandom(n), n)
        return 0

    def _until(self, step):
        """Calls it as more comes, until it has a result; None: the peer has hung up."""
        while True:
            with self.lock:
                status = step()
            if status != READ:
                return self._must(status)
            data = self.sock.recv(1 << 16)
            if not data:
                return None
            with self.lock:
                self.raw += data
                self.came += data

    def shake(self):
        if self._until(lambda: library.mbedtls_ssl_handshake(self.ssl)) is None:
            raise Broken("hung up")
        return self

    def recv(self, most):
        room = ctypes.create_string_buffer(most)
        n = self._until(lambda: library.mbedtls_ssl_read(self.ssl, room, ctypes.c_size_t(most)))
        return room.raw[:n or 0]

    def sendall(self, data):
        while data:
            with self.lock:
                data = data[self._must(library.mbedtls_ssl_write(self.ssl, data, ctypes.c_size_t(min(len(data), 4096)))):]

    def renegotiate(self):
        return library.mbedtls_ssl_renegotiate(self.ssl)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()
        library.mbedtls_ssl_free(self.ssl)
        library.mbedtls_ssl_config_free(self.config)
