// Signs requests to Weir's web gateway. Needs Node.js 20, nothing else of Weir's and no package.
import { createHash, createPrivateKey, createPublicKey, randomBytes, sign as sign25519, type KeyObject } from "node:crypto";

export type Value = null | boolean | number | bigint | string | Uint8Array | { [key: string]: Value };
export type Wanted = { url: Uint8Array; purpose: string; tick: number | bigint; method?: "GET" | "POST" | "HEAD";
  headers?: Record<string, string>; body?: Uint8Array | null; id?: Uint8Array; filter?: { [key: string]: Value } };

const FILTER = { strip_code_blocks: true, strip_inline_code: true, transform_apis: false,
  transform_examples: false, max_size: 65_536, format: "raw" };

/** The first bytes of a MessagePack value: what it is, and how long or how much, as short as it goes. */
function head(n: number | bigint, fix: number | null, fixed: number, codes: [number, number][]): Buffer {
  if (fix !== null && n < fixed) return Buffer.of(fix | Number(n));
  const [code, size] = codes.find(([, size]) => BigInt(n) < 1n << BigInt(8 * size))!;
  return Buffer.from(code.toString(16) + BigInt(n).toString(16).padStart(2 * size, "0"), "hex");
}

export function pack(value: Value): Buffer {
  if (value === null || typeof value === "boolean") return Buffer.of(value === null ? 0xc0 : value ? 0xc3 : 0xc2);
  if (typeof value === "number" || typeof value === "bigint")
    return head(value, 0, 128, [[0xcc, 1], [0xcd, 2], [0xce, 4], [0xcf, 8]]);
  if (value instanceof Uint8Array)
    return Buffer.concat([head(value.length, null, 0, [[0xc4, 1], [0xc5, 2], [0xc6, 4]]), value]);
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([head(text.length, 0xa0, 32, [[0xd9, 1], [0xda, 2], [0xdb, 4]]), text]);
  }
  const items = Object.entries(value);
  const packed = items.flatMap(([key, item]) => [pack(key), pack(item)]);
  return Buffer.concat([head(items.length, 0x80, 16, [[0xde, 2], [0xdf, 4]]), ...packed]);
}

/** A key of its 32 secret bytes. */
export function keyOf(secret: Uint8Array): KeyObject {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), secret]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

/** The canonical bytes, their signature, and the envelope for `POST /api/messages`. */
export function sign(key: KeyObject, wanted: Wanted) {
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
  const headers = Object.entries(wanted.headers ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const fields = { id: wanted.id ?? randomBytes(32), agent: createHash("sha256").update(publicKey).digest(),
    url: wanted.url, method: ["GET", "POST", "HEAD"].indexOf(wanted.method ?? "GET"),
    headers: Object.fromEntries(headers), body: wanted.body ?? null, filter: { ...FILTER, ...wanted.filter },
    purpose: wanted.purpose, tick: wanted.tick };
  const canonical = Buffer.concat([Buffer.from("weir.portal.v1"), pack(fields)]);
  const signature = sign25519(null, canonical, key);
  return { canonical, signature, envelope: pack({ kind: 0x0700, payload: { ...fields, signature } }) };
}

/** Asks, and answers the envelope that comes back, in MessagePack. */
export async function send(server: string, token: string, envelope: Uint8Array): Promise<Uint8Array> {
  const headers = { "content-type": "application/msgpack", authorization: `Bearer ${token}` };
  const answer = await fetch(`${server}/api/messages`, { method: "POST", headers, body: Buffer.from(envelope) });
  return new Uint8Array(await answer.arrayBuffer());
}
