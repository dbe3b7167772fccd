// Lossless JSON: a number that a double cannot hold keeps its source text, so a position beyond 2^53 is shown,
// copied and compared as the log wrote it.

/** A number kept as its source text, because a double would change it. */
export class ExactNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
  toString(): string {
    return this.source;
  }
}

export type Json = null | boolean | number | string | ExactNumber | Json[] | { [key: string]: Json };

// A number token that might not survive a double: many digits, or an exponent. Strings that look so only cost time.
const SUSPECT = /(?:^|[:,[])\s*-?(?:[\d.]{16}|[\d.]*[eE])/;

/** Parses JSON without changing any number. Throws `SyntaxError` as `JSON.parse` does. */
export function parseExact(text: string): Json {
  return SUSPECT.test(text) ? new Parser(text).document() : (JSON.parse(text) as Json);
}

/** Writes JSON; exact numbers come out as they came in. */
export function stringifyExact(value: Json, indent = 0): string {
  return write(value, indent, "");
}

/** Reads a position (or any integer) as `bigint`; throws when it is not one. */
export function toInteger(value: Json | undefined, what: string): bigint {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (value instanceof ExactNumber && /^-?\d+$/.test(value.source)) return BigInt(value.source);
  throw new TypeError(`${what} is not an integer`);
}

export function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

function write(value: Json, indent: number, margin: string): string {
  if (value instanceof ExactNumber) return value.source;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = margin + " ".repeat(indent);
  const [open, close, items] = Array.isArray(value)
    ? ["[", "]", value.map((item) => write(item, indent, inner))]
    : [
        "{",
        "}",
        Object.entries(value).map(
          ([key, item]) => `${JSON.stringify(key)}:${indent > 0 ? " " : ""}${write(item, indent, inner)}`,
        ),
      ];
  if (items.length === 0) return open + close;
  if (indent === 0) return open + items.join(",") + close;
  return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${margin}${close}`;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const SPACE = /[ \t\n\r]*/y;
const MAX_DEPTH = 512;

/** A small recursive parser, used only where `JSON.parse` could lose digits. */
class Parser {
  #at = 0;
  #depth = 0;
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail();
    return value;
  }

  #value(): Json {
    this.#space();
    const first = this.#text[this.#at];
    if (first === "{" || first === "[") {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH) this.#fail("nested too deeply");
      const value = first === "{" ? this.#object() : this.#array();
      this.#depth -= 1;
      return value;
    }
    if (first === '"') return this.#string();
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return number(this.#token(NUMBER));
  }

  #object(): Json {
    const object: { [key: string]: Json } = {};
    this.#list("}", () => {
      this.#space();
      const key = this.#string();
      this.#space();
      if (this.#text[this.#at] !== ":") this.#fail();
      this.#at += 1;
      // `__proto__` is a key like any other here.
      Object.defineProperty(object, key, {
        value: this.#value(),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    });
    return object;
  }

  #array(): Json {
    const array: Json[] = [];
    this.#list("]", () => array.push(this.#value()));
    return array;
  }

  #list(close: string, item: () => void): void {
    this.#at += 1;
    this.#space();
    if (this.#text[this.#at] === close) {
      this.#at += 1;
      return;
    }
    for (;;) {
      item();
      this.#space();
      const next = this.#text[this.#at];
      if (next !== "," && next !== close) this.#fail();
      this.#at += 1;
      if (next === close) return;
    }
  }

  #string(): string {
    return JSON.parse(this.#token(STRING)) as string;
  }

  #token(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.#text)?.[0];
    if (token === undefined) this.#fail();
    this.#at += token.length;
    return token;
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
  }

  #fail(why = "unexpected character"): never {
    throw new SyntaxError(`${why} in JSON at ${this.#at}`);
  }
}

/** A double when it says the same thing, the source otherwise. */
function number(source: string): number | ExactNumber {
  const value = Number(source);
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) ? value : new ExactNumber(source);
  return Number.isFinite(value) && digits(String(value)) === digits(source) ? value : new ExactNumber(source);
}

/** Significant digits and exponent of a decimal, to compare two spellings of one number: `1.50e3` is `1500`. */
function digits(source: string): string {
  const [mantissa = "", exponent = "0"] = source.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const all = (whole + fraction).replace(/^0+/, "");
  const significant = all.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${significant}e${Number(exponent) - fraction.length + (all.length - significant.length)}`;
}
