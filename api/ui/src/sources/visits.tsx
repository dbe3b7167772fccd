import { Link } from "@tanstack/react-router";
import { getVisits, type Visit } from "../api/sources";
import { usePages } from "../parts/asking";
import { clock, day, duration, grouped } from "../parts/format";
import { Badge } from "../parts/page";
import { Sublist } from "../parts/section";
import { ROW, Table } from "../parts/table";

const EVERY = 5_000;
const COUNTS = ["records", "new", "changed", "withdrawn"];

/** The visits to a source that ended, the newest first. */
export function Visits({ name }: { name: string }) {
  const query = usePages({
    key: ["sources", name, "visits"],
    read: (cursor: string | undefined, signal) => getVisits(name, cursor, signal),
    every: EVERY,
  });
  return (
    <div className="pt-3">
      <h3 className="px-4 pb-2 font-semibold">History</h3>
      <Sublist
        query={query}
        rows={({ visits }) => visits}
        loading="Loading the visits…"
        nothing={<span data-testid="no-visits">No visit has ended yet.</span>}
      >
        {(visits) => <Ended name={name} visits={visits} />}
      </Sublist>
    </div>
  );
}

function Ended({ name, visits }: { name: string; visits: readonly Visit[] }) {
  return (
    <Table
      testid={`visits-${name}`}
      className="min-w-[48rem]"
      heads={["ended", "about", "took", "outcome", ...COUNTS]}
      right={COUNTS}
      region={`Visits to ${name}`}
    >
      {visits.map((visit) => (
        <tr key={String(visit.position)} data-visit={String(visit.position)} className={`${ROW} numbers`}>
          <td className="whitespace-nowrap">
            <Link to="/" search={{ at: String(visit.position) }} className="text-accent underline">
              <time dateTime={visit.endedAt}>
                {day(visit.endedAt)} {clock(visit.endedAt).slice(0, 8)}
              </time>
            </Link>
          </td>
          <td>{visit.ecosystem ?? "all it has"}</td>
          <td className="whitespace-nowrap">{duration(visit.durationMs / 1_000)}</td>
          <td className="max-w-md py-1.5">
            {visit.cause === null ? (
              <Badge tone="good">{visit.records === 0 ? "unchanged" : "read"}</Badge>
            ) : (
              <span className="font-sans text-xs break-words text-bad">{visit.cause}</span>
            )}
          </td>
          <td className="text-right">
            {grouped(visit.records)}
            {visit.unreadable > 0 && <span className="text-warn"> ({grouped(visit.unreadable)} unreadable)</span>}
          </td>
          <td className="text-right">{grouped(visit.published)}</td>
          <td className="text-right">{grouped(visit.changed)}</td>
          <td className={`text-right ${visit.withdrawn > 0 ? "text-warn" : ""}`}>{grouped(visit.withdrawn)}</td>
        </tr>
      ))}
    </Table>
  );
}
