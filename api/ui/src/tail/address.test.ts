import { describe, expect, it } from "vitest";
import { parseSearch, readTailSearch, stringifySearch, toPosition } from "./address";

describe("the tail's address", () => {
  it("survives a round trip, big positions and spaces included", () => {
    const state = {
      q: 'subsystem:registry stream:registry/rules kind:A,B "too young" 100% &=#+',
      paused: "9007199254740993",
      at: "7",
    };
    expect(readTailSearch(parseSearch(stringifySearch(state)))).toEqual(state);
    expect(toPosition(state.paused)).toBe(9007199254740993n);
  });

  it("stays readable", () => {
    expect(stringifySearch({ q: "subsystem:registry stream:registry/rules six" })).toBe(
      "?q=subsystem:registry+stream:registry/rules+six",
    );
    expect(stringifySearch({ q: "", at: undefined })).toBe("");
  });

  it("leaves out what it cannot read", () => {
    expect(readTailSearch({ q: "  ", paused: "-3", at: "12e4" })).toEqual({});
    expect(readTailSearch({ q: 7, paused: "99999999999999999999", at: "007" })).toEqual({ at: "7" });
  });
});
