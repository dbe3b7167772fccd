// Pages that show what the log says now ask again as soon as the stream brings news of it.

import { useEffect, useRef, type RefObject } from "react";
import type { Position } from "../api/events";
import { hub, type Signal } from "./hub";
import { paced } from "./paced";

/** Whether a signal means that what was read before may be out of date. */
export function isNews(signal: Signal, kinds: readonly string[]): boolean {
  if (signal.is === "events") return signal.events.some(({ kind }) => kinds.includes(kind));
  // Whoever was away, or listens to another log now, has missed something.
  return signal.is === "resync" || (signal.is === "head" && signal.opening);
}

/** The newest of the events that are news: what is read from now on has to know it. Another log has no such place. */
export function newestOf(signal: Signal, kinds: readonly string[]): Position | undefined {
  return signal.is === "events" ? signal.events.findLast(({ kind }) => kinds.includes(kind))?.position : undefined;
}

/** Calls back whenever an event of one of these kinds comes in. `kinds` and `onNews` have to stay the same. */
export function useNews(kinds: readonly string[], onNews: () => void): void {
  useEffect(
    () =>
      hub.listen((signal) => {
        if (isNews(signal, kinds)) onNews();
      }),
    [kinds, onNews],
  );
}

const PACE = 1_000;

/**
 * Looks again when an event of one of these kinds comes in, one look after the other; gives the newest of them, for what
 * is read to know it. `kinds` and `look` have to stay the same.
 */
export function useFresh(kinds: readonly string[], look: () => unknown): RefObject<Position | undefined> {
  const known = useRef<Position>(undefined);
  useEffect(() => {
    const act = paced(look, PACE);
    const deaf = hub.listen((signal) => {
      if (!isNews(signal, kinds)) return;
      known.current = newestOf(signal, kinds);
      act();
    });
    return () => {
      deaf();
      act.stop();
    };
  }, [kinds, look]);
  return known;
}
