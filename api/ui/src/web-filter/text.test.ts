import { expect, test } from "vitest";
import { drawn, MAX_BYTES, sizeFrom, sizeOf, typeOf } from "./text";

test("a file's type is known by how its name ends", () => {
  expect(["a.HTML", "notes.tar.md", "feed.rss", "README", "x.zip"].map(typeOf)).toEqual([
    "text/html",
    "text/markdown",
    "application/atom+xml",
    "",
    "",
  ]);
});

test("a text is measured in bytes", () => {
  expect(sizeOf("é")).toBe(2);
  expect(sizeOf("é".repeat(MAX_BYTES / 2)) <= MAX_BYTES).toBe(true);
  expect(sizeOf("é".repeat(MAX_BYTES / 2 + 1)) <= MAX_BYTES).toBe(false);
  expect(sizeOf("a".repeat(MAX_BYTES + 1))).toBe(MAX_BYTES + 1);
});

test("a long text is drawn in part, and what is missing is counted", () => {
  expect(drawn("short")).toEqual({ shown: "short", beyond: 0 });
  const { shown, beyond } = drawn("a".repeat(200_003));
  expect([shown.length, beyond]).toEqual([200_000, 3]);
});

test("a size is a number of bytes from one to the bound", () => {
  expect(["1", " 65536 ", String(MAX_BYTES)].map(sizeFrom)).toEqual([1, 65_536, MAX_BYTES]);
  for (const bad of ["", "0", "-1", "1e3", "65 kB", String(MAX_BYTES + 1)]) expect(sizeFrom(bad)).toBeUndefined();
});
