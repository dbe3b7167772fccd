/** Exponential backoff with jitter: doubles from `base` up to `cap`, and never falls below half of that. */
export function backoff(attempt: number, base: number, cap = 30_000, random = Math.random): number {
  const full = Math.min(cap, base * 2 ** Math.min(attempt, 16));
  return Math.round(full / 2 + (full / 2) * random());
}
