import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventHub, type Signal } from "./hub";

// Two tabs are two hubs in one process: locks and channel are the browser's, so small ones stand in for them.
class Locks {
  #queue: { run: () => Promise<void> }[] = [];
  request(_: string, options: { signal: AbortSignal }, holder: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const entry = { run: () => holder().then(resolve) };
      options.signal.addEventListener("abort", () => {
        this.#queue = this.#queue.filter((other) => other !== entry || this.#queue[0] === entry);
        reject(new Error("aborted"));
      });
      this.#queue.push(entry);
      if (this.#queue.length === 1) void this.#next();
    });
  }
  async #next(): Promise<void> {
    await this.#queue[0]?.run();
    this.#queue.shift();
    if (this.#queue.length > 0) await this.#next();
  }
}

let connections: { id: string | undefined; send: (text: string) => void; end: () => void }[] = [];
let status = 200;

function server(_: unknown, init?: RequestInit): Promise<Response> {
  const id = (init?.headers as Record<string, string>)["last-event-id"];
  if (status !== 200) return Promise.resolve(new Response("{}", { status }));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      connections.push({
        id,
        send: (text) => controller.enqueue(new TextEncoder().encode(text)),
        end: () => controller.close(),
      });
      init?.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
    },
  });
  return Promise.resolve(new Response(body));
}

const frame = (position: number, incarnation = "a") =>
  `id: ${incarnation}-${position}\ndata: {"position":${position}}\n\n`;
let open: EventHub[] = [];

function tab(): { hub: EventHub; seen: number[]; signals: Signal[] } {
  const hub = new EventHub();
  const seen: number[] = [];
  const signals: Signal[] = [];
  hub.listen((signal) => {
    signals.push(signal);
    if (signal.is === "events") seen.push(...signal.events.map(({ position }) => Number(position)));
  });
  hub.start();
  open.push(hub);
  return { hub, seen, signals };
}

beforeEach(() => {
  connections = [];
  status = 200;
  open = [];
  vi.stubGlobal("navigator", { locks: new Locks() });
  vi.stubGlobal("window", { BroadcastChannel });
  vi.stubGlobal("fetch", server);
});
afterEach(() => {
  for (const hub of open) hub.stop();
  vi.unstubAllGlobals();
});

describe("one stream per browser", () => {
  it("opens one connection for two tabs, and both see every event", async () => {
    const first = tab();
    const second = tab();
    await vi.waitFor(() => expect(connections).toHaveLength(1));
    connections[0]?.send("retry: 10\nid: a-3\n\n" + frame(4) + frame(5));
    await vi.waitFor(() => expect(second.seen).toEqual([4, 5]));
    expect(first.seen).toEqual([4, 5]);
    expect(connections).toHaveLength(1);
    expect(second.hub.snapshot()).toMatchObject({ leading: false, head: 5n, state: { is: "live" } });
  });

  it("hands over to the next tab, which resumes after the last event it heard of", async () => {
    const first = tab();
    const second = tab();
    await vi.waitFor(() => expect(connections).toHaveLength(1));
    connections[0]?.send(frame(4));
    await vi.waitFor(() => expect(second.seen).toEqual([4]));
    first.hub.stop();
    await vi.waitFor(() => expect(connections).toHaveLength(2));
    expect(connections[1]?.id).toBe("a-4");
    connections[1]?.send(frame(5));
    await vi.waitFor(() => expect(second.seen).toEqual([4, 5]));
    expect(second.hub.snapshot().leading).toBe(true);
  });

  it("tells a tab that opens later how things stand", async () => {
    tab();
    await vi.waitFor(() => expect(connections).toHaveLength(1));
    connections[0]?.send(frame(9));
    const late = tab();
    await vi.waitFor(() => expect(late.hub.snapshot()).toMatchObject({ state: { is: "live" }, head: 9n }));
  });

  it("holds a stream of its own where locks are missing", async () => {
    vi.stubGlobal("navigator", {});
    tab();
    tab();
    await vi.waitFor(() => expect(connections).toHaveLength(2));
  });

  it("starts again where a resync says, in every tab", async () => {
    const first = tab();
    const second = tab();
    await vi.waitFor(() => expect(connections).toHaveLength(1));
    connections[0]?.send(frame(40) + 'event: resync\ndata: {"incarnation":"b","head":2,"reason":"restored"}\n\n');
    await vi.waitFor(() => expect(connections).toHaveLength(2));
    expect(connections[1]?.id).toBe("b-2");
    await vi.waitFor(() => expect(second.signals).toContainEqual({ is: "resync", reason: "restored" }));
    expect(first.hub.snapshot().head).toBe(2n);
  });

  it("notices another incarnation even when nobody says so", async () => {
    const { signals } = tab();
    await vi.waitFor(() => expect(connections).toHaveLength(1));
    connections[0]?.send(frame(40) + frame(1, "b"));
    await vi.waitFor(() => expect(signals).toContainEqual({ is: "resync", reason: "the log was replaced" }));
  });

  it("notices a log that was set back, by its head, but not at the first short one", async () => {
    const { signals } = tab();
    await vi.waitFor(() => expect(connections).toHaveLength(1));
    const heartbeat = (head: number) => `event: heartbeat\ndata: {"head":${head}}\n\n`;
    connections[0]?.send(frame(40) + heartbeat(39) + heartbeat(40) + heartbeat(7));
    await vi.waitFor(() => expect(signals).toContainEqual({ is: "head", head: 40n, opening: false }));
    expect(signals.some(({ is }) => is === "resync")).toBe(false);
    connections[0]?.send(heartbeat(7));
    await vi.waitFor(() => expect(signals).toContainEqual({ is: "resync", reason: "the log is shorter than it was" }));
    await vi.waitFor(() => expect(connections).toHaveLength(2));
    expect(connections[1]?.id).toBeUndefined();
  });

  it("ends the session of all tabs on 401 and on sign-out", async () => {
    status = 401;
    const first = tab();
    const second = tab();
    await vi.waitFor(() => expect(first.signals).toContainEqual({ is: "session ended" }));
    await vi.waitFor(() => expect(second.signals).toContainEqual({ is: "session ended" }));
    status = 200;
    const third = tab();
    third.hub.tellSignedOut();
    await vi.waitFor(() => expect(first.signals.filter(({ is }) => is === "session ended")).toHaveLength(2));
  });

  it("forgets its place when the server no longer keeps it", async () => {
    const { signals } = tab();
    await vi.waitFor(() => expect(connections).toHaveLength(1));
    connections[0]?.send("retry: 1\n" + frame(4));
    status = 410;
    connections[0]?.end();
    await vi.waitFor(() => expect(signals.some(({ is }) => is === "resync")).toBe(true), { timeout: 3_000 });
    status = 200;
  });
});

it("a reconnect that works at once is no trouble; a server that stays away is, until it is back", async () => {
  const { hub } = tab();
  const troubles: (string | undefined)[] = [];
  hub.watch(() => troubles.push(hub.snapshot().trouble?.reason));
  await vi.waitFor(() => expect(connections).toHaveLength(1));
  connections[0]?.send(`retry: 1\n${frame(4)}`);
  await vi.waitFor(() => expect(hub.snapshot().head).toBe(4n));
  connections[0]?.end();
  await vi.waitFor(() => expect(connections).toHaveLength(2));
  await vi.waitFor(() => expect(hub.snapshot().state.is).toBe("live"));
  expect(troubles.every((trouble) => trouble === undefined)).toBe(true);
  status = 503;
  connections[1]?.end();
  await vi.waitFor(() => expect(hub.snapshot().trouble).toMatchObject({ refused: false }));
  status = 200;
  await vi.waitFor(() => expect(hub.snapshot()).toMatchObject({ trouble: undefined, state: { is: "live" } }), {
    timeout: 5_000,
  });
});
