import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getChain, type EventView } from "../api/events";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { clock, grouped, plural } from "../parts/format";
import { Subsystem } from "../parts/subsystem";
import { chain } from "./chain";

const SHOWN = 200;

/** All events of the correlation, effects indented under their cause. */
export function ChainList({ event }: { event: EventView }) {
  const query = useQuery({
    queryKey: ["chain", String(event.position)],
    queryFn: ({ signal }) => getChain(event.position, signal),
  });
  if (query.error) {
    return (
      <p className="flex items-center gap-3 text-warn">
        {asProblem(query.error).message} <Button onClick={() => void query.refetch()}>Retry</Button>
      </p>
    );
  }
  if (!query.data) return <div role="status" aria-label="Loading the chain" className="skeleton h-3 w-1/2" />;
  const links = chain(query.data);
  if (links.length <= 1) return <p className="text-soft">Nothing else happened in this correlation.</p>;
  return (
    <>
      <ol data-testid="chain" className="text-xs">
        {links.slice(0, SHOWN).map(({ event: link, depth }) => {
          const here = link.position === event.position;
          return (
            <li key={String(link.position)} style={{ paddingLeft: Math.min(depth, 12) * 16 }}>
              <Link
                to="/"
                search={(old) => ({ ...old, at: String(link.position) })}
                aria-current={here ? "true" : undefined}
                className={`flex h-6 items-center gap-2.5 rounded px-1.5 ${here ? "bg-accent-wash font-semibold" : "hover:bg-sunken"}`}
              >
                {depth > 0 && (
                  <span aria-hidden className="-mr-1 text-soft">
                    └
                  </span>
                )}
                <span className="numbers text-soft">{grouped(link.position)}</span>
                <span className="truncate">{link.kind}</span>
                <span className="ml-auto shrink-0">
                  <Subsystem name={link.subsystem} />
                </span>
                <span className="numbers shrink-0 text-soft">{clock(link.recordedAt)}</span>
              </Link>
            </li>
          );
        })}
      </ol>
      {links.length > SHOWN && (
        <p className="mt-1 text-xs text-soft">and {plural(links.length - SHOWN, "event")} more in this correlation</p>
      )}
    </>
  );
}
