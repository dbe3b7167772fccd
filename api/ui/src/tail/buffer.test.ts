import { describe, expect, it } from "vitest";
import { toEvent } from "../api/events";
import { TailBuffer } from "./buffer";

const event = (position: number | bigint) =>
  toEvent(`{"position":${position},"kind":"${BigInt(position) % 2n === 0n ? "Even" : "Odd"}"}`);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => event(from + index));
const all = () => true;
const even = ({ kind }: { kind: string }) => kind === "Even";
const positions = (events: readonly { position: bigint }[]) => events.map(({ position }) => Number(position));

function filled(limit = 10): TailBuffer {
  const buffer = new TailBuffer(limit);
  buffer.reset(range(1, 5), 5n, true, false);
  return buffer;
}

describe("tail buffer", () => {
  it("appends what follows, drops what it has, and reports a gap", () => {
    const buffer = filled();
    expect(buffer.accept(range(4, 7), all)).toBe(true);
    expect(positions(buffer.events)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(buffer.accept(range(9, 9), all)).toBe(false);
    expect(buffer.cursor).toBe(7n);
    buffer.fill(range(8, 9), 9n);
    expect(positions(buffer.events)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("moves the cursor over events the filter drops, so that they are no gap", () => {
    const buffer = filled();
    expect(buffer.accept(range(6, 9), even)).toBe(true);
    expect(positions(buffer.events)).toEqual([1, 2, 3, 4, 5, 6, 8]);
    expect(buffer.cursor).toBe(9n);
  });

  it("keeps an unbroken newest run within its bound", () => {
    const buffer = filled();
    buffer.accept(range(6, 30), all);
    expect(positions(buffer.events)).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
    expect(buffer.atStart).toBe(false);
  });

  it("freezes the view in a pause and continues without a gap", () => {
    const buffer = filled();
    buffer.pause();
    buffer.accept(range(6, 8), all);
    expect(positions(buffer.events)).toEqual([1, 2, 3, 4, 5]);
    expect(positions(buffer.pending)).toEqual([6, 7, 8]);
    expect(buffer.pausedAt).toBe(5n);
    expect(buffer.resume()).toBe(true);
    expect(positions(buffer.events)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(buffer.pending).toEqual([]);
  });

  it("never drops a frozen event for a newcomer, and asks for a reload when too many came", () => {
    const buffer = filled();
    buffer.pause();
    buffer.accept(range(6, 15), all);
    expect(buffer.overflowed).toBe(false);
    buffer.accept(range(16, 16), all);
    expect(buffer.overflowed).toBe(true);
    expect(positions(buffer.events)).toEqual([1, 2, 3, 4, 5]);
    expect(buffer.pending).toHaveLength(10);
    expect(buffer.resume()).toBe(false);
  });

  it("puts older pages in front, as many as fit, without doubles", () => {
    const buffer = new TailBuffer(6);
    buffer.reset(range(10, 13), 13n, false, false);
    buffer.prepend(range(6, 10), true);
    expect(positions(buffer.events)).toEqual([8, 9, 10, 11, 12, 13]);
    expect(buffer.full).toBe(true);
    expect(buffer.atStart).toBe(false);
  });

  it("counts positions beyond 2^53 exactly", () => {
    const buffer = new TailBuffer();
    buffer.reset([], 9007199254740992n, true, false);
    expect(buffer.accept([event(9007199254740993n), event(9007199254740994n)], all)).toBe(true);
    expect(buffer.events.map(({ position }) => position)).toEqual([9007199254740993n, 9007199254740994n]);
    expect(buffer.accept([event(9007199254740996n)], all)).toBe(false);
  });
});
