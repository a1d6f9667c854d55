#!/usr/bin/env python3
"""Makes what `nsc` would make for a NATS server that knows users by signed tokens: an operator, a system account, an
account with JetStream, and a user of it. Keys and signatures are made by openssl.

    nats_account.py FOLDER    writes FOLDER/accounts (lines for the server) and FOLDER/user.creds"""

import base64
import json
import pathlib
import subprocess
import sys
import time

SEED = 18 << 3
KINDS = {"operator": 14 << 3, "account": 0, "user": 20 << 3}


def checksum(data):
    """CRC-16 as XMODEM has it."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc.to_bytes(2, "little")


def base32(data):
    return base64.b32encode(data + checksum(data)).decode().rstrip("=")


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def openssl(*words):
    return subprocess.run(["openssl", *words], check=True, capture_output=True).stdout


class Key:
    def __init__(self, folder, name, kind):
        self.file = str(folder / f"{name}.pem")
        self.kind = kind
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        self.secret = openssl("pkey", "-in", self.file, "-outform", "DER")[-32:]
        public = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:]
        self.public = base32(bytes([KINDS[kind]]) + public)

    def seed(self):
        kind = KINDS[self.kind]
        return base32(bytes([SEED | kind >> 5, (kind & 31) << 3]) + self.secret)

    def sign(self, folder, subject, claims):
        """A token about the subject, in the form that NATS knows."""
        body = {"jti": subject.public, "iat": int(time.time()), "iss": self.public, "sub": subject.public}
        body["nats"] = {**claims, "type": subject.kind, "version": 2}
        parts = [{"typ": "JWT", "alg": "ed25519-nkey"}, body]
        text = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        file = folder / "unsigned"
        file.write_text(text)
        signature = openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", str(file))
        return f"{text}.{base64url(signature)}"


def main(place):
    folder = pathlib.Path(place)
    operator = Key(folder, "operator", "operator")
    system = Key(folder, "system", "account")
    account = Key(folder, "account", "account")
    user = Key(folder, "user", "user")
    names = ["subs", "data", "payload", "imports", "exports", "conn", "leaf"]
    storage = ["mem_storage", "disk_storage", "streams", "consumer"]
    plain = {"wildcards": True, **{name: -1 for name in names}}
    limits = {**plain, **{name: -1 for name in storage}}
    (folder / "accounts").write_text(
        f"operator: {operator.sign(folder, operator, {'system_account': system.public})}\n"
        f"system_account: {system.public}\nresolver: MEMORY\nresolver_preload: {{\n"
        f"  {system.public}: {operator.sign(folder, system, {'limits': plain})}\n"
        f"  {account.public}: {operator.sign(folder, account, {'limits': limits})}\n}}\n"
    )
    token = account.sign(folder, user, {"pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1})
    (folder / "user.creds").write_text(
        f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed()}\n------END USER NKEY SEED------\n"
    )


if __name__ == "__main__":
    main(sys.argv[1])
