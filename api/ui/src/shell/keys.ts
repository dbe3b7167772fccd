// Keyboard shortcuts: one listener for the whole page, the innermost component that wants a key gets it.

import { useEffect, useRef } from "react";

export type KeyMap = Record<string, () => void>;

const maps: { current: KeyMap }[] = [];
const SEQUENCE_MS = 1_200;
let prefix: { key: string; at: number } | undefined;

/** Listens for keys like `p`, `?`, `Enter`, `g t` and `mod+k` while the component is mounted. */
export function useKeys(map: KeyMap): void {
  const latest = useRef(map);
  latest.current = map;
  useEffect(() => {
    maps.push(latest);
    return () => void maps.splice(maps.indexOf(latest), 1);
  }, []);
}

/** Does what the key would do; for the command palette. */
export function press(key: string): boolean {
  const map = maps.findLast(({ current }) => key in current);
  map?.current[key]?.();
  return map !== undefined;
}

export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const target = event.target instanceof Element ? event.target : null;
  if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    press("mod+k");
    return;
  }
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (target?.closest("input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog]")) return;
  // Enter and space belong to a focused button or link.
  if ((event.key === "Enter" || event.key === " ") && target?.closest("button, a, summary")) return;
  const now = Date.now();
  const pending = prefix && now - prefix.at < SEQUENCE_MS ? `${prefix.key} ${event.key}` : undefined;
  prefix = event.key === "g" ? { key: "g", at: now } : undefined;
  if ((pending !== undefined && press(pending)) || press(event.key)) event.preventDefault();
}
