import type { CSSProperties } from "react";

// Hues far enough apart to tell the busy neighbours (registry, web, runs) from each other at a glance.
const HUES: Record<string, number> = {
  access: 305,
  nexus: 275,
  mint: 92,
  topics: 345,
  runs: 150,
  registry: 245,
  actors: 45,
  web: 195,
};

/** Sets `--hue` for the `hue` utilities below it. */
export function hueOf(subsystem: string): CSSProperties {
  return {
    "--hue": HUES[subsystem] ?? [...subsystem].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7),
  } as CSSProperties;
}

export function Subsystem({ name }: { name: string }) {
  return (
    <span className="hue inline-flex min-w-0 items-center gap-1.5 font-medium" style={hueOf(name)}>
      <span aria-hidden className="hue-bar size-1.5 shrink-0 rounded-[2px]" />
      <span className="truncate">{name}</span>
    </span>
  );
}
