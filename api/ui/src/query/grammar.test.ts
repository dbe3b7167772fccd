import { describe, expect, it } from "vitest";
import { toEvent, type Kind } from "../api/events";
import { formatQuery, parseQuery, withKey } from "./grammar";
import { contains, passes } from "./match";
import { suggest } from "./suggest";

describe("query grammar", () => {
  it("tells filter from free text", () => {
    expect(parseQuery("subsystem:registry kind:PackageBlocked stream:registry/rules Six left-pad")).toEqual({
      filter: { subsystems: ["registry"], kinds: ["PackageBlocked"], stream: "registry/rules" },
      words: ["six", "left-pad"],
      problems: [],
    });
  });

  it("joins lists and repeats, once each", () => {
    expect(parseQuery("kind:A,B kind:B,C subsystem:web").filter).toEqual({
      kinds: ["A", "B", "C"],
      subsystems: ["web"],
    });
  });

  it("keeps quoted words together and takes an open quote to the end", () => {
    expect(parseQuery('"too young" stream:"a b" "open').words).toEqual(["too young", "open"]);
    expect(parseQuery('stream:"a b"').filter.stream).toBe("a b");
    expect(parseQuery('principal:"robot, 2"').filter.principal).toBe("robot, 2");
  });

  it("treats other colons as text, and asks about slips", () => {
    expect(parseQuery("https://docs.rs pkg:six").words).toEqual(["https://docs.rs", "pkg:six"]);
    expect(parseQuery("https://docs.rs").problems).toEqual([]);
    expect(parseQuery("subsytem:web").problems[0]).toContain("“subsystem:”");
    expect(parseQuery("kind:").problems[0]).toContain("needs a value");
    expect(parseQuery("stream:a stream:b").filter.stream).toBe("b");
    expect(parseQuery("stream:a stream:b").problems).toHaveLength(1);
    expect(parseQuery("principal:a principal:b principal:b").problems).toHaveLength(1);
  });

  it("formats to something that parses to the same query", () => {
    for (const text of ["", "six", "kind:A,B six subsystem:web", 'stream:"a b" "x y" kind:K', 'principal:"robot 2" six']) {
      const query = parseQuery(text);
      expect(parseQuery(formatQuery(query))).toEqual({ ...query, problems: [] });
    }
    expect(withKey("kind:A six", "kind", "B")).toBe("kind:B six");
  });
});

describe("matching", () => {
  const event = toEvent({
    position: 7,
    stream: "registry/rules",
    kind: "RuleAdded",
    subsystem: "registry",
    meta: { principal: "robot 2" },
    payload: { package: "Six" },
  });

  it("filters live events as the server does", () => {
    expect(passes(parseQuery("stream:registry/ kind:RuleAdded,Other").filter, event)).toBe(true);
    expect(passes(parseQuery("subsystem:web").filter, event)).toBe(false);
    expect(passes(parseQuery("kind:Rule").filter, event)).toBe(false);
    expect(passes(parseQuery("stream:rules").filter, event)).toBe(false);
    expect(passes(parseQuery('principal:"robot 2"').filter, event)).toBe(true);
    expect(passes(parseQuery("principal:robot").filter, event)).toBe(false);
  });

  it("finds every word in stream, kind or payload", () => {
    expect(contains(["six", "ruleadded"], event)).toBe(true);
    expect(contains(["six", "seven"], event)).toBe(false);
  });
});

describe("suggestions", () => {
  const kinds: Kind[] = [
    { code: 1, name: "RuleAdded", subsystem: "registry", schema: 1, doc: "A rule" },
    { code: 2, name: "PackageBlocked", subsystem: "registry", schema: 1, doc: "A block" },
    { code: 3, name: "CacheHit", subsystem: "web", schema: 1, doc: "A hit" },
  ];
  const labels = (text: string, caret = text.length) =>
    suggest(text, caret, kinds, ["registry/rules"]).map(({ label }) => label);

  it("offers keys, then values of the key", () => {
    expect(labels("")).toEqual(["subsystem:", "kind:", "stream:", "principal:"]);
    expect(labels("su")).toEqual(["subsystem:"]);
    expect(labels("subsystem:")).toEqual(["registry", "web"]);
    expect(labels("stream:reg")).toEqual(["registry/rules"]);
  });

  it("narrows kinds to the sub-system already named", () => {
    expect(labels("subsystem:web kind:")).toEqual(["CacheHit"]);
  });

  it("completes inside a list and in the middle of a query", () => {
    expect(labels("kind:RuleAdded,pack")).toEqual(["PackageBlocked"]);
    const [first] = suggest("kind:pack six", 9, kinds, []);
    expect(first).toMatchObject({ text: "kind:PackageBlocked six", caret: "kind:PackageBlocked ".length });
  });

  it("finds a kind by a piece of its name", () => {
    expect(labels("block")).toEqual(["kind:PackageBlocked"]);
  });
});
