"""Signs requests to Weir's web gateway. Needs Python 3.9 and `cryptography`, nothing else of Weir's."""
import hashlib, json, os, urllib.request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FIELDS = ("id", "agent", "url", "method", "headers", "body", "filter", "purpose", "tick")
FILTER = {"strip_code_blocks": True, "strip_inline_code": True, "transform_apis": False,
          "transform_examples": False, "max_size": 65_536, "format": "raw"}


def head(n, fix, fixed, codes):
    """The first bytes of a MessagePack value: what it is, and how long or how much, as short as it goes."""
    if fix is not None and n < fixed:
        return bytes([fix | n])
    code, size = next((code, size) for code, size in codes if n < 1 << 8 * size)
    return bytes([code]) + n.to_bytes(size, "big")


def pack(value):
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return head(value, 0, 128, [(0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)])
    if isinstance(value, bytes):
        return head(len(value), None, 0, [(0xC4, 1), (0xC5, 2), (0xC6, 4)]) + value
    if isinstance(value, str):
        text = value.encode()
        return head(len(text), 0xA0, 32, [(0xD9, 1), (0xDA, 2), (0xDB, 4)]) + text
    packed = b"".join(pack(key) + pack(item) for key, item in value.items())
    return head(len(value), 0x80, 16, [(0xDE, 2), (0xDF, 4)]) + packed


def sign(key: Ed25519PrivateKey, url: bytes, purpose: str, tick: int, method="GET", headers=(),
         body=None, id=None, **wanted):
    """Answers the canonical bytes, the signature, and the fields as they were signed."""
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    values = (id or os.urandom(32), hashlib.sha256(public).digest(), url,
              ("GET", "POST", "HEAD").index(method), dict(sorted(dict(headers).items())), body,
              {**FILTER, **wanted}, purpose, tick)
    fields = dict(zip(FIELDS, values))
    canonical = b"weir.portal.v1" + pack(fields)
    return canonical, key.sign(canonical), fields


def send(server: str, token: str, signature: bytes, fields: dict):
    """Asks, and answers the envelope that comes back, in MessagePack."""
    envelope = pack({"kind": 0x0700, "payload": {**fields, "signature": signature}})
    headers = {"content-type": "application/msgpack", "authorization": f"Bearer {token}"}
    asked = urllib.request.Request(f"{server}/api/messages", envelope, headers)
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return answer.read()


def check(file):
    """Makes the published vectors again; answers how many there are."""
    vectors = json.load(open(file))
    for vector in vectors:
        shown, key = vector["request"], Ed25519PrivateKey.from_private_bytes(bytes.fromhex(vector["secret_key"]))
        canonical, signature, fields = sign(
            key, shown["url"].encode(), shown["purpose"], shown["tick"], shown["method"], shown["headers"],
            None if vector["body"] is None else bytes.fromhex(vector["body"]),
            bytes.fromhex(shown["id"]), **shown["filter"])
        assert canonical.hex() == vector["canonical"], vector["name"]
        assert signature.hex() == vector["signature"] == shown["signature"], vector["name"]
        envelope = pack({"kind": 0x0700, "payload": {**fields, "signature": signature}})
        assert envelope.hex() == vector["envelope"], vector["name"]
    return len(vectors)


if __name__ == "__main__":
    import sys
    print(check(sys.argv[1]), "vectors agree")
