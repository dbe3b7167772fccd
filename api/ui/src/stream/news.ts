// Pages that show what the log says now ask again as soon as the stream brings news of it.

import { useEffect } from "react";
import { hub, type Signal } from "./hub";

/** Whether a signal means that what was read before may be out of date. */
export function isNews(signal: Signal, kinds: readonly string[]): boolean {
  if (signal.is === "events") return signal.events.some(({ kind }) => kinds.includes(kind));
  // Whoever was away, or listens to another log now, has missed something.
  return signal.is === "resync" || (signal.is === "head" && signal.opening);
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
