// One projection: its facts, its rebuild if one runs, its dead letters.

import { RotateCcw } from "lucide-react";
import type { Projection } from "../api/projections";
import { may } from "../api/session";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { duration, grouped, rate } from "../parts/format";
import { Subsystem } from "../parts/subsystem";
import { useSession } from "../session/context";
import { DeadLetters } from "./dead-letters";
import { ReplayProgress } from "./replay-progress";
import { StateBadge } from "./state-badge";

interface DrawerProps {
  name: string;
  projection: Projection | undefined;
  onReplay: () => void;
  onClose: () => void;
}

export function Drawer({ name, projection, onReplay, onClose }: DrawerProps) {
  const mayWrite = may(useSession(), "projections:write");
  if (!projection) {
    return (
      <Dialog title={name} form="sheet" width="max-w-2xl" onClose={onClose}>
        <p className="p-4 text-soft">
          No projection of this name is registered. It may have been renamed in a newer version.
        </p>
      </Dialog>
    );
  }
  const { subsystem, version, actor, state, position, lagEvents, lagSeconds, owner, replay } = projection;
  const facts = [
    ["position", grouped(position)],
    ["behind", `${grouped(lagEvents)} events, ${duration(lagSeconds)}`],
    ["rate", `${rate(projection.rate)} events/s`],
    ["owner", owner ?? "no worker holds the lease"],
    ["actor", actor],
  ];
  return (
    <Dialog
      title={name}
      description={
        <div className="flex items-center gap-4">
          <StateBadge state={state} />
          <Subsystem name={subsystem} />
          <span className="numbers">version {version}</span>
        </div>
      }
      form="sheet"
      width="max-w-2xl"
      onClose={onClose}
    >
      <div className="flex items-start gap-4 border-b border-line px-4 py-3">
        <dl className="grid min-w-0 flex-1 grid-cols-[5rem_minmax(0,1fr)] gap-x-3 gap-y-1 text-xs">
          {facts.map(([fact, value]) => (
            <div key={fact} className="contents">
              <dt className="text-soft">{fact}</dt>
              <dd className="font-mono break-all">{value}</dd>
            </div>
          ))}
        </dl>
        <Button onClick={onReplay} disabled={replay !== null || !mayWrite}>
          <RotateCcw aria-hidden size={13} /> Replay
        </Button>
      </div>
      {replay && (
        <div className="border-b border-line px-4 py-2.5">
          <ReplayProgress name={name} replay={replay} />
        </div>
      )}
      <DeadLetters projection={name} count={projection.deadLetters} mayRedeliver={mayWrite} />
    </Dialog>
  );
}
