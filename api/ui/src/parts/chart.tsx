// Bars over time: one a step, its parts on top of each other. The only chart there is.

import { grouped } from "./format";

const HEIGHT = 120;

/** A part of every bar. */
export interface Series {
  name: string;
  colour: string;
  opacity?: number;
}

export interface Bar {
  key: string | number;
  /** When it is, for the ends of the axis. */
  at: string;
  /** What it says, whole, for whoever points at it. */
  words: string;
  /** One a series, from below. */
  values: readonly number[];
}

interface ChartProps {
  /** What is counted, and per what. */
  label: string;
  bars: readonly Bar[];
  series: readonly Series[];
  /** What a bar is of: `hour`, `cycle`. */
  step: string;
  /** How high the highest bar can be, where that is known; as high as the highest is, otherwise. */
  peak?: number;
  format?: (value: number) => string;
  testid?: string;
}

export function Chart({ label, bars, series, step, peak, format = grouped, testid = "chart" }: ChartProps) {
  const most = Math.max(0, ...bars.map(({ values }) => sum(values)));
  const whole = peak ?? Math.max(1, most);
  const width = 100 / Math.max(1, bars.length);
  return (
    <figure className="px-4 pt-1 pb-4">
      <svg
        role="img"
        data-testid={testid}
        aria-label={`${label} per ${step}, at most ${format(most)}`}
        width="100%"
        height={HEIGHT}
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className="border-b border-line-strong/60"
      >
        {bars.map(({ key, words, values }, index) => (
          <g key={key} {...Object.fromEntries(series.map(({ name }, at) => [`data-${name.replaceAll(" ", "-")}`, values[at]]))}>
            <title>{words}</title>
            <rect x={index * width} y="0" width={width} height={HEIGHT} fill="transparent" />
            {stacked(values, whole).map(({ bottom, height }, at) => (
              <rect
                key={series[at]?.name}
                x={index * width + width * 0.12}
                y={HEIGHT - bottom - height}
                width={width * 0.76}
                height={height}
                fill={series[at]?.colour}
                opacity={series[at]?.opacity}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption className="numbers mt-1 flex flex-wrap justify-between gap-x-3 text-2xs text-soft">
        <span>{bars[0]?.at}</span>
        <span>
          {series.map(({ name, colour, opacity }, at) => (
            <span key={name} className={at === 0 ? "" : "ml-3"}>
              <span aria-hidden className="mr-1 inline-block size-2 rounded-[2px]" style={{ background: colour, opacity }} />
              {name}
            </span>
          ))}
          , per {step}, at most {format(most)}
        </span>
        <span>{bars.at(-1)?.at}</span>
      </figcaption>
    </figure>
  );
}

/** Where each part of a bar begins and how high it is. What is on top of another is seen however small it is. */
function stacked(values: readonly number[], whole: number): { bottom: number; height: number }[] {
  let bottom = 0;
  return values.map((value, at) => {
    const exact = (value / whole) * (HEIGHT - 4);
    const height = at > 0 && value > 0 ? Math.max(2, exact) : exact;
    bottom += height;
    return { bottom: bottom - height, height };
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
