import { Link } from "@tanstack/react-router";
import { Copy } from "lucide-react";
import type { Report } from "../api/web-reports";
import { IconButton } from "../parts/button";
import { copy } from "../parts/copy";
import { grouped, share } from "../parts/format";
import { HEAD, ROW } from "../parts/page";

interface CyclesProps {
  /** The newest first. */
  reports: readonly Report[];
  /** The cycle that is shown in full. */
  shown: number;
  atMost: number;
}

const HEADS = ["cycle", "requests", "hit rate", "blocked", "code taken out", "spark", "tax", "ticks", "hosts"];

/** The cycles that have ended; each can be looked at in full. */
export function Cycles({ reports, shown, atMost }: CyclesProps) {
  return (
    <section aria-labelledby="ended">
      <h2 id="ended" className="px-4 pt-4 pb-2 font-semibold">
        Cycles that have ended{" "}
        {reports.length === atMost && <span className="text-xs font-normal text-soft">the last {atMost}</span>}
      </h2>
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Cycles that have ended">
        <table data-testid="cycles" className="w-full min-w-[60rem] border-collapse text-left">
          <thead className={HEAD}>
            <tr>
              {HEADS.map((name) => (
                <th key={name} scope="col" className={name === "cycle" ? "" : "text-right"}>
                  {name}
                </th>
              ))}
              <th scope="col">state hash</th>
            </tr>
          </thead>
          <tbody>
            {reports.map((report) => (
              <Row key={report.cycle} report={report} shown={report.cycle === shown} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ report, shown }: { report: Report; shown: boolean }) {
  const { cycle, stateHash } = report;
  return (
    <tr data-cycle={cycle} className={`${ROW} ${shown ? "bg-accent-wash" : ""}`}>
      <td>
        <Link
          to="/reports"
          search={{ cycle: String(cycle) }}
          aria-current={shown ? "true" : undefined}
          className="numbers text-accent underline"
        >
          {grouped(cycle)}
        </Link>
      </td>
      {[
        grouped(report.requests),
        share(report.hitRate),
        grouped(report.blocked),
        grouped(report.codeFilterHits),
        grouped(report.spark),
        report.tax === null ? "–" : grouped(report.tax),
        grouped(report.ticks),
        grouped(report.domains.length),
      ].map((value, at) => (
        <td key={HEADS[at + 1]} className="numbers text-right">
          {value}
        </td>
      ))}
      <td className="whitespace-nowrap">
        {stateHash === null ? (
          <span className="text-soft">–</span>
        ) : (
          <span className="flex items-center gap-1">
            <code className="text-xs text-soft" title={stateHash}>
              {stateHash.slice(0, 12)}…
            </code>
            <IconButton label={`Copy the hash of cycle ${cycle}`} onClick={() => void copy(stateHash, `the hash of cycle ${cycle}`)}>
              <Copy aria-hidden size={13} />
            </IconButton>
          </span>
        )}
      </td>
    </tr>
  );
}
