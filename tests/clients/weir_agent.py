"""Signs requests to Weir's web gateway. Needs Python 3.9 and `cryptography`, nothing else of Weir's."""
import hashlib, json, os, struct, urllib.error, urllib.request
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FIELDS = ("id", "agent", "url", "method", "headers", "body", "filter", "purpose", "tick")
FILTER = {"strip_code_blocks": True, "strip_inline_code": True, "transform_apis": False,
          "transform_examples": False, "max_size": 65_536, "format": "raw"}
SIZED = {0xC4: (bytes, 1), 0xC5: (bytes, 2), 0xC6: (bytes, 4), 0xCC: (int, 1), 0xCD: (int, 2), 0xCE: (int, 4),
         0xCF: (int, 8), 0xD9: (str, 1), 0xDA: (str, 2), 0xDB: (str, 4), 0xDC: (list, 2), 0xDD: (list, 4),
         0xDE: (dict, 2), 0xDF: (dict, 4)}


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


def unpack(data: bytes, at=0):
    """Answers one MessagePack value, and where the next one begins."""
    code, at = data[at], at + 1
    if code < 0x80:
        return code, at
    if code in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[code], at
    if code == 0xCB:
        return struct.unpack_from(">d", data, at)[0], at + 8
    if 0x80 <= code < 0xC0:
        kind, n = (dict, code & 0x0F) if code < 0x90 else (list, code & 0x0F) if code < 0xA0 else (str, code & 0x1F)
    else:
        kind, size = SIZED[code]
        n, at = int.from_bytes(data[at:at + size], "big"), at + size
    if kind is int:
        return n, at
    if kind in (bytes, str):
        return (data[at:at + n] if kind is bytes else data[at:at + n].decode()), at + n
    items = []
    for _ in range(2 * n if kind is dict else n):
        item, at = unpack(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if kind is dict else items), at


def call(server: str, token: str, path: str, data=None, content_type="application/json"):
    """Answers the content type and the body, also where it is not what was asked for."""
    headers = {"content-type": content_type, "authorization": f"Bearer {token}"}
    asked = urllib.request.Request(server + path, data, headers)
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return answer.headers["content-type"], answer.read()
    except urllib.error.HTTPError as fault:
        return fault.headers["content-type"], fault.read()


def send(server: str, token: str, signature: bytes, fields: dict):
    """Asks, and answers the response, or raises `Refused` with the code and the reason."""
    envelope = pack({"kind": 0x0700, "payload": {**fields, "signature": signature}})
    content_type, answer = call(server, token, "/api/messages", envelope, "application/msgpack")
    if content_type != "application/msgpack":  # A problem document: the token, or the envelope.
        problem = json.loads(answer)
        raise Refused(problem["code"], problem["detail"])
    answer, _ = unpack(answer)
    if "error" in answer:
        error = answer["error"]
        raise Refused(f"{error['code']:#06x} {error['error']}", error["message"])
    return answer["payload"]


class Refused(Exception):
    """Why there is no response: its code, and the reason in words."""


def ask(server, token, secret_key, method, url, purpose, body=None, id=None):
    """Asks for one page with the key of these hexadecimal digits, now."""
    now = json.loads(call(server, token, "/api/nexus")[1])
    if "tick" not in now:
        raise Refused(now["code"], now["detail"])
    headers = {} if body is None else {"content-type": "application/json"}
    _, signature, fields = sign(
        Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret_key)), url.encode(), purpose, now["tick"], method,
        headers, None if body is None else body.encode(), None if id is None else bytes.fromhex(id))
    return send(server, token, signature, fields)


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
    if len(sys.argv) == 2:
        print(check(sys.argv[1]), "vectors agree")
    else:  # SERVER TOKEN SECRET_KEY METHOD URL PURPOSE [BODY [ID]]
        try:
            response = ask(*sys.argv[1:])
            print(response["status"], "cached" if response["cached"] else "fetched", response["cost"]["spark"], "spark")
            print(response["content"].decode())
        except Refused as refused:
            sys.exit("refused: {}: {}".format(*refused.args))
