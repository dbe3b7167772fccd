// Signs requests to Weir's web gateway. Needs Node.js 20, nothing else of Weir's and no package.
import { pathToFileURL } from "node:url";
import { createHash, createPrivateKey, createPublicKey, randomBytes, sign as sign25519, type KeyObject } from "node:crypto";

export type Value = null | boolean | number | bigint | string | Uint8Array | { [key: string]: Value };
export type Read = null | boolean | number | string | Uint8Array | Read[] | { [key: string]: Read };
export type Wanted = { url: Uint8Array; purpose: string; tick: number | bigint; method?: "GET" | "POST" | "HEAD";
  headers?: Record<string, string>; body?: Uint8Array | null; id?: Uint8Array | undefined; filter?: { [key: string]: Value } };

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

/** The MessagePack value that these bytes are. */
export function unpack(bytes: Uint8Array): Read {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const number = (size: number) => {
    at += size;
    return size === 8 ? Number(data.readBigUInt64BE(at - 8)) : data.readUIntBE(at - size, size);
  };
  const raw = (n: number) => data.subarray(at, (at += n));
  const list = (n: number) => Array.from({ length: n }, read);
  const map = (n: number) => Object.fromEntries(Array.from({ length: n }, () => [String(read()), read()]));
  function read(): Read {
    const code = number(1);
    if (code < 0x80) return code;
    if (code < 0x90) return map(code & 0x0f);
    if (code < 0xa0) return list(code & 0x0f);
    if (code < 0xc0) return raw(code & 0x1f).toString();
    if (code === 0xc0) return null;
    if (code === 0xc2 || code === 0xc3) return code === 0xc3;
    if (code >= 0xc4 && code <= 0xc6) return raw(number(1 << (code - 0xc4)));
    if (code === 0xcb) return raw(8).readDoubleBE();
    if (code >= 0xcc && code <= 0xcf) return number(1 << (code - 0xcc));
    if (code >= 0xd9 && code <= 0xdb) return raw(number(1 << (code - 0xd9))).toString();
    if (code === 0xdc || code === 0xdd) return list(number(code === 0xdc ? 2 : 4));
    if (code === 0xde || code === 0xdf) return map(number(code === 0xde ? 2 : 4));
    throw new Error(`0x${code.toString(16)} is nothing that Weir sends`);
  }
  return read();
}

/** Why there is no response: its code, and the reason in words. */
export class Refused extends Error {}

export type Response = { status: number; content: Uint8Array; content_type: string; cached: boolean;
  cost: { ticks: number; spark: number } };

/** Asks, and answers the response, or throws `Refused` with the code and the reason. */
export async function send(server: string, token: string, envelope: Uint8Array): Promise<Response> {
  const headers = { "content-type": "application/msgpack", authorization: `Bearer ${token}` };
  const answer = await fetch(`${server}/api/messages`, { method: "POST", headers, body: Buffer.from(envelope) });
  if (answer.headers.get("content-type") !== "application/msgpack") {
    // A problem document: the token, or the envelope.
    const problem = (await answer.json()) as { code: string; detail: string };
    throw new Refused(`${problem.code}: ${problem.detail}`);
  }
  const said = unpack(new Uint8Array(await answer.arrayBuffer())) as
    { payload: Response } | { error: { code: number; error: string; message: string } };
  if ("payload" in said) return said.payload;
  const { code, error, message } = said.error;
  throw new Refused(`0x${code.toString(16).padStart(4, "0")} ${error}: ${message}`);
}

/** Asks for one page with the key of these hexadecimal digits, now. */
export async function ask(server: string, token: string, secretKey: string, method: "GET" | "POST" | "HEAD",
  url: string, purpose: string, body?: string, id?: string): Promise<Response> {
  const now = await fetch(`${server}/api/nexus`, { headers: { authorization: `Bearer ${token}` } });
  const { tick, code, detail } = (await now.json()) as { tick: number; code?: string; detail?: string };
  if (!now.ok) throw new Refused(`${code}: ${detail}`);
  const { envelope } = sign(keyOf(Buffer.from(secretKey, "hex")), { url: Buffer.from(url), purpose, tick, method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? null : Buffer.from(body), id: id === undefined ? undefined : Buffer.from(id, "hex") });
  return send(server, token, envelope);
}

// SERVER TOKEN SECRET_KEY METHOD URL PURPOSE [BODY [ID]]
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const said = await ask(...(process.argv.slice(2) as Parameters<typeof ask>));
    console.log(said.status, said.cached ? "cached" : "fetched", said.cost.spark, "spark");
    console.log(Buffer.from(said.content).toString());
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    console.error(`refused: ${refused.message}`);
    process.exitCode = 1;
  }
}
