// The one query grammar of URL, API and command line: `subsystem:registry kind:PackageBlocked stream:registry/rules six`.
// `subsystem` and `kind` take comma lists and may repeat, `stream` is one prefix, `principal` one name, quotes hold
// spaces together, and whatever is left is free text: every word must occur in the stream, the kind or the payload.

import type { EventFilter } from "../api/events";

export const KEYS = ["subsystem", "kind", "stream", "principal"] as const;
export type Key = (typeof KEYS)[number];

export interface Query {
  filter: EventFilter;
  words: string[];
  /** What the person should know about what they typed; never empty words. */
  problems: string[];
}

export interface Token {
  start: number;
  end: number;
  key: Key | undefined;
  /** Without key and quotes. */
  value: string;
}

const TOKEN = /(?:"[^"]*"?|[^\s"])+/g;

export function tokens(text: string): Token[] {
  return [...text.matchAll(TOKEN)].map(({ 0: source, index }) => {
    const key = KEYS.find((candidate) => source.toLowerCase().startsWith(`${candidate}:`));
    const value = key === undefined ? source : source.slice(key.length + 1);
    return { start: index, end: index + source.length, key, value: value.replaceAll('"', "") };
  });
}

export function parseQuery(text: string): Query {
  const filter: EventFilter = { kinds: [], subsystems: [] };
  const words: string[] = [];
  const problems: string[] = [];
  for (const { key, value } of tokens(text)) {
    if (key === undefined) {
      const near = nearKey(value);
      if (near) problems.push(`“${value}” is searched as text; did you mean “${near}:”?`);
      if (value !== "") words.push(value.toLowerCase());
    } else if (value === "") problems.push(`“${key}:” needs a value`);
    else if (key === "stream" || key === "principal") {
      if (filter[key] !== undefined && filter[key] !== value)
        problems.push(`only one “${key}:” counts; the last one does`);
      filter[key] = value;
    } else {
      const list = key === "kind" ? filter.kinds : filter.subsystems;
      for (const item of value.split(",")) if (item !== "" && !list.includes(item)) list.push(item);
    }
  }
  return { filter, words, problems };
}

/** The shortest spelling that parses to the same query. */
export function formatQuery({ filter, words }: Pick<Query, "filter" | "words">): string {
  const parts: string[] = [];
  if (filter.subsystems.length > 0) parts.push(`subsystem:${quoted(filter.subsystems.join(","))}`);
  if (filter.kinds.length > 0) parts.push(`kind:${quoted(filter.kinds.join(","))}`);
  if (filter.stream !== undefined) parts.push(`stream:${quoted(filter.stream)}`);
  if (filter.principal !== undefined) parts.push(`principal:${quoted(filter.principal)}`);
  return [...parts, ...words.map(quoted)].join(" ");
}

/** Puts `key:value` in place of what the query said about `key`. */
export function withKey(text: string, key: Key, value: string): string {
  const { filter, words } = parseQuery(text);
  if (key === "stream" || key === "principal") filter[key] = value;
  else if (key === "kind") filter.kinds = [value];
  else filter.subsystems = [value];
  return formatQuery({ filter, words });
}

/** The query for all that happened in somebody's name. */
export function ofPrincipal(principal: string): string {
  return formatQuery({ filter: { kinds: [], subsystems: [], principal }, words: [] });
}

export function sameFilter(a: EventFilter, b: EventFilter): boolean {
  return (
    a.stream === b.stream &&
    a.principal === b.principal &&
    a.kinds.join() === b.kinds.join() &&
    a.subsystems.join() === b.subsystems.join()
  );
}

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}

/** `subsytem:x` is a slip, `https://x` is not. */
function nearKey(word: string): Key | undefined {
  const head = /^([a-z]{3,12}):/i.exec(word)?.[1]?.toLowerCase();
  return head === undefined ? undefined : KEYS.find((key) => distance(head, key) <= 2);
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
