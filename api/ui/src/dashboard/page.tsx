// How the package firewall fares: what the log says was decided, and what this instance counted beside that.

import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { getDashboard, type Dashboard } from "../api/dashboard";
import { Ago } from "../parts/ago";
import { useAnswer } from "../parts/asking";
import { ANY_ECOSYSTEM, Select } from "../parts/field";
import { day, grouped } from "../parts/format";
import { Nothing, Page } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { Downloads } from "./chart";
import { steps } from "./steps";

const route = getRouteApi("/dashboard");
// Wide ranges are dear to ask, and move slowly.
const EVERY: Record<string, number> = { "24h": 5_000, "7d": 15_000 };
const SELDOM = 60_000;
const COUNTS = ["allowed", "blocked", "requests", "hit rate", "failed", "stale", "upstream"];
export const RANGES = [
  { value: "24h", label: "last 24 hours" },
  { value: "7d", label: "last 7 days" },
  { value: "30d", label: "last 30 days" },
  { value: "90d", label: "last 90 days" },
];

export function DashboardPage() {
  const { range = "24h", ecosystem = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useAnswer({
    key: ["dashboard", range, ecosystem],
    scope: "rules:read",
    read: (signal) => getDashboard(range, ecosystem, signal),
    every: EVERY[range] ?? SELDOM,
    keep: true,
  });
  const show = (wanted: { range?: string; ecosystem?: string }) =>
    void navigate({ search: { range, ecosystem, ...wanted }, replace: true });
  return (
    <Page
      title="Dashboard"
      about="What passed the door, and what did not"
      scope="rules:read"
      query={query}
      tools={
        <>
          <Select
            label="Ecosystem"
            value={ecosystem}
            choices={ANY_ECOSYSTEM}
            onChoose={(ecosystem) => show({ ecosystem })}
          />
          <Select label="Range" value={range} choices={RANGES} onChoose={(range) => show({ range })} />
        </>
      }
    >
      {(data) => <Body data={data} />}
    </Page>
  );
}

function Body({ data }: { data: Dashboard }) {
  const { recorded, served } = data;
  const sum = (of: (one: Dashboard["served"][number]) => number) => served.reduce((all, one) => all + of(one), 0);
  const asked = recorded.allowed + recorded.blocked;
  return (
    <>
      <dl className="grid grid-cols-2 gap-px border-y border-line bg-line md:grid-cols-4">
        <Figure name="Downloads" value={grouped(asked)} what="asked for in the range, by everybody, from the log" />
        <Figure
          name="Blocked"
          value={grouped(recorded.blocked)}
          what={`${asked === 0 ? "0" : ((recorded.blocked / asked) * 100).toFixed(1)}% of them; ${grouped(recorded.filtered)} lists had versions hidden or marked`}
          bad={recorded.blocked > 0}
        />
        <Figure
          name="Requests"
          value={grouped(sum(({ requests }) => requests))}
          what={
            <>
              of package clients, {grouped(sum(({ notModified }) => notModified))} answered “unchanged”; by this
              instance, which started <Ago at={data.startedAt} />
            </>
          }
        />
        <Figure
          name="Cache hit rate"
          value={data.cacheHitRate === null ? "none yet" : `${(data.cacheHitRate * 100).toFixed(1)}%`}
          what={`${grouped(sum(({ hits }) => hits))} of ${grouped(sum(({ hits, misses }) => hits + misses))} files and lists; by this instance`}
        />
      </dl>
      <h2 className="px-4 pt-4 pb-2 font-semibold">Downloads over time</h2>
      <Downloads steps={steps(data)} step={data.step} />
      <div className="grid gap-x-6 lg:grid-cols-2">
        <section aria-labelledby="top" className="min-w-0">
          <h2 id="top" className="px-4 pt-2 pb-2 font-semibold">
            Packages asked for most{" "}
            <span className="text-xs font-normal text-soft">since {day(data.topSince)}, UTC</span>
          </h2>
          {data.topPackages.length === 0 ? (
            <Nothing title="Nothing was downloaded yet">
              <Link to="/connect" className="text-accent underline">
                Connect a client
              </Link>{" "}
              and install something; it shows here within seconds.
            </Nothing>
          ) : (
            <TopPackages data={data} />
          )}
        </section>
        <section aria-labelledby="each" className="min-w-0">
          <h2 id="each" className="px-4 pt-2 pb-2 font-semibold">
            Ecosystems <span className="text-xs font-normal text-soft">the last five columns: this instance</span>
          </h2>
          <Ecosystems data={data} />
        </section>
      </div>
    </>
  );
}

function Figure({ name, value, what, bad = false }: { name: string; value: string; what: ReactNode; bad?: boolean }) {
  return (
    <div className="bg-sheet px-4 py-3">
      <dt className="text-xs text-soft">{name}</dt>
      <dd data-testid={`figure-${name}`} className={`numbers text-xl font-medium ${bad ? "text-bad" : ""}`}>
        {value}
      </dd>
      <dd className="text-2xs text-soft">{what}</dd>
    </div>
  );
}

function TopPackages({ data }: { data: Dashboard }) {
  return (
    <Table testid="top-packages" heads={["package", "ecosystem", "allowed", "blocked"]} right={["allowed", "blocked"]}>
      {data.topPackages.map(({ ecosystem, package: name, allowed, blocked }) => (
        <tr key={`${ecosystem} ${name}`} className={ROW}>
          <td className="max-w-56 truncate font-mono">{name}</td>
          <td className="text-soft">{ecosystem}</td>
          <td className="numbers text-right">{grouped(allowed)}</td>
          <td className="numbers text-right">
            {blocked === 0 ? (
              <span className="text-soft">0</span>
            ) : (
              <Link to="/blocks" search={{ ecosystem, package: name }} className="text-bad underline">
                {grouped(blocked)}
              </Link>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Ecosystems({ data }: { data: Dashboard }) {
  const names = [...new Set([...data.served, ...data.byEcosystem].map(({ ecosystem }) => ecosystem))];
  if (names.length === 0)
    return <Nothing title="No ecosystem is served">Configure an upstream under registries in weir.yaml.</Nothing>;
  return (
    <Table testid="ecosystems" heads={["ecosystem", ...COUNTS]} right={COUNTS} region="Ecosystems">
      {names.map((name) => {
        const log = data.byEcosystem.find(({ ecosystem }) => ecosystem === name);
        const here = data.served.find(({ ecosystem }) => ecosystem === name);
        const looked = here ? here.hits + here.misses : 0;
        return (
          <tr key={name} className={`${ROW} numbers [&>td]:text-right`}>
            <td className="!text-left font-sans">{name}</td>
            <td>{grouped(log?.allowed ?? 0)}</td>
            <td className={log?.blocked ? "text-bad" : ""}>{grouped(log?.blocked ?? 0)}</td>
            <td>{here ? grouped(here.requests) : "–"}</td>
            <td>{here && looked > 0 ? `${((here.hits / looked) * 100).toFixed(1)}%` : "–"}</td>
            <td className={here?.failed ? "text-warn" : ""}>{here ? grouped(here.failed) : "–"}</td>
            <td>{here ? grouped(here.stale) : "–"}</td>
            <td>
              {here ? grouped(here.upstreamRequests) : "–"}
              {here !== undefined && here.upstreamFailures > 0 && (
                <span className="text-warn"> ({grouped(here.upstreamFailures)} failed)</span>
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
