import { Chart } from "../parts/chart";
import { grouped, plural } from "../parts/format";
import type { Step } from "./steps";

const TIME = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short" });
const SERIES = [
  { name: "allowed", colour: "var(--accent)", opacity: 0.75 },
  { name: "blocked", colour: "var(--bad)" },
];

/** Downloads over time: what passed, and on top of it what was refused. */
export function Downloads({ steps, step }: { steps: readonly Step[]; step: "hour" | "day" }) {
  const bars = steps.map(({ at, allowed, blocked }) => {
    const when = (step === "hour" ? TIME : DAY).format(at);
    const words = `${when}: ${plural(allowed, "download")} allowed, ${grouped(blocked)} blocked`;
    return { key: at, at: when, words, values: [allowed, blocked] };
  });
  return <Chart label="Downloads" bars={bars} series={SERIES} step={step} />;
}
