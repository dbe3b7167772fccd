// Causation: which event led to which, inside one correlation.

import type { EventView } from "../api/events";
import { text } from "../api/events";

export interface Link {
  event: EventView;
  depth: number;
}

/** Orders a correlation as a tree, causes before effects, siblings by position. A cause that is not there makes a root. */
export function chain(events: readonly EventView[]): Link[] {
  const ids = new Set(events.map(idOf));
  const effects = new Map<string, EventView[]>();
  for (const event of [...events].sort((a, b) => (a.position < b.position ? -1 : 1))) {
    const cause = text(event.meta["causation_id"]);
    const parent = ids.has(cause) && cause !== idOf(event) ? cause : "";
    effects.set(parent, [...(effects.get(parent) ?? []), event]);
  }
  const links: Link[] = [];
  const stack: Link[] = (effects.get("") ?? []).map((event) => ({ event, depth: 0 })).reverse();
  for (let link = stack.pop(); link; link = stack.pop()) {
    links.push(link);
    const { depth } = link;
    const next = effects.get(idOf(link.event)) ?? [];
    stack.push(...next.map((event) => ({ event, depth: depth + 1 })).reverse());
  }
  // Causes that point at each other in a ring have no root; they are shown rather than lost.
  const shown = new Set(links.map(({ event }) => event));
  return [...links, ...events.filter((event) => !shown.has(event)).map((event) => ({ event, depth: 0 }))];
}

function idOf(event: EventView): string {
  return text(event.meta["event_id"]) || `position ${event.position}`;
}
