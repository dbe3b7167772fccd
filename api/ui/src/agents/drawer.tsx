// One agent: its key, what it has to pay with, and what it used of each cycle.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { getAgent, getQuotasOf, type Agent, type QuotaUse } from "../api/agents";
import type { SparkAccount } from "../api/mint";
import { asProblem } from "../api/problem";
import { may } from "../api/session";
import { usePages } from "../parts/asking";
import { Command } from "../parts/command";
import { Dialog } from "../parts/dialog";
import { clock, day, grouped } from "../parts/format";
import { Badge } from "../parts/page";
import { useRetrying } from "../parts/retrying";
import { Sublist } from "../parts/section";
import { ROW, Table } from "../parts/table";
import { TroublePage, wordsOf } from "../parts/trouble";
import { useSession } from "../session/context";

interface DrawerProps {
  id: string;
  /** As the list has it, where it is on the list. */
  listed: Agent | undefined;
  account: SparkAccount | undefined;
  onClose: () => void;
}

export function AgentDrawer({ id, listed, account, onClose }: DrawerProps) {
  const fetched = useQuery({
    queryKey: ["agents", "one", id],
    queryFn: ({ signal }) => getAgent(id, signal),
    enabled: listed === undefined,
  });
  const retry = useRetrying(fetched);
  const agent = listed ?? fetched.data;
  if (agent) return <Known agent={agent} account={account} onClose={onClose} />;
  return (
    <Dialog title="Agent" form="sheet" width="max-w-2xl" onClose={onClose}>
      {fetched.error ? (
        <TroublePage {...wordsOf(asProblem(fetched.error))} {...retry} />
      ) : (
        <p role="status" className="p-4 text-soft">
          Loading the agent…
        </p>
      )}
    </Dialog>
  );
}

function Known({ agent, account, onClose }: { agent: Agent } & Pick<DrawerProps, "account" | "onClose">) {
  const facts: [string, string][] = [
    ["id", agent.id],
    ["public key", agent.publicKey],
    ["registered", `${day(agent.registeredAt)} ${clock(agent.registeredAt).slice(0, 8)} by ${agent.registeredBy}`],
    ...(agent.revokedAt === null
      ? []
      : [["revoked", `${day(agent.revokedAt)} ${clock(agent.revokedAt).slice(0, 8)} by ${agent.revokedBy ?? "?"}`] as [string, string]]),
    ...(account
      ? [
          [
            "spark",
            `${grouped(account.balance)}, ${grouped(account.reserved)} set aside; granted ${grouped(account.granted)}, paid ${grouped(account.paid)}`,
          ] as [string, string],
        ]
      : []),
  ];
  return (
    <Dialog
      title={agent.name}
      description={<Badge tone={agent.revokedAt === null ? "good" : "bad"}>{agent.revokedAt === null ? "registered" : "revoked"}</Badge>}
      form="sheet"
      width="max-w-2xl"
      onClose={onClose}
    >
      <div data-testid="agent">
        <dl className="grid grid-cols-[5.5rem_minmax(0,1fr)] gap-x-3 gap-y-1 px-4 py-3 text-xs">
          {facts.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="font-mono break-all">{value}</dd>
            </div>
          ))}
        </dl>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-2 border-t border-line px-4 py-3">
          <Command what="list its requests" lines={`weir web requests --agent ${agent.id}`} />
          <Command what="grant it spark" lines={`weir mint grant ${agent.id} 100 --reason 'a month'`} />
          <p className="text-xs">
            <Link to="/requests" search={{ agent: agent.id }} className="text-accent underline">
              What it asked of the outside
            </Link>
          </p>
        </div>
        <Cycles agent={agent} />
      </div>
    </Dialog>
  );
}

function Cycles({ agent }: { agent: Agent }) {
  const allowed = may(useSession(), "web:read");
  const query = usePages({
    key: ["quotas-of", agent.id],
    scope: "web:read",
    read: (before: string | undefined, signal) => getQuotasOf(agent.id, before, signal),
  });
  return (
    <section aria-label="Cycles" className="border-t border-line py-3">
      <h3 className="mb-1.5 px-4 text-2xs font-semibold tracking-wider text-soft uppercase">Cycles</h3>
      {allowed ? (
        <Sublist
          query={query}
          rows={({ quotas }) => quotas}
          loading="Loading the cycles…"
          nothing={<span data-testid="no-cycles">It has asked for nothing yet.</span>}
        >
          {(uses) => <Uses uses={uses} />}
        </Sublist>
      ) : (
        <p className="px-4 text-soft">
          What it used needs the scope <code>web:read</code>.
        </p>
      )}
    </section>
  );
}

const COUNTS = ["requests", "cached", "blocked", "failed", "ticks", "spark"];

function Uses({ uses }: { uses: readonly QuotaUse[] }) {
  return (
    <Table testid="cycles" heads={["cycle", "quota", ...COUNTS]} right={COUNTS} region="List: cycles">
      {uses.map((use) => (
        <tr key={use.cycle} data-cycle={use.cycle} className={`${ROW} numbers text-xs`}>
          <td>
            <Link to="/requests" search={{ agent: use.agent, cycle: String(use.cycle) }} className="text-accent underline">
              {use.cycle}
            </Link>
          </td>
          <td className={`whitespace-nowrap ${use.exhausted ? "text-bad" : ""}`}>
            {use.used} of {use.max}
            {use.exhausted && <span className="font-sans"> asked for more</span>}
          </td>
          {[use.requests, use.cached, use.blocked, use.failed, use.ticks, use.spark + use.tax].map((count, at) => (
            <td key={COUNTS[at]} className="text-right">
              {grouped(count)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}
