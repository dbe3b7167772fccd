// Small readers of answers: what is missing or of another kind is said at once, not three components later.

import { isObject, type Json } from "../json/exact";

export function object(value: Json | undefined, what: string): { [key: string]: Json } {
  if (!isObject(value)) throw new TypeError(`${what} is not an object`);
  return value;
}

export function number(value: Json | undefined, what: string): number {
  const read = Number(String(value ?? ""));
  if (value === null || value === undefined || Number.isNaN(read)) throw new TypeError(`${what} is not a number`);
  return read;
}

/** A text, or `null` where there is none. */
export function maybe(value: Json | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
