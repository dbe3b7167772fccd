// The read models: how far they are, how far behind, and the two things an operator does to them: replay, redeliver.

import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { toast } from "sonner";
import { getProjections, type Projection } from "../api/projections";
import { asProblem } from "../api/problem";
import { useAnswer } from "../parts/asking";
import { clock, grouped, plural } from "../parts/format";
import { Nothing } from "../parts/page";
import { useRetrying } from "../parts/retrying";
import { Table } from "../parts/table";
import { TroublePage, TroubleStrip, wordsOf } from "../parts/trouble";
import { useKeys } from "../shell/keys";
import { cancelled } from "./cancelled";
import { Drawer } from "./drawer";
import { ReplayDialog } from "./replay-dialog";
import { Row } from "./row";

const route = getRouteApi("/projections");
const EVERY = 1_000;
const HEADS = ["projection", "state", "position", "done", "behind", "lag", "events/s", "owner", "dead letters"];
const NUMBERS = ["position", "done", "behind", "lag", "events/s", "dead letters"];

export function ProjectionsPage() {
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useAnswer({ key: ["projections"], read: getProjections, every: EVERY });
  const retry = useRetrying(query);
  useReplaysEnd(query.data?.projections);
  const [current, setCurrent] = useState<string | undefined>(open);
  const [replaying, setReplaying] = useState<string>();

  const projections = query.data?.projections ?? [];
  const named = (name: string | undefined) => projections.find((projection) => projection.name === name);
  const show = (name: string) => void navigate({ search: { open: name } });
  const step = (by: number) => {
    const index = projections.findIndex(({ name }) => name === current);
    const next = projections[index < 0 ? 0 : Math.max(0, Math.min(projections.length - 1, index + by))];
    setCurrent(next?.name);
    document.getElementById(`projection-${next?.name}`)?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Enter: () => current !== undefined && show(current),
    r: () => current !== undefined && !named(current)?.replay && setReplaying(current),
  });

  if (!query.data) {
    if (query.error) return <TroublePage {...wordsOf(asProblem(query.error))} {...retry} />;
    return <TableSkeleton />;
  }
  const opened = named(open);
  const dialog = named(replaying);
  return (
    <div className="flex h-full flex-col">
      {query.error && (
        <TroubleStrip
          {...wordsOf(asProblem(query.error))}
          detail={`Showing what was known at ${clock(new Date(query.dataUpdatedAt).toISOString()).slice(0, 8)}.`}
          {...retry}
        />
      )}
      <div className="min-h-0 flex-1 overflow-auto bg-sheet" tabIndex={0} role="region" aria-label="Projections">
        <div className="flex items-baseline gap-4 px-4 pt-4 pb-3">
          <h1 className="text-lg font-semibold">Projections</h1>
          <p className="text-soft">
            {plural(projections.length, "read model")}, log at{" "}
            <span className="numbers">{grouped(query.data.head)}</span>
            {verdict(projections)}
          </p>
        </div>
        {projections.length === 0 ? (
          <Empty />
        ) : (
          <Table testid="projections" className="min-w-[60rem]" heads={HEADS} right={NUMBERS} actions>
            {projections.map((projection) => (
              <Row
                key={projection.name}
                projection={projection}
                head={query.data.head}
                current={projection.name === current}
                onShow={() => {
                  setCurrent(projection.name);
                  show(projection.name);
                }}
                onReplay={() => {
                  setCurrent(projection.name);
                  setReplaying(projection.name);
                }}
              />
            ))}
          </Table>
        )}
      </div>
      {open !== undefined && (
        <Drawer
          name={open}
          projection={opened}
          onReplay={() => setReplaying(open)}
          onClose={() => void navigate({ search: {} })}
        />
      )}
      {dialog && <ReplayDialog projection={dialog} onClose={() => setReplaying(undefined)} />}
    </div>
  );
}

/** Says when a rebuild is no longer there, unless it was cancelled here. */
function useReplaysEnd(projections: readonly Projection[] | undefined): void {
  const before = useRef(projections);
  useEffect(() => {
    for (const { name, replay } of before.current ?? []) {
      const now = projections?.find((projection) => projection.name === name);
      if (replay?.state !== "running" || now?.replay !== null) continue;
      if (!cancelled.delete(name)) toast(`Replay of ${name} has ended`, { id: `replay ${name}` });
    }
    before.current = projections;
  }, [projections]);
}

function verdict(projections: readonly Projection[]) {
  const halted = projections.filter(({ state }) => state === "halted").length;
  const parked = projections.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  return (
    <>
      {halted > 0 && <span className="text-bad"> · {halted} halted</span>}
      {parked > 0 && <span className="text-warn"> · {plural(parked, "dead letter")}</span>}
    </>
  );
}

function Empty() {
  return (
    <Nothing title="No projections are running">
      Read models register when a worker starts. <code>weir up</code> brings one along; in production start{" "}
      <code>weir worker</code>.
    </Nothing>
  );
}

function TableSkeleton() {
  return (
    <div role="status" aria-label="Loading projections" className="p-4">
      <div className="skeleton mb-5 h-5 w-48" />
      {Array.from({ length: 6 }, (_, index) => (
        <div key={index} className="flex h-10 items-center gap-8 border-b border-line/60">
          <div className="skeleton h-3 w-40" />
          <div className="skeleton h-3 w-16" />
          <div className="skeleton ml-auto h-3 w-80" />
        </div>
      ))}
    </div>
  );
}
