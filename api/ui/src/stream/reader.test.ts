import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backoff } from "./backoff";
import type { Frame } from "./parser";
import { SseReader, type StreamState } from "./reader";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Answer = (
  body: ReadableStreamDefaultController<Uint8Array>,
  headers: Record<string, string>,
) => Response | undefined;

/** A server that answers one connection after the other by script. */
function start(script: Answer[], lastId?: string) {
  const frames: Frame[] = [];
  const states: StreamState[] = [];
  const asked: (string | undefined)[] = [];
  const controllers: ReadableStreamDefaultController<Uint8Array>[] = [];
  const fetch = (_: unknown, init?: RequestInit) => {
    const headers = init?.headers as Record<string, string>;
    asked.push(headers["last-event-id"]);
    const answer = script[asked.length - 1];
    if (!answer)
      return new Promise<Response>((_, reject) =>
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted"))),
      );
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controllers.push(controller);
        init?.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
      },
    });
    const response = answer(controllers.at(-1) as ReadableStreamDefaultController<Uint8Array>, headers);
    return Promise.resolve(response ?? new Response(body, { headers: { "content-type": "text/event-stream" } }));
  };
  const reader = new SseReader({
    url: "/api/events",
    ...(lastId === undefined ? {} : { lastId }),
    fetch: fetch as typeof globalThis.fetch,
    random: () => 1,
    onFrames: (more) => frames.push(...more),
    onState: (state) => states.push(state),
  });
  const done = reader.run();
  return { reader, frames, states, asked, done };
}

const bytes = (text: string) => new TextEncoder().encode(text);
const last = <T>(list: T[]) => list.at(-1);

describe("SSE reader", () => {
  it("resumes with the id of the last event, after the wait the server asked for", async () => {
    const { reader, frames, states, asked } = start([
      (body) => {
        body.enqueue(bytes("retry: 500\nid: a-7\n\nid: a-8\ndata: 8\n\n"));
        body.close();
        return undefined;
      },
      (body) => void body.enqueue(bytes("id: a-9\ndata: 9\n\n")) as undefined,
    ]);
    await vi.advanceTimersByTimeAsync(0);
    expect(last(states)).toMatchObject({ is: "waiting", attempt: 1 });
    await vi.advanceTimersByTimeAsync(499);
    expect(asked).toEqual([undefined]);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toEqual([undefined, "a-8"]);
    expect(frames.map(({ id }) => id)).toEqual(["a-7", "a-8", "a-9"]);
    expect(last(states)).toEqual({ is: "live" });
    reader.close();
  });

  it("does not lose characters that were cut between two chunks", async () => {
    const { reader, frames } = start([
      (body) => {
        const whole = bytes("data: ö\n\n");
        body.enqueue(whole.slice(0, 7));
        body.enqueue(whole.slice(7));
        return undefined;
      },
    ]);
    await vi.advanceTimersByTimeAsync(0);
    expect(frames[0]?.data).toBe("ö");
    reader.close();
  });

  it("gives up on a socket that says nothing, and comes back with the same id", async () => {
    const { reader, states, asked } = start([(body) => void body.enqueue(bytes("id: a-1\ndata: x\n\n")) as undefined]);
    await vi.advanceTimersByTimeAsync(14_999);
    expect(last(states)).toEqual({ is: "live" });
    await vi.advanceTimersByTimeAsync(1);
    expect(last(states)).toMatchObject({ is: "waiting", reason: "the server went silent" });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked).toEqual([undefined, "a-1"]);
    reader.close();
  });

  it("backs off further each time, and only a frame resets that", async () => {
    const die: Answer = (body) => void body.close() as undefined;
    const { reader, states } = start([
      die,
      die,
      die,
      (body) => {
        body.enqueue(bytes("data: x\n\n"));
        body.close();
        return undefined;
      },
    ]);
    await vi.advanceTimersByTimeAsync(60_000);
    const attempts = states.flatMap((state) => (state.is === "waiting" ? [state.attempt] : []));
    expect(attempts.slice(0, 4)).toEqual([1, 2, 3, 1]);
    reader.close();
  });

  it("waits as long as Retry-After says", async () => {
    const { reader, asked } = start([() => new Response("{}", { status: 503, headers: { "retry-after": "20" } })]);
    await vi.advanceTimersByTimeAsync(19_999);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toHaveLength(2);
    reader.close();
  });

  it("stops on answers that trying again cannot change, with the server's reason", async () => {
    for (const status of [400, 401, 403, 410]) {
      const { states, asked, done } = start([() => new Response(JSON.stringify({ detail: 'a "reason"' }), { status })]);
      await done;
      expect(last(states)).toEqual({ is: "refused", status, reason: 'a "reason"' });
      expect(asked).toHaveLength(1);
    }
  });

  it("ends on 204", async () => {
    const { states, done } = start([() => new Response(null, { status: 204 })]);
    await done;
    expect(last(states)).toEqual({ is: "closed" });
  });

  it("tries at once when asked to", async () => {
    const { reader, asked } = start([() => new Response("", { status: 503, headers: { "retry-after": "300" } })]);
    await vi.advanceTimersByTimeAsync(10);
    reader.retryNow();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(2);
    reader.close();
  });

  it("says nothing more after close", async () => {
    const { reader, states, done } = start([(body) => void body.enqueue(bytes("data: x\n\n")) as undefined]);
    await vi.advanceTimersByTimeAsync(0);
    reader.close();
    await done;
    expect(last(states)).toEqual({ is: "closed" });
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("backoff doubles up to its cap and keeps at least half", () => {
  expect([0, 1, 2, 10].map((attempt) => backoff(attempt, 1_000, 30_000, () => 1))).toEqual([
    1_000, 2_000, 4_000, 30_000,
  ]);
  expect(backoff(3, 1_000, 30_000, () => 0)).toBe(4_000);
});
