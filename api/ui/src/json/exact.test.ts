import { describe, expect, it } from "vitest";
import { ExactNumber, parseExact, stringifyExact, toInteger, type Json } from "./exact";

describe("lossless JSON", () => {
  it("keeps integers beyond 2^53 digit by digit", () => {
    const text = '{"position":9007199254740993,"list":[18446744073709551615,-9223372036854775808]}';
    expect(stringifyExact(parseExact(text))).toBe(text);
    expect(toInteger((parseExact(text) as { position: Json }).position, "position")).toBe(9007199254740993n);
  });

  it("keeps decimals and exponents a double would change", () => {
    for (const text of ["0.1000000000000000055", "1e400", "123456789.123456789123", "-1.0e-400"]) {
      const value = parseExact(text);
      expect(value).toBeInstanceOf(ExactNumber);
      expect(stringifyExact(value)).toBe(text);
    }
  });

  it("gives plain numbers where nothing is lost", () => {
    expect(parseExact("[1.5e3,1e2,0.10,9007199254740991,-0.000001,1E+2]")).toEqual([
      1500, 100, 0.1, 9007199254740991, -0.000001, 100,
    ]);
  });

  it("agrees with JSON.parse on ordinary documents, also on the slow path", () => {
    const document = { a: [1, "x:1e5", { b: null, 'k"ey': "\u2028\n\\" }], t: true, f: false, e: {}, l: [], n: -1.25 };
    const text = JSON.stringify(document);
    expect(parseExact(text)).toEqual(document);
    // An exponent sends the whole document through our own parser.
    expect(parseExact(`[1e1,${JSON.stringify(document, null, 2)}]`)).toEqual([10, document]);
  });

  it("refuses what is not JSON, also on the slow path", () => {
    for (const text of [
      "[1e1,]",
      "[1e1",
      '{"a":1e1,}',
      "[1e1] x",
      "[1e1,01]",
      "[1e1,'a']",
      '[1e1,"\n"]',
      "{1e1:2}",
      "-1e",
    ]) {
      expect(() => parseExact(text), text).toThrow(SyntaxError);
    }
  });

  it("stops at absurd nesting instead of overflowing the stack", () => {
    expect(() => parseExact(`[1e1,${"[".repeat(100_000)}`)).toThrow("nested too deeply");
  });

  it("does not let a key reach the prototype", () => {
    const value = parseExact('{"n":1e1,"__proto__":{"admin":true}}') as { [key: string]: Json };
    expect(Object.keys(value)).toEqual(["n", "__proto__"]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it("indents as people expect", () => {
    expect(stringifyExact({ a: [1, {}], b: "x" }, 2)).toBe('{\n  "a": [\n    1,\n    {}\n  ],\n  "b": "x"\n}');
  });

  it("takes only integers as positions", () => {
    for (const value of [1.5, "7", null, new ExactNumber("1e400"), undefined])
      expect(() => toInteger(value, "position")).toThrow(TypeError);
  });
});
