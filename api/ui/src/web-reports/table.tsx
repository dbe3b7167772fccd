import { Link } from "@tanstack/react-router";
import { Copy } from "lucide-react";
import type { Report } from "../api/web-reports";
import { IconButton } from "../parts/button";
import { copy } from "../parts/copy";
import { grouped, share } from "../parts/format";
import { ROW, Table } from "../parts/table";

interface CyclesProps {
  /** The newest first. */
  reports: readonly Report[];
  /** The cycle that is shown in full. */
  shown: number;
  atMost: number;
}

const COUNTS = ["requests", "hit rate", "blocked", "code taken out", "spark", "tax", "ticks", "hosts"];

/** The cycles that have ended; each can be looked at in full. */
export function Cycles({ reports, shown, atMost }: CyclesProps) {
  return (
    <section aria-labelledby="ended">
      <h2 id="ended" className="px-4 pt-4 pb-2 font-semibold">
        Cycles that have ended{" "}
        {reports.length === atMost && <span className="text-xs font-normal text-soft">the last {atMost}</span>}
      </h2>
      <Table
        testid="cycles"
        className="min-w-[60rem]"
        heads={["cycle", ...COUNTS, "state hash"]}
        right={COUNTS}
        region="Cycles that have ended"
      >
        {reports.map((report) => (
          <Row key={report.cycle} report={report} shown={report.cycle === shown} />
        ))}
      </Table>
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
        <td key={COUNTS[at]} className="numbers text-right">
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
