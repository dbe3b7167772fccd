import { Link } from "@tanstack/react-router";
import { Copy } from "lucide-react";
import type { Report } from "../api/web-reports";
import { Agent } from "../parts/agent";
import { Button } from "../parts/button";
import { copy } from "../parts/copy";
import { Figure } from "../parts/figure";
import { grouped, plural, share } from "../parts/format";

const DRAWN = 200;

/** One cycle in full. */
export function Cycle({ report, current }: { report: Report; current: number }) {
  const { cycle, ended, requests, hitRate, blocked, codeFilterHits, spark, tax, ticks } = report;
  return (
    <section data-testid="cycle" aria-labelledby="cycle">
      <h2 id="cycle" className="flex flex-wrap items-baseline gap-x-3 px-4 pb-2 font-semibold">
        Cycle {grouped(cycle)}
        <span className="text-xs font-normal text-soft">{ended ? "as it ended" : "so far"}</span>
        {cycle !== current && (
          <Link to="/reports" search={{}} className="text-xs font-normal text-accent underline">
            the present cycle
          </Link>
        )}
      </h2>
      <dl className="grid grid-cols-2 gap-px border-y border-line bg-line md:grid-cols-5 [&>:last-child]:col-span-2 md:[&>:last-child]:col-span-1">
        <Figure name="Requests" value={grouped(requests)} what="however they ended" />
        <Figure name="Blocked" value={grouped(blocked)} what={`${requests === 0 ? share(0) : share(blocked / requests)} of them`} />
        <Figure name="Hit rate" value={share(hitRate)} what="of what was answered, from the cache" />
        <Figure name="Code filter" value={grouped(codeFilterHits)} what="answers had code taken out" />
        <Figure
          name="Cost"
          value={grouped(spark)}
          what={`spark, ${tax === null ? "before tax" : `and a tax of ${grouped(tax)}`}; ${grouped(ticks)} ticks`}
        />
      </dl>
      <StateHash report={report} />
      <div className="grid gap-x-6 lg:grid-cols-2">
        <Users report={report} />
        <Domains domains={report.domains} />
      </div>
    </section>
  );
}

function StateHash({ report: { stateHash, endedAt } }: { report: Report }) {
  if (stateHash === null) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 text-xs">
      <span className="text-soft">Hash of the state at its end</span>
      <code data-testid="state-hash" className="min-w-0 break-all">
        {stateHash}
      </code>
      <Button onClick={() => void copy(stateHash, "the hash")} aria-label="Copy the hash">
        <Copy aria-hidden size={12} /> Copy
      </Button>
      {endedAt !== null && (
        <Link to="/" search={{ at: endedAt }} className="text-accent underline">
          event {endedAt}
        </Link>
      )}
    </p>
  );
}

function Users({ report: { topUsers, cycle } }: { report: Report }) {
  const most = Math.max(1, ...topUsers.map(({ requests }) => requests));
  return (
    <section aria-labelledby="users" className="min-w-0">
      <h3 id="users" className="px-4 pt-4 pb-1 font-semibold">
        Who asked most
      </h3>
      {topUsers.length === 0 ? (
        <p className="px-4 pb-3 text-soft">Nobody asked for anything.</p>
      ) : (
        <ol data-testid="top-users" className="px-4 pb-3">
          {topUsers.map(({ agent, requests }) => (
            <li key={agent} data-agent={agent} className="grid h-8 grid-cols-[8rem_1fr_auto] items-center gap-3">
              <Agent id={agent} />
              <span aria-hidden className="h-2 rounded-[2px] bg-accent opacity-75" style={{ width: `${(requests / most) * 100}%` }} />
              <span className="numbers" title={`${plural(requests, "request")} in cycle ${cycle}`}>
                {grouped(requests)}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Domains({ domains }: { domains: readonly string[] }) {
  return (
    <section aria-labelledby="domains" className="min-w-0">
      <h3 id="domains" className="px-4 pt-4 pb-1 font-semibold">
        Hosts <span className="text-xs font-normal text-soft">that were contacted, or whose pages were shown</span>
      </h3>
      {domains.length === 0 ? (
        <p className="px-4 pb-3 text-soft">None.</p>
      ) : (
        <ul data-testid="domains" className="flex flex-wrap gap-x-4 gap-y-1.5 px-4 pb-3">
          {domains.slice(0, DRAWN).map((domain) => (
            <li key={domain}>
              <Link to="/pages" search={{ host: domain }} className="font-mono text-xs text-accent underline">
                {domain}
              </Link>
            </li>
          ))}
          {domains.length > DRAWN && <li className="text-xs text-soft">and {grouped(domains.length - DRAWN)} more</li>}
        </ul>
      )}
    </section>
  );
}
