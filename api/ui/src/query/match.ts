// The same filter as the server's, for events that arrive live, and the free text it does not know.

import type { EventFilter, EventView } from "../api/events";
import { stringifyExact } from "../json/exact";

export function passes(filter: EventFilter, event: EventView): boolean {
  return (
    (filter.stream === undefined || event.stream.startsWith(filter.stream)) &&
    (filter.principal === undefined || event.meta["principal"] === filter.principal) &&
    (filter.kinds.length === 0 || filter.kinds.includes(event.kind)) &&
    (filter.subsystems.length === 0 || filter.subsystems.includes(event.subsystem))
  );
}

// Built on the first search only; gone with the event.
const haystacks = new WeakMap<EventView, string>();

export function contains(words: readonly string[], event: EventView): boolean {
  if (words.length === 0) return true;
  let haystack = haystacks.get(event);
  if (haystack === undefined) {
    haystack = `${event.stream}\n${event.kind}\n${stringifyExact(event.payload)}`.toLowerCase();
    haystacks.set(event, haystack);
  }
  const hay = haystack;
  return words.every((word) => hay.includes(word));
}
