// The world's time: what agents may do, until when the quotas hold, and how to move it.

import type { UseQueryResult } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import type { Access, Nexus } from "../api/nexus";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { useCountdown } from "../parts/countdown";
import { duration, grouped } from "../parts/format";
import { Badge } from "../parts/page";
import { useLacking } from "../session/context";
import { AdvanceDialog } from "./advance-dialog";
import { DriveDialog } from "./drive-dialog";
import { levelWords } from "./words";

interface WorldProps {
  nexus: UseQueryResult<Nexus>;
  access: UseQueryResult<Access>;
  onDone: () => unknown;
}

export function World({ nexus, access, onDone }: WorldProps) {
  const lacking = useLacking("nexus:write");
  const [dialog, setDialog] = useState<"advance" | "drive">();
  const now = nexus.data;
  if (!now) {
    return (
      <section aria-label="The world’s time" className="border-t border-line px-4 py-3">
        {nexus.error ? (
          <p role="alert" className="flex items-center gap-3 text-xs text-bad">
            {asProblem(nexus.error).message}
            <Button onClick={() => void nexus.refetch()}>Try again</Button>
          </p>
        ) : (
          <div role="status" aria-label="Loading the time" className="skeleton h-10 w-96 max-w-full" />
        )}
      </section>
    );
  }
  const driven = now.clock === "driven";
  return (
    <section
      aria-label="The world’s time"
      data-testid="world"
      className="grid grid-cols-2 items-start gap-x-8 gap-y-3 border-t border-line px-4 py-3 sm:flex sm:flex-wrap"
    >
      <Figure name="epoch" value={grouped(now.epoch)}>
        <Level access={access} />
      </Figure>
      <Figure name="quota" value={access.data ? grouped(access.data.quota) : "–"}>
        requests of an agent in a cycle
      </Figure>
      <Figure name="cycle" value={grouped(now.cycle)}>
        <NextCycle nexus={now} />
      </Figure>
      <Figure name="tick" value={grouped(now.tick)}>
        <Clock nexus={now} />
      </Figure>
      <span className="col-span-2 ml-auto flex flex-wrap gap-2">
        {driven && (
          <Button lacking={lacking} onClick={() => setDialog("drive")}>
            Move the clock
          </Button>
        )}
        <Button lacking={lacking} onClick={() => setDialog("advance")}>
          Advance the epoch
        </Button>
      </span>
      {dialog === "advance" && <AdvanceDialog nexus={now} access={access.data} onDone={onDone} onClose={() => setDialog(undefined)} />}
      {dialog === "drive" && <DriveDialog nexus={now} onDone={onDone} onClose={() => setDialog(undefined)} />}
    </section>
  );
}

function Figure({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <div data-figure={name} className="min-w-24">
      <p className="text-2xs tracking-wide text-soft">{name}</p>
      <p className="numbers text-xl leading-tight">{value}</p>
      <div className="mt-0.5 max-w-72 text-xs text-soft">{children}</div>
    </div>
  );
}

function Level({ access }: { access: UseQueryResult<Access> }) {
  if (access.data) {
    const { level } = access.data;
    return (
      <>
        <Badge tone={level === "closed" ? "warn" : "good"}>{level}</Badge> {levelWords(level)}
      </>
    );
  }
  return access.error ? <span className="text-warn">{asProblem(access.error).message}</span> : "…";
}

function NextCycle({ nexus: { clock, nextCycleAt } }: { nexus: Nexus }) {
  const left = useCountdown(nextCycleAt === null ? undefined : Date.parse(nextCycleAt));
  if (nextCycleAt !== null)
    return (
      <>
        next one <time dateTime={nextCycleAt}>{left === 0 ? "now" : `in ${duration(left)}`}</time>, quotas start over
      </>
    );
  return <>{clock === "driven" ? "the next one begins when the clock is moved so far" : "quotas hold as long"}</>;
}

function Clock({ nexus: { clock, tickSeconds, ticksPerCycle } }: { nexus: Nexus }) {
  if (clock === "wall" && tickSeconds !== null)
    return (
      <>
        one takes {duration(tickSeconds)}
        {ticksPerCycle !== null && `; ${grouped(ticksPerCycle)} are a cycle`}
      </>
    );
  if (clock === "driven") return <>moved by hand{ticksPerCycle !== null && `; ${grouped(ticksPerCycle)} are a cycle`}</>;
  return <>no worker has set the clock yet</>;
}
