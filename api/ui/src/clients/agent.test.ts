// The client for agents in TypeScript is held to the published vectors.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { keyOf, sign, type Wanted } from "../../../../tests/clients/weir_agent";

type Vector = {
  name: string;
  secret_key: string;
  body: string | null;
  request: {
    id: string;
    url: string;
    method: "GET" | "POST" | "HEAD";
    headers: Record<string, string>;
    filter: NonNullable<Wanted["filter"]>;
    purpose: string;
  };
  canonical: string;
  signature: string;
  envelope: string;
};

const text = readFileSync(new URL("../../../../tests/clients/vectors.json", import.meta.url), "utf8");
const vectors = JSON.parse(text) as Vector[];
// A tick may be larger than what JSON's numbers hold here.
const ticks = [...text.matchAll(/"tick": (\d+)/g)].map((found) => BigInt(found[1] ?? ""));
const bytes = (digits: string) => Buffer.from(digits, "hex");

test("there are vectors, each with its tick", () => {
  expect(vectors.length).toBeGreaterThan(5);
  expect(ticks.length).toBe(vectors.length);
});

test.each(vectors.map((vector, n) => ({ vector, tick: ticks[n] ?? 0n })))(
  "$vector.name",
  ({ vector, tick }) => {
    const { id, url, method, headers, filter, purpose } = vector.request;
    const body = vector.body === null ? null : bytes(vector.body);
    const wanted = { id: bytes(id), url: Buffer.from(url), method, headers, body, filter, purpose, tick };
    const signed = sign(keyOf(bytes(vector.secret_key)), wanted);
    expect(signed.canonical.toString("hex")).toBe(vector.canonical);
    expect(signed.signature.toString("hex")).toBe(vector.signature);
    expect(signed.envelope.toString("hex")).toBe(vector.envelope);
  },
);
