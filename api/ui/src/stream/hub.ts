// One event stream per browser. Over HTTP/1.1 a browser opens about six connections to one origin, so the tabs elect a
// leader by a web lock; it holds the stream and tells the others over a BroadcastChannel. Where locks are missing
// (plain http away from localhost) each tab holds its own.
//
// The hub never filters: positions of the whole log are contiguous, so every tab can see for itself whether it has
// missed something, and heal.

import { toEvent, type EventView, type Position } from "../api/events";
import { isObject, parseExact, toInteger } from "../json/exact";
import { api, ROOT } from "../root";
import type { Frame } from "./parser";
import { SseReader, type StreamState } from "./reader";

export type Signal =
  | { is: "events"; events: EventView[] }
  /** The log reaches at least this far; `sure` when everything up to it was already sent on this connection's behalf. */
  | { is: "head"; head: Position; opening: boolean }
  /** Start again: positions seen so far may mean something else now. */
  | { is: "resync"; reason: string }
  | { is: "session ended" }
  | { is: "stopped" };

type Message =
  | { is: "hello" }
  | { is: "frames"; frames: Frame[] }
  | { is: "state"; state: StreamState; lastId: string }
  | { is: "retry" }
  | { is: "signed out" };

export interface Trouble {
  reason: string;
  /** When the next try is due; absent while it is under way, or when there will be none. */
  until: number | undefined;
  refused: boolean;
}

export interface Snapshot {
  state: StreamState;
  /** What to tell the person. Stays through the tries, and a reconnect that works at once is none. */
  trouble: Trouble | undefined;
  leading: boolean;
  head: Position | undefined;
}

const NAME = `weir:events:${ROOT}`;

export class EventHub {
  #snapshot: Snapshot = { state: { is: "connecting" }, trouble: undefined, leading: false, head: undefined };
  #lastId = "";
  #short = 0;
  #stop: AbortController | undefined;
  #reader: SseReader | undefined;
  #channel: BroadcastChannel | undefined;
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<(signal: Signal) => void>();

  /** For `useSyncExternalStore`. */
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };
  readonly snapshot = (): Snapshot => this.#snapshot;

  listen(listener: (signal: Signal) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    if (this.#stop) return;
    const stop = new AbortController();
    this.#stop = stop;
    if (!("locks" in navigator) || !("BroadcastChannel" in window)) {
      this.#lead();
      return;
    }
    this.#channel = new BroadcastChannel(NAME);
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
    this.#tell({ is: "hello" });
    navigator.locks
      .request(NAME, { signal: stop.signal }, () => {
        this.#lead();
        return new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
      })
      .catch(() => undefined); // Stopped while still waiting in line.
  }

  stop(): void {
    this.#stop?.abort();
    this.#reader?.close();
    this.#channel?.close();
    this.#stop = this.#reader = this.#channel = undefined;
    this.#lastId = "";
    this.#show({ state: { is: "closed" }, trouble: undefined, leading: false, head: undefined });
    this.#signal({ is: "stopped" });
  }

  retryNow(): void {
    if (!this.#reader) this.#tell({ is: "retry" });
    else if (this.#snapshot.state.is === "refused") this.#lead();
    else this.#reader.retryNow();
  }

  /** Tells the other tabs that the session is over, so that they ask for a token too. */
  tellSignedOut(): void {
    this.#tell({ is: "signed out" });
  }

  #lead(): void {
    this.#reader?.close();
    const reader = new SseReader({
      url: api("events"),
      lastId: this.#lastId,
      onFrames: (frames) => {
        if (this.#reader !== reader) return;
        this.#tell({ is: "frames", frames });
        this.#take(frames);
      },
      onState: (state) => {
        if (this.#reader === reader) this.#change(state);
      },
    });
    this.#reader = reader;
    this.#show({ leading: true });
    void reader.run();
  }

  #change(state: StreamState): void {
    this.#show({ state, trouble: troubleOf(state, this.#snapshot.trouble) });
    this.#tell({ is: "state", state, lastId: this.#lastId });
    if (state.is !== "refused") return;
    if (state.status === 401) this.#signal({ is: "session ended" });
    // 410: our place is older than what the server keeps. Without a place there is nothing to give up any more.
    if (state.status === 410 && this.#lastId !== "") this.#restart("", state.reason);
  }

  #hear(message: Message): void {
    if (message.is === "signed out") this.#signal({ is: "session ended" });
    else if (this.#reader) {
      if (message.is === "hello") this.#tell({ is: "state", state: this.#snapshot.state, lastId: this.#lastId });
      if (message.is === "retry") this.retryNow();
    } else if (message.is === "frames") this.#take(message.frames);
    else if (message.is === "state") {
      this.#show({ state: message.state, trouble: troubleOf(message.state, this.#snapshot.trouble) });
      if (message.state.is === "refused" && message.state.status === 401) this.#signal({ is: "session ended" });
      this.#moveTo(message.lastId, true);
    }
  }

  #take(frames: Frame[]): void {
    const events: EventView[] = [];
    for (const frame of frames) {
      if (frame.event === "message") {
        this.#moveTo(frame.id, false);
        events.push(toEvent(frame.data));
      } else if (frame.event === "open") this.#moveTo(frame.id, true);
      else if (frame.event === "heartbeat") {
        if (!this.#heartbeat(frame)) return;
      } else if (frame.event === "resync") {
        const value = parseExact(frame.data);
        if (!isObject(value)) continue;
        this.#restart(`${String(value["incarnation"])}-${String(value["head"])}`, String(value["reason"] ?? ""));
        return;
      }
    }
    if (events.length > 0) this.#signal({ is: "events", events });
  }

  /** Gives `false` when the log turned out to be another one, and the stream starts again. */
  #heartbeat(frame: Frame): boolean {
    const value = parseExact(frame.data);
    if (!isObject(value)) return true;
    const head = toInteger(value["head"], "head");
    // One short head may be a stale reading; two in a row are a log that was set back under its old name.
    const short = head < (split(this.#lastId)?.position ?? 0n);
    this.#short = short ? this.#short + 1 : 0;
    if (this.#short > 1) {
      this.#short = 0;
      this.#restart("", "the log is shorter than it was");
      return false;
    }
    if (short) return true;
    this.#show({ head });
    this.#signal({ is: "head", head, opening: false });
    return true;
  }

  /** Follows an id `<incarnation>-<position>`; another incarnation is another log. */
  #moveTo(id: string, opening: boolean): void {
    const place = split(id);
    if (!place) return;
    const before = split(this.#lastId);
    this.#lastId = id;
    if (before && before.incarnation !== place.incarnation)
      this.#signal({ is: "resync", reason: "the log was replaced" });
    if (this.#snapshot.head === undefined || place.position > this.#snapshot.head) this.#show({ head: place.position });
    if (opening) this.#signal({ is: "head", head: place.position, opening });
  }

  #restart(id: string, reason: string): void {
    this.#lastId = id;
    this.#show({ head: split(id)?.position });
    this.#signal({ is: "resync", reason });
    if (this.#reader) this.#lead();
  }

  #tell(message: Message): void {
    this.#channel?.postMessage(message);
  }

  #signal(signal: Signal): void {
    for (const listener of this.#listeners) listener(signal);
  }

  #show(change: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const watcher of this.#watchers) watcher();
  }
}

function troubleOf(state: StreamState, before: Trouble | undefined): Trouble | undefined {
  if (state.is === "refused") return { reason: state.reason, until: undefined, refused: true };
  if (state.is === "waiting" && state.attempt > 1) return { reason: state.reason, until: state.until, refused: false };
  if (state.is === "connecting" && before && !before.refused) return { ...before, until: undefined };
  return undefined;
}

function split(id: string): { incarnation: string; position: Position } | undefined {
  const [, incarnation, digits] = /^(.+)-(\d+)$/.exec(id) ?? [];
  return incarnation !== undefined && digits !== undefined ? { incarnation, position: BigInt(digits) } : undefined;
}

export const hub = new EventHub();
