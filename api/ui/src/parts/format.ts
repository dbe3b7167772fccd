// Numbers and times as operators read them: aligned, exact, short.

const GROUPED = new Intl.NumberFormat("en-US");
const SHORT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const DATE = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", year: "numeric" });

/** `12,345,678`; exact for any size. */
export function grouped(value: bigint | number): string {
  return GROUPED.format(value);
}

/** `42`, `3.5`, `12,400`: events per second. */
export function rate(value: number): string {
  return value >= 100 ? GROUPED.format(Math.round(value)) : SHORT.format(value);
}

/** `0 s`, `0.4 s`, `2 min 5 s`, `3 h 12 min`; negative time, from clocks apart, is none. */
export function duration(seconds: number): string {
  if (!(seconds > 0)) return "0 s";
  if (seconds < 10) return `${SHORT.format(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 172_800) return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
  return `${Math.floor(whole / 86_400)} d`;
}

/** Local wall clock with milliseconds. */
export function clock(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

export function day(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : DATE.format(date);
}

/** `12 s ago`. */
export function ago(at: string, now = Date.now()): string {
  const seconds = (now - new Date(at).getTime()) / 1_000;
  return Number.isNaN(seconds)
    ? ""
    : seconds < 1
      ? "just now"
      : `${duration(seconds < 10 ? Math.round(seconds) : seconds)} ago`;
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** `0 B`, `34 kB`, `1.5 GB`: powers of a thousand, as the limits in the configuration. */
export function bytes(value: number): string {
  let unit = 0;
  for (; value >= 1_000 && unit + 1 < UNITS.length; unit += 1) value /= 1_000;
  return `${SHORT.format(value)} ${UNITS[unit]}`;
}

/** A share from 0 to 1 as `97.3%`; a dash where there is none. */
export function share(value: number | null): string {
  return value === null ? "–" : `${(value * 100).toFixed(1)}%`;
}

/** Share of a whole in percent, exact for big positions; a whole of nothing is done. */
export function percent(part: bigint, whole: bigint): number {
  return whole <= 0n ? 100 : Math.min(100, Number((part * 10_000n) / whole) / 100);
}

export function plural(count: number | bigint, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${BigInt(count) === 1n ? one : many}`;
}
