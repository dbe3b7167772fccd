// What could be typed next, from the catalogue of kinds and the streams on screen.

import type { Kind } from "../api/events";
import { KEYS, parseQuery, tokens } from "./grammar";

export interface Suggestion {
  label: string;
  hint: string;
  /** The whole query with this suggestion taken, and where the caret goes. */
  text: string;
  caret: number;
}

const HINTS = {
  subsystem: "one or more sub-systems",
  kind: "one or more kinds of event",
  stream: "prefix of a stream",
  principal: "in whose name",
};

export function suggest(
  text: string,
  caret: number,
  kinds: readonly Kind[],
  streams: readonly string[],
  limit = 9,
): Suggestion[] {
  const token = tokens(text).find(({ start, end }) => start < caret && caret <= end);
  const take = (label: string, hint: string, value: string, space: boolean): Suggestion => {
    const before = text.slice(0, token?.start ?? caret);
    const after = text.slice(token?.end ?? caret);
    const inserted = value + (space && !after.startsWith(" ") ? " " : "");
    return {
      label,
      hint,
      text: before + inserted + after,
      caret: before.length + inserted.length + (space && after.startsWith(" ") ? 1 : 0),
    };
  };
  if (token?.key === undefined) {
    const typed = token?.value.toLowerCase() ?? "";
    const keys = KEYS.filter((key) => `${key}:`.startsWith(typed)).map((key) =>
      take(`${key}:`, HINTS[key], `${key}:`, false),
    );
    if (typed.length < 2) return keys;
    const named = kinds
      .filter(({ name }) => name.toLowerCase().includes(typed))
      .map(({ name, doc }) => take(`kind:${name}`, doc, `kind:${name}`, true));
    return [...keys, ...named].slice(0, limit);
  }
  const items = token.value.split(",");
  const typed = (items.pop() ?? "").toLowerCase();
  const spelled = (value: string) => `${token.key}:${[...items, value].join(",")}`;
  return candidates(token.key, text, kinds, streams)
    .filter(([value]) => value.toLowerCase().includes(typed) && !items.includes(value))
    .sort(([a], [b]) => Number(b.toLowerCase().startsWith(typed)) - Number(a.toLowerCase().startsWith(typed)))
    .slice(0, limit)
    .map(([value, hint]) => take(value, hint, spelled(value), true));
}

function candidates(
  key: (typeof KEYS)[number],
  text: string,
  kinds: readonly Kind[],
  streams: readonly string[],
): [string, string][] {
  if (key === "principal") return [];
  if (key === "stream") return streams.map((stream) => [stream, "seen here"]);
  if (key === "kind") {
    const { subsystems } = parseQuery(text).filter;
    return kinds
      .filter(({ subsystem }) => subsystems.length === 0 || subsystems.includes(subsystem))
      .map(({ name, subsystem, doc }) => [name, doc || subsystem]);
  }
  const counts = new Map<string, number>();
  for (const { subsystem } of kinds) counts.set(subsystem, (counts.get(subsystem) ?? 0) + 1);
  return [...counts].map(([subsystem, count]) => [subsystem, count === 1 ? "1 kind" : `${count} kinds`]);
}
