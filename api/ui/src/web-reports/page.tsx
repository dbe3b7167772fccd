// What the gateway's cycles added up to: the present one so far, those that have ended, and the hash of each end.

import { getRouteApi } from "@tanstack/react-router";
import { getAccess } from "../api/nexus";
import { getReport, getReports, type Report } from "../api/web-reports";
import { useAnswer } from "../parts/asking";
import { Chart } from "../parts/chart";
import { grouped, share } from "../parts/format";
import { Nothing, Page } from "../parts/page";
import { Cycle } from "./cycle";
import { bars, CODE, COST, HIT_RATE, REQUESTS } from "./cycles";
import { Cycles } from "./table";

const route = getRouteApi("/reports");
const EVERY = 5_000;
const LAST = 60;

export function ReportsPage() {
  const { cycle } = route.useSearch();
  const query = useAnswer({
    key: ["web-reports", cycle],
    scope: "web:read",
    read: async (signal) => {
      const [world, reports] = await Promise.all([getAccess(signal), getReports(LAST, signal)]);
      const wanted = cycle === undefined ? world.cycle : Number(cycle);
      const known = reports.find((report) => report.cycle === wanted);
      const shown = known ?? (await getReport(wanted, signal));
      const now = wanted === world.cycle ? shown : await getReport(world.cycle, signal);
      return { world, reports, shown, now };
    },
    every: EVERY,
    keep: true,
  });
  const world = query.data?.world;
  return (
    <Page
      title="Reports"
      about={
        world &&
        `Epoch ${world.epoch} (${world.level}), cycle ${grouped(world.cycle)}, tick ${grouped(world.tick)}; ${grouped(world.quota)} requests an agent and cycle`
      }
      scope="web:read"
      query={query}
    >
      {({ reports, shown, now, world }) => (
        <>
          <Cycle report={shown} current={world.cycle} />
          {reports.length === 0 ? (
            <Nothing title="No cycle has ended yet">
              {now.requests === 0 && world.level === "closed"
                ? "The gateway is closed in this epoch. Advance it with `weir nexus epoch`, and what agents ask adds up here."
                : "When the present one ends, its report stands here with the hash of what it left behind."}
            </Nothing>
          ) : (
            <>
              <Plots reports={now.ended ? reports : [now, ...reports]} />
              <Cycles reports={reports} shown={shown.cycle} atMost={LAST} />
            </>
          )}
        </>
      )}
    </Page>
  );
}

const ANSWERED = [
  { name: "let through", colour: "var(--accent)", opacity: 0.75 },
  { name: "blocked", colour: "var(--bad)" },
];
const CACHED = [{ name: "from the cache", colour: "var(--good)", opacity: 0.75 }];
const PAID = [
  { name: "spark", colour: "var(--accent)", opacity: 0.75 },
  { name: "tax", colour: "var(--warn)" },
];
const CUT = [{ name: "with code taken out", colour: "var(--warn)", opacity: 0.75 }];

function Plots({ reports }: { reports: readonly Report[] }) {
  return (
    <div className="grid gap-x-6 lg:grid-cols-2" data-testid="plots">
      <Plot title="Requests">
        <Chart label="Requests" bars={bars(reports, REQUESTS)} series={ANSWERED} step="cycle" testid="chart-requests" />
      </Plot>
      <Plot title="Cache hit rate">
        <Chart
          label="Hit rate"
          bars={bars(reports, HIT_RATE)}
          series={CACHED}
          step="cycle"
          peak={1}
          format={share}
          testid="chart-hit-rate"
        />
      </Plot>
      <Plot title="Cost">
        <Chart label="Cost" bars={bars(reports, COST)} series={PAID} step="cycle" testid="chart-cost" />
      </Plot>
      <Plot title="Code filter">
        <Chart label="Answers with code taken out" bars={bars(reports, CODE)} series={CUT} step="cycle" testid="chart-code" />
      </Plot>
    </div>
  );
}

function Plot({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0">
      <h2 className="px-4 pt-4 pb-2 font-semibold">{title}</h2>
      {children}
    </section>
  );
}
