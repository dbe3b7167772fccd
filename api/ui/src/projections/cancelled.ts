/** Replays cancelled on this page: their end is no news, see `useReplaysEnd`. */
export const cancelled = new Set<string>();
