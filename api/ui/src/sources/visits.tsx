import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { asProblem } from "../api/problem";
import { getVisits, type Visit } from "../api/sources";
import { Button } from "../parts/button";
import { clock, day, duration, grouped } from "../parts/format";
import { Badge, HEAD, ROW } from "../parts/page";

const EVERY = 5_000;

/** The visits to a source that ended, the newest first. */
export function Visits({ name }: { name: string }) {
  const query = useInfiniteQuery({
    queryKey: ["sources", name, "visits"],
    queryFn: ({ pageParam, signal }) => getVisits(name, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    // Who has paged back is reading: nothing moves under the eyes.
    refetchInterval: ({ state }) => (state.error || (state.data?.pages.length ?? 0) > 1 ? false : EVERY),
  });
  const visits = query.data?.pages.flatMap((page) => page.visits);
  return (
    <div className="px-4 pt-3">
      <h3 className="pb-2 font-semibold">History</h3>
      {query.error && (
        <p role="alert" className="flex items-center gap-3 pb-2 text-xs text-bad">
          {asProblem(query.error).message}
          <Button onClick={() => void query.refetch()}>Try again</Button>
        </p>
      )}
      {visits === undefined ? (
        !query.error && (
          <p role="status" className="text-soft">
            Loading the visits…
          </p>
        )
      ) : visits.length === 0 ? (
        <p data-testid="no-visits" className="text-soft">
          No visit has ended yet.
        </p>
      ) : (
        <Table name={name} visits={visits} />
      )}
      {query.hasNextPage && (
        <Button className="mt-3" onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
          {query.isFetchingNextPage ? "Loading…" : "Show older"}
        </Button>
      )}
    </div>
  );
}

function Table({ name, visits }: { name: string; visits: readonly Visit[] }) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={`Visits to ${name}`}>
      <table data-testid={`visits-${name}`} className="w-full min-w-[48rem] border-collapse text-left">
        <thead className={HEAD}>
          <tr>
            {["ended", "about", "took", "outcome", "records", "new", "changed", "withdrawn"].map((column, at) => (
              <th key={column} scope="col" className={at > 3 ? "text-right" : ""}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
  );
}
