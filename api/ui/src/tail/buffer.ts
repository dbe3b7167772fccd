// What the tail holds in memory: an unbroken run of the events that pass the filter, oldest first, bounded.
//
// `cursor` is the last position of the whole log that was looked at, matching or not. An event that does not follow it
// directly means something was missed, and the store fetches the rest before it goes on: so a pause, a reconnect, a
// lost message between tabs and a slow first page all heal the same way.

import type { EventView, Position } from "../api/events";

export class TailBuffer {
  readonly limit: number;
  events: readonly EventView[] = [];
  /** What came in since the pause, oldest first. */
  pending: readonly EventView[] = [];
  cursor: Position | undefined;
  /** Where the view was frozen, if it is. */
  pausedAt: Position | undefined;
  /** More came in during the pause than is kept: resuming has to load the newest page again. */
  overflowed = false;
  /** The oldest matching event of the log is in `events`. */
  atStart = false;

  constructor(limit = 5_000) {
    this.limit = limit;
  }

  /** Starts over with a page that reaches up to `cursor`. */
  reset(events: readonly EventView[], cursor: Position, atStart: boolean, paused: boolean): void {
    this.events = events.slice(-this.limit);
    this.pending = [];
    this.overflowed = false;
    this.cursor = cursor;
    this.pausedAt = paused ? cursor : undefined;
    this.atStart = atStart;
  }

  /** Takes live events of the whole log in order. Gives `false` at the first one that does not follow the cursor. */
  accept(live: readonly EventView[], passes: (event: EventView) => boolean): boolean {
    const fresh: EventView[] = [];
    let whole = true;
    for (const event of live) {
      if (this.cursor === undefined || event.position > this.cursor + 1n) {
        whole = false;
        break;
      }
      if (event.position <= this.cursor) continue;
      this.cursor = event.position;
      if (passes(event)) fresh.push(event);
    }
    this.#append(fresh);
    return whole;
  }

  /** Takes a page of matching events after the cursor; everything up to `upTo` has been looked at. */
  fill(page: readonly EventView[], upTo: Position): void {
    const cursor = this.cursor ?? -1n;
    this.#append(page.filter(({ position }) => position > cursor));
    if (upTo > cursor) this.cursor = upTo;
  }

  /** Puts a page of older matching events in front. */
  prepend(page: readonly EventView[], atStart: boolean): void {
    const first = this.events[0]?.position;
    const older = first === undefined ? page : page.filter(({ position }) => position < first);
    const room = this.limit - this.events.length;
    this.events = [...older.slice(older.length - Math.min(older.length, room)), ...this.events];
    this.atStart = atStart && older.length <= room;
  }

  get full(): boolean {
    return this.events.length >= this.limit;
  }

  pause(): void {
    this.pausedAt ??= this.cursor;
  }

  /** Ends the pause. Gives `false` when the newest page must be loaded, because too much went by. */
  resume(): boolean {
    this.pausedAt = undefined;
    if (this.overflowed) return false;
    const pending = this.pending;
    this.pending = [];
    this.#append(pending);
    return true;
  }

  #append(fresh: readonly EventView[]): void {
    if (fresh.length === 0) return;
    if (this.pausedAt !== undefined) {
      // A frozen view loses nothing to newcomers: they wait apart, under their own bound.
      const pending = [...this.pending, ...fresh];
      this.overflowed ||= pending.length > this.limit;
      this.pending = pending.slice(-this.limit);
      return;
    }
    const events = [...this.events, ...fresh];
    if (events.length > this.limit) this.atStart = false;
    this.events = events.slice(-this.limit);
  }
}
