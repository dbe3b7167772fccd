import { barWords, type Bar } from "./words";

const [WIDTH, HEIGHT, GAP] = [9, 24, 2];

/** What an agent used of its quota, cycle by cycle, the present one last; red where it asked for more. */
export function Plot({ name, bars }: { name: string; bars: readonly Bar[] }) {
  const width = bars.length * (WIDTH + GAP);
  const known = bars.filter(({ use }) => use != null);
  const words = known.length === 0 ? "nothing used" : known.map(barWords).join("; ");
  return (
    <svg role="img" aria-label={`Quota of ${name}: ${words}`} width={width} height={HEIGHT} className="block overflow-visible">
      {bars.map((bar, index) => {
        const { cycle, use } = bar;
        const share = use ? (use.max === 0 ? 0 : Math.min(1, use.used / use.max)) : 0;
        const height = use && use.used > 0 ? Math.max(2, share * (HEIGHT - 1)) : 0;
        const x = index * (WIDTH + GAP);
        return (
          <g key={cycle} data-cycle={cycle} data-used={use?.used ?? ""}>
            <title>{barWords(bar)}</title>
            <rect x={x} y="0" width={WIDTH} height={HEIGHT} fill={use === undefined ? "transparent" : "var(--sunken)"} />
            <rect
              x={x}
              y={HEIGHT - height}
              width={WIDTH}
              height={height}
              fill={use?.exhausted ? "var(--bad)" : "var(--accent)"}
              opacity={index === bars.length - 1 ? 1 : 0.7}
            />
            {use === undefined && <line x1={x + 2} x2={x + WIDTH - 2} y1={HEIGHT / 2} y2={HEIGHT / 2} stroke="var(--line-strong)" />}
          </g>
        );
      })}
      <line x1="0" x2={width - GAP} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} stroke="var(--line-strong)" />
    </svg>
  );
}
