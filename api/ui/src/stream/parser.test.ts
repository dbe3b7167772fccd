import { describe, expect, it } from "vitest";
import { SseParser } from "./parser";

const STREAM =
  "retry: 1500\nid: a-7\n\n" +
  ": a comment\n" +
  'id: a-8\ndata: {"position":8}\n\n' +
  'event: heartbeat\ndata: {"head":8}\n\n' +
  "id: a-9\r\ndata: one\r\ndata:two\r\n\r\n" +
  "data\rdata: \r\r";

const FRAMES = [
  { event: "open", data: "", id: "a-7" },
  { event: "message", data: '{"position":8}', id: "a-8" },
  { event: "heartbeat", data: '{"head":8}', id: "a-8" },
  { event: "message", data: "one\ntwo", id: "a-9" },
  { event: "message", data: "\n", id: "a-9" },
];

describe("SSE parser", () => {
  it("reads all three line ends, comments, and fields without a value", () => {
    const parser = new SseParser();
    // The last CR could be half of a CRLF until something follows.
    expect(parser.push(`\ufeff${STREAM}:`)).toEqual(FRAMES);
    expect(parser.retry).toBe(1500);
    expect(parser.lastId).toBe("a-9");
  });

  it("gives the same frames however the stream is cut", () => {
    const text = `${STREAM}:`;
    for (let size = 1; size <= text.length; size += 1) {
      const parser = new SseParser();
      const frames = [];
      for (let at = 0; at < text.length; at += size) frames.push(...parser.push(text.slice(at, at + size)));
      expect(frames, `pieces of ${size}`).toEqual(FRAMES);
    }
  });

  it("does not dispatch half an event, and keeps the id of the last whole one", () => {
    const parser = new SseParser("a-1");
    expect(parser.push("id: a-2\ndata: x\n")).toEqual([]);
    expect(parser.lastId).toBe("a-1");
    expect(parser.push("\n")).toEqual([{ event: "message", data: "x", id: "a-2" }]);
  });

  it("ignores ids with NUL and retries that are no number", () => {
    const parser = new SseParser("a-1");
    expect(parser.push("id: a\0b\nretry: soon\ndata: x\n\n")).toEqual([{ event: "message", data: "x", id: "a-1" }]);
    expect(parser.retry).toBeUndefined();
  });

  it("refuses an event without end", () => {
    const parser = new SseParser();
    expect(() => {
      for (let count = 0; count < 10; count += 1) parser.push(`data: ${"x".repeat(1024 * 1024)}\n`);
    }).toThrow(RangeError);
  });
});
