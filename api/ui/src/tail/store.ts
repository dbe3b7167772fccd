// Drives the tail buffer: first page, live events, healing of gaps, pause and resume, older pages. No React in here.

import type { EventFilter, EventPage, EventView, Position } from "../api/events";
import { asProblem, type Problem } from "../api/problem";
import { passes } from "../query/match";
import { sameFilter } from "../query/grammar";
import { backoff } from "../stream/backoff";
import type { Signal } from "../stream/hub";
import { TailBuffer } from "./buffer";

export interface TailSnapshot {
  phase: "loading" | "ready" | "failed";
  problem: Problem | undefined;
  /** When the next try is due (milliseconds), if one is. */
  retryAt: number | undefined;
  /** Oldest first. */
  events: readonly EventView[];
  pending: readonly EventView[];
  overflowed: boolean;
  pausedAt: Position | undefined;
  cursor: Position | undefined;
  atStart: boolean;
  full: boolean;
  loadingOlder: boolean;
  /** Events that passed the filter since the page was opened; for the spoken count. */
  arrived: number;
}

export type GetPage = (
  filter: EventFilter,
  range: { after?: Position; before?: Position; limit: number },
  signal: AbortSignal,
) => Promise<EventPage>;

export const FIRST_PAGE = 200;
const HEAL_PAGE = 1_000;
const FLUSH_MS = 50;

export class TailStore {
  readonly #getPage: GetPage;
  readonly #buffer: TailBuffer;
  #filter: EventFilter = { kinds: [], subsystems: [] };
  #started = false;
  #phase: TailSnapshot["phase"] = "loading";
  #problem: Problem | undefined;
  #retryAt: number | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  #headTimer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #arrived = 0;
  #work = new AbortController();
  #busy = false;
  #loadingOlder = false;
  #queue: EventView[] = [];
  #healedAt: Position | undefined;
  /** Called when the log itself moved and a frozen view now stands elsewhere. */
  onRefrozen: (pausedAt: Position) => void = () => {};
  #snapshot: TailSnapshot;
  readonly #watchers = new Set<() => void>();

  constructor(getPage: GetPage, limit?: number) {
    this.#getPage = getPage;
    this.#buffer = new TailBuffer(limit);
    this.#snapshot = this.#view();
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };
  readonly snapshot = (): TailSnapshot => this.#snapshot;

  /** Shows what the address says: this filter, frozen at `pausedAt` or live. Does nothing when it is shown already. */
  show(filter: EventFilter, pausedAt: Position | undefined): void {
    const same = this.#started && sameFilter(filter, this.#filter);
    this.#filter = filter;
    if (!same) void this.#load(pausedAt);
    else if (pausedAt === undefined && this.#buffer.pausedAt !== undefined) this.#resume();
    else if (pausedAt !== undefined && this.#buffer.pausedAt !== pausedAt) {
      if (this.#buffer.pausedAt === undefined && this.#buffer.cursor === pausedAt) this.pause();
      else void this.#load(pausedAt);
    }
  }

  /** Freezes the view and says where. */
  pause(): Position | undefined {
    this.#buffer.pause();
    this.#flush();
    return this.#buffer.pausedAt;
  }

  retryNow(): void {
    if (this.#phase === "failed") void this.#load(this.#buffer.pausedAt);
    else if (this.#problem) void this.#heal();
  }

  take(signal: Signal): void {
    if (signal.is === "resync") void this.#load(undefined, this.#buffer.pausedAt !== undefined);
    else if (signal.is === "head") this.#reach(signal.head, signal.opening);
    else if (signal.is === "events") {
      this.#queue.push(...signal.events);
      // What does not fit is found again as a gap.
      if (this.#queue.length > this.#buffer.limit) this.#queue = this.#queue.slice(-this.#buffer.limit);
      this.#flushTimer ??= setTimeout(() => this.#drain(), FLUSH_MS);
    }
  }

  async loadOlder(): Promise<void> {
    const before = this.#buffer.events[0]?.position;
    if (this.#loadingOlder || this.#buffer.atStart || this.#buffer.full || before === undefined) return;
    this.#loadingOlder = true;
    this.#flush();
    const { signal } = this.#work;
    try {
      const page = await this.#getPage(this.#filter, { before, limit: FIRST_PAGE }, signal);
      if (signal.aborted) return;
      this.#buffer.prepend(page.events, page.events.length < FIRST_PAGE);
    } catch (fault) {
      if (!signal.aborted) this.#problem = asProblem(fault);
    } finally {
      this.#loadingOlder = false;
      this.#flush();
    }
  }

  /** Forgets everything: the next person to sign in starts with nothing. */
  stop(): void {
    this.#work.abort();
    for (const timer of [this.#retryTimer, this.#flushTimer, this.#headTimer]) clearTimeout(timer);
    this.#flushTimer = undefined;
    this.#started = false;
    this.#busy = false;
    this.#queue = [];
    this.#phase = "loading";
    this.#settle();
    this.#buffer.reset([], 0n, false, false);
    this.#flush();
  }

  /** First page of a filter: the newest 200, or those up to where the view is frozen. */
  async #load(pausedAt: Position | undefined, freeze = pausedAt !== undefined): Promise<void> {
    this.#started = true;
    this.#work.abort();
    const work = (this.#work = new AbortController());
    clearTimeout(this.#retryTimer);
    this.#busy = true;
    this.#phase = this.#phase === "failed" ? "failed" : "loading";
    this.#retryAt = undefined;
    this.#flush();
    try {
      const range = pausedAt === undefined ? { limit: FIRST_PAGE } : { before: pausedAt + 1n, limit: FIRST_PAGE };
      const page = await this.#getPage(this.#filter, range, work.signal);
      if (work.signal.aborted) return;
      this.#buffer.reset(page.events, pausedAt ?? page.head, page.events.length < FIRST_PAGE, freeze);
      this.#phase = "ready";
      this.#settle();
      if (freeze && pausedAt === undefined) this.onRefrozen(page.head);
      if (pausedAt !== undefined && page.head > pausedAt) await this.#heal();
      else this.#drain();
    } catch (fault) {
      if (work.signal.aborted) return;
      this.#phase = "failed";
      this.#fail(fault, () => void this.#load(pausedAt, freeze));
    } finally {
      if (this.#work === work) this.#busy = false;
      this.#flush();
      this.#drain();
    }
  }

  /** Fetches what lies between the cursor and the head, or the newest page when that is too much to page through. */
  async #heal(): Promise<void> {
    const { signal } = this.#work;
    this.#busy = true;
    clearTimeout(this.#retryTimer);
    try {
      for (let pages = 0; ; pages += 1) {
        const after = this.#buffer.cursor ?? 0n;
        const page = await this.#getPage(this.#filter, { after, limit: HEAL_PAGE }, signal);
        if (signal.aborted) return;
        const last = page.events.at(-1);
        const more = page.events.length >= HEAL_PAGE && last !== undefined;
        this.#arrived += page.events.length;
        this.#buffer.fill(page.events, more ? last.position : page.head);
        if (!more) break;
        if ((pages + 1) * HEAL_PAGE > this.#buffer.limit) {
          if (this.#buffer.pausedAt === undefined) {
            await this.#load(undefined);
            return;
          }
          // The frozen view stays; resuming loads the newest page anyway.
          this.#buffer.fill([], page.head);
          break;
        }
      }
      this.#settle();
    } catch (fault) {
      if (signal.aborted) return;
      this.#fail(fault, () => void this.#heal());
    } finally {
      if (!signal.aborted) this.#busy = false;
      this.#flush();
    }
    if (!signal.aborted && !this.#problem) this.#drain();
  }

  #resume(): void {
    if (this.#buffer.resume()) this.#flush();
    else void this.#load(undefined);
  }

  /** The log reaches `head`. On a fresh connection whatever we lack is missing; later it may just be on its way. */
  #reach(head: Position, opening: boolean): void {
    if (opening) {
      if (this.#phase === "failed" && this.#problem?.away) this.retryNow();
      else if (this.#behind(head)) void this.#heal();
    } else if (this.#behind(head)) {
      clearTimeout(this.#headTimer);
      this.#headTimer = setTimeout(() => {
        if (this.#behind(head)) void this.#heal();
      }, 1_000);
    }
  }

  #behind(head: Position): boolean {
    const { cursor } = this.#buffer;
    return this.#phase === "ready" && !this.#busy && cursor !== undefined && cursor < head;
  }

  #drain(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (this.#busy || this.#phase !== "ready") return;
    const queue = this.#queue;
    this.#queue = [];
    const passing = (event: EventView) => {
      if (!passes(this.#filter, event)) return false;
      this.#arrived += 1;
      return true;
    };
    const whole = this.#buffer.accept(queue, passing);
    this.#flush();
    if (whole || this.#problem) return;
    this.#queue = queue;
    // A gap that healing did not close (a page older than the stream) is asked about again, but not in a tight loop.
    if (this.#healedAt === this.#buffer.cursor) this.#headTimer = setTimeout(() => void this.#heal(), 1_000);
    else void this.#heal();
    this.#healedAt = this.#buffer.cursor;
  }

  #settle(): void {
    this.#attempt = 0;
    this.#problem = undefined;
    this.#retryAt = undefined;
  }

  #fail(fault: unknown, again: () => void): void {
    this.#problem = asProblem(fault);
    const { away, status, retryAfter } = this.#problem;
    if (!away && status !== 429) return;
    const delay = Math.max((retryAfter ?? 0) * 1_000, backoff(this.#attempt, 1_000));
    this.#attempt += 1;
    this.#retryAt = Date.now() + delay;
    this.#retryTimer = setTimeout(again, delay);
  }

  #flush(): void {
    this.#snapshot = this.#view();
    for (const watcher of this.#watchers) watcher();
  }

  #view(): TailSnapshot {
    const { events, pending, overflowed, pausedAt, cursor, atStart, full } = this.#buffer;
    return {
      phase: this.#phase,
      problem: this.#problem,
      retryAt: this.#retryAt,
      events,
      pending,
      overflowed,
      pausedAt,
      cursor,
      atStart,
      full,
      loadingOlder: this.#loadingOlder,
      arrived: this.#arrived,
    };
  }
}
