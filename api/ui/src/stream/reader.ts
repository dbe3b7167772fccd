// Reads one server-sent stream over fetch and keeps it alive: resumes with `Last-Event-ID`, backs off, and gives up on
// a socket that says nothing for three heartbeats. EventSource can do neither: it hides a 401 behind endless retries,
// and cannot tell a silent log from a dead connection.

import { backoff } from "./backoff";
import { SseParser, type Frame } from "./parser";

export type StreamState =
  | { is: "connecting" }
  | { is: "live" }
  | { is: "waiting"; reason: string; attempt: number; until: number }
  | { is: "refused"; status: number; reason: string }
  | { is: "closed" };

export interface ReaderOptions {
  url: string;
  lastId?: string;
  onFrames: (frames: Frame[]) => void;
  onState: (state: StreamState) => void;
  /** Silence after which the connection counts as dead; the server speaks every 5 s. */
  watchdog?: number;
  fetch?: typeof fetch;
  now?: () => number;
  random?: () => number;
}

const DEFAULT_RETRY = 1_000;

export class SseReader {
  readonly #options: ReaderOptions;
  readonly #stop = new AbortController();
  #lastId: string;
  #retry = DEFAULT_RETRY;
  #attempt = 0;
  #wake: (() => void) | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#lastId = options.lastId ?? "";
  }

  get lastId(): string {
    return this.#lastId;
  }

  /** Runs until `close`, a 204, or an answer that trying again cannot change (401, 403, 410). */
  async run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#options.onState({ is: "connecting" });
      const outcome = await this.#connect();
      if (this.#stop.signal.aborted) break;
      if ("refused" in outcome) {
        this.#options.onState({ is: "refused", status: outcome.refused, reason: outcome.reason });
        return;
      }
      const delay = Math.max(outcome.after ?? 0, backoff(this.#attempt, this.#retry, 30_000, this.#options.random));
      this.#attempt += 1;
      const until = (this.#options.now ?? Date.now)() + delay;
      this.#options.onState({ is: "waiting", reason: outcome.reason, attempt: this.#attempt, until });
      await this.#pause(delay);
    }
    this.#options.onState({ is: "closed" });
  }

  /** Ends a pending wait: the person pressed "retry now", or the network came back. */
  retryNow(): void {
    this.#wake?.();
  }

  close(): void {
    this.#stop.abort();
    this.#wake?.();
  }

  async #connect(): Promise<{ reason: string; after?: number } | { refused: number; reason: string }> {
    const attempt = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, attempt.signal]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const feed = () => {
      clearTimeout(timer);
      timer = setTimeout(() => attempt.abort(), this.#options.watchdog ?? 15_000);
    };
    feed();
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (this.#lastId) headers["last-event-id"] = this.#lastId;
      const answer = await (this.#options.fetch ?? fetch)(this.#options.url, {
        headers,
        signal,
        cache: "no-store",
        credentials: "same-origin",
      });
      if (answer.status === 204) {
        this.#stop.abort();
        return { reason: "the stream has ended" };
      }
      if (!answer.ok || !answer.body) return await refusal(answer);
      this.#options.onState({ is: "live" });
      await this.#read(answer.body, feed);
      return { reason: "the stream was closed" };
    } catch (fault) {
      if (attempt.signal.aborted) return { reason: "the server went silent" };
      return { reason: fault instanceof RangeError ? fault.message : "the server does not answer" };
    } finally {
      clearTimeout(timer);
      attempt.abort();
    }
  }

  async #read(body: ReadableStream<Uint8Array>, feed: () => void): Promise<void> {
    const parser = new SseParser(this.#lastId);
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      feed();
      const frames = parser.push(decoder.decode(value, { stream: true }));
      this.#retry = parser.retry ?? this.#retry;
      this.#lastId = parser.lastId;
      if (frames.length === 0) continue;
      // Only a frame proves the way is open; an accepted connection that dies at once must still back off.
      this.#attempt = 0;
      this.#options.onFrames(frames);
    }
  }

  #pause(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delay);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

async function refusal(
  answer: Response,
): Promise<{ reason: string; after?: number } | { refused: number; reason: string }> {
  const text = await answer.text().catch(() => "");
  const detail = /"detail"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  const reason = detail ? (JSON.parse(`"${detail}"`) as string) : `the server answered ${answer.status}`;
  if ([400, 401, 403, 404, 410].includes(answer.status)) return { refused: answer.status, reason };
  const seconds = Number(answer.headers.get("retry-after"));
  return Number.isFinite(seconds) && seconds > 0 ? { reason, after: Math.min(seconds, 300) * 1_000 } : { reason };
}
