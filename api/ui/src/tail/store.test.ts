import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toEvent, type EventFilter, type EventView } from "../api/events";
import { AWAY, Problem } from "../api/problem";
import { passes } from "../query/match";
import { TailStore, type GetPage } from "./store";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ALL: EventFilter = { kinds: [], subsystems: [] };
const EVEN: EventFilter = { kinds: ["Even"], subsystems: [] };
const event = (position: number) => toEvent({ position, kind: position % 2 === 0 ? "Even" : "Odd" });

/** A log of its own, asked through the same function as the real one. */
class Log {
  events: EventView[] = [];
  asked: string[] = [];
  fault: Error | undefined;

  append(count: number): EventView[] {
    const from = this.events.length + 1;
    const fresh = Array.from({ length: count }, (_, index) => event(from + index));
    this.events.push(...fresh);
    return fresh;
  }

  readonly page: GetPage = (filter, { after, before, limit }) => {
    this.asked.push(after !== undefined ? `after ${after}` : before !== undefined ? `before ${before}` : "newest");
    if (this.fault) return Promise.reject(this.fault);
    const head = BigInt(this.events.length);
    const matching = this.events.filter(
      (event) => passes(filter, event) && event.position > (after ?? 0n) && event.position < (before ?? head + 1n),
    );
    return Promise.resolve({ head, events: after !== undefined ? matching.slice(0, limit) : matching.slice(-limit) });
  };
}

async function shown(log: Log, filter = ALL, pausedAt?: bigint, limit?: number): Promise<TailStore> {
  const store = new TailStore(log.page, limit);
  store.show(filter, pausedAt);
  await settle();
  return store;
}
const settle = () => vi.advanceTimersByTimeAsync(60);
const positions = (events: readonly EventView[]) => events.map(({ position }) => Number(position));
const upTo = (last: number, step = 1) =>
  Array.from({ length: Math.floor(last / step) }, (_, index) => (index + 1) * step);

describe("tail store", () => {
  it("loads the newest page, then follows the stream", async () => {
    const log = new Log();
    log.append(300);
    const store = await shown(log);
    expect(positions(store.snapshot().events)).toEqual(upTo(300).slice(100));
    store.take({ is: "events", events: log.append(3) });
    await settle();
    expect(positions(store.snapshot().events)).toEqual(upTo(303).slice(100));
    expect(log.asked).toEqual(["newest"]);
  });

  it("queues what arrives while the first page is on its way", async () => {
    const log = new Log();
    log.append(5);
    const store = new TailStore(log.page);
    store.show(ALL, undefined);
    store.take({ is: "events", events: log.append(2) });
    await settle();
    expect(positions(store.snapshot().events)).toEqual(upTo(7));
  });

  it("heals a gap from the API, whoever lost the events", async () => {
    const log = new Log();
    log.append(5);
    const store = await shown(log);
    log.append(4);
    store.take({ is: "events", events: log.append(1) });
    await settle();
    expect(positions(store.snapshot().events)).toEqual(upTo(10));
    expect(log.asked).toEqual(["newest", "after 5"]);
  });

  it("asks again, but not in a tight loop, when the page does not reach the stream", async () => {
    const log = new Log();
    log.append(5);
    const store = await shown(log);
    store.take({ is: "events", events: [event(9)] });
    await vi.advanceTimersByTimeAsync(900);
    expect(log.asked.length).toBeLessThanOrEqual(3);
    log.append(4);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(positions(store.snapshot().events)).toEqual(upTo(9));
  });

  it("learns from a fresh connection that it is behind", async () => {
    const log = new Log();
    log.append(5);
    const store = await shown(log);
    log.append(2);
    store.take({ is: "head", head: 7n, opening: true });
    await settle();
    expect(positions(store.snapshot().events)).toEqual(upTo(7));
  });

  it("learns from a heartbeat, if what it names does not come by itself", async () => {
    const log = new Log();
    log.append(5);
    const store = await shown(log);
    const late = log.append(1);
    store.take({ is: "head", head: 6n, opening: false });
    store.take({ is: "events", events: late });
    await vi.advanceTimersByTimeAsync(1_100);
    expect(log.asked).toEqual(["newest"]);
    log.append(1);
    store.take({ is: "head", head: 7n, opening: false });
    await vi.advanceTimersByTimeAsync(1_100);
    expect(positions(store.snapshot().events)).toEqual(upTo(7));
  });

  it("filters live events, and pages through a filtered gap", async () => {
    const log = new Log();
    log.append(10);
    const store = await shown(log, EVEN);
    store.take({ is: "events", events: log.append(3) });
    await settle();
    expect(positions(store.snapshot().events)).toEqual(upTo(12, 2));
    log.append(2_500);
    store.take({ is: "events", events: log.append(1) });
    await settle();
    expect(positions(store.snapshot().events)).toEqual(upTo(2_514, 2));
    expect(log.asked).toEqual(["newest", "after 13", "after 2012"]);
  });

  it("pauses and resumes without a gap under a running stream", async () => {
    const log = new Log();
    log.append(5);
    const store = await shown(log);
    expect(store.pause()).toBe(5n);
    store.show(ALL, 5n);
    for (let round = 0; round < 21; round += 1) {
      const fresh = log.append(7);
      // Every third batch is lost on the way.
      if (round % 3 !== 1) store.take({ is: "events", events: fresh });
      await settle();
    }
    expect(positions(store.snapshot().events)).toEqual(upTo(5));
    expect(store.snapshot().pending.length).toBe(147);
    store.show(ALL, undefined);
    await settle();
    expect(positions(store.snapshot().events)).toEqual(upTo(152));
    expect(store.snapshot().pending).toEqual([]);
  });

  it("opens a link to a paused view with what came in since waiting", async () => {
    const log = new Log();
    log.append(500);
    const store = await shown(log, EVEN, 440n);
    expect(store.snapshot().events.at(-1)?.position).toBe(440n);
    expect(positions(store.snapshot().pending)).toEqual(upTo(500, 2).filter((position) => position > 440));
    store.show(EVEN, undefined);
    expect(store.snapshot().events.at(-1)?.position).toBe(500n);
    expect(positions(store.snapshot().events)).toEqual(upTo(500, 2).filter((position) => position >= 42));
  });

  it("reloads the newest page when too much went by during a pause", async () => {
    const log = new Log();
    log.append(5);
    const store = await shown(log, ALL, 5n, 300);
    store.take({ is: "events", events: log.append(301) });
    await settle();
    expect(store.snapshot()).toMatchObject({ overflowed: true, pausedAt: 5n });
    expect(positions(store.snapshot().events)).toEqual(upTo(5));
    store.show(ALL, undefined);
    await settle();
    expect(positions(store.snapshot().events)).toEqual(upTo(306).slice(106));
  });

  it("starts again after a resync, and says where a frozen view stands now", async () => {
    const log = new Log();
    log.append(50);
    const store = await shown(log, ALL, 50n);
    let refrozen: bigint | undefined;
    store.onRefrozen = (position) => (refrozen = position);
    log.events = [];
    log.append(3);
    store.take({ is: "resync", reason: "restored" });
    await settle();
    expect(positions(store.snapshot().events)).toEqual([1, 2, 3]);
    expect(refrozen).toBe(3n);
  });

  it("retries with backoff while the server is away, and keeps what it had", async () => {
    const log = new Log();
    log.append(5);
    const store = await shown(log);
    log.fault = AWAY();
    log.append(1);
    store.take({ is: "events", events: log.append(1) });
    await settle();
    expect(store.snapshot()).toMatchObject({ phase: "ready" });
    expect(store.snapshot().retryAt).toBeGreaterThan(Date.now());
    expect(positions(store.snapshot().events)).toEqual(upTo(5));
    log.fault = undefined;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(positions(store.snapshot().events)).toEqual(upTo(7));
    expect(store.snapshot().problem).toBeUndefined();
  });

  it("does not retry what the server refused", async () => {
    const log = new Log();
    log.fault = new Problem(400, "Bad filter", "no kind is called `X`");
    const store = await shown(log);
    expect(store.snapshot()).toMatchObject({ phase: "failed", retryAt: undefined });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(log.asked).toHaveLength(1);
  });

  it("pages back to the start, and stops there", async () => {
    const log = new Log();
    log.append(450);
    const store = await shown(log);
    await store.loadOlder();
    expect(store.snapshot()).toMatchObject({ atStart: false });
    await store.loadOlder();
    expect(positions(store.snapshot().events)).toEqual(upTo(450));
    expect(store.snapshot()).toMatchObject({ atStart: true });
    await store.loadOlder();
    expect(log.asked).toEqual(["newest", "before 251", "before 51"]);
  });
});
