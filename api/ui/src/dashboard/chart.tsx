import { grouped, plural } from "../parts/format";
import type { Step } from "./steps";

const HEIGHT = 120;
const TIME = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short" });

/** Downloads over time: what passed, and on top of it what was refused. */
export function Chart({ steps, step }: { steps: readonly Step[]; step: "hour" | "day" }) {
  const most = Math.max(0, ...steps.map(({ allowed, blocked }) => allowed + blocked));
  const peak = Math.max(1, most);
  const words = (at: number) => (step === "hour" ? TIME : DAY).format(at);
  const first = steps[0];
  const last = steps.at(-1);
  const width = 100 / Math.max(1, steps.length);
  return (
    <figure className="px-4 pt-1 pb-4">
      <svg
        role="img"
        data-testid="chart"
        aria-label={`Downloads per ${step}, at most ${grouped(most)}`}
        width="100%"
        height={HEIGHT}
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className="border-b border-line-strong/60"
      >
        {steps.map(({ at, allowed, blocked }, index) => {
          const passed = (allowed / peak) * (HEIGHT - 4);
          const refused = blocked === 0 ? 0 : Math.max(2, (blocked / peak) * (HEIGHT - 4));
          return (
            <g key={at} data-allowed={allowed} data-blocked={blocked}>
              <title>{`${words(at)}: ${plural(allowed, "download")} allowed, ${grouped(blocked)} blocked`}</title>
              <rect x={index * width} y="0" width={width} height={HEIGHT} fill="transparent" />
              <rect
                x={index * width + width * 0.12}
                y={HEIGHT - passed}
                width={width * 0.76}
                height={passed}
                fill="var(--accent)"
                opacity="0.75"
              />
              <rect
                x={index * width + width * 0.12}
                y={HEIGHT - passed - refused}
                width={width * 0.76}
                height={refused}
                fill="var(--bad)"
              />
            </g>
          );
        })}
      </svg>
      <figcaption className="numbers mt-1 flex flex-wrap justify-between gap-x-3 text-2xs text-soft">
        <span>{first && words(first.at)}</span>
        <span>
          <span aria-hidden className="mr-1 inline-block size-2 rounded-[2px] bg-accent opacity-75" />
          allowed
          <span aria-hidden className="mr-1 ml-3 inline-block size-2 rounded-[2px] bg-bad" />
          blocked, per {step}, at most {grouped(most)}
        </span>
        <span>{last && words(last.at)}</span>
      </figcaption>
    </figure>
  );
}
