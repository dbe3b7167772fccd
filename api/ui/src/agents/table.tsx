import { Link } from "@tanstack/react-router";
import type { Agent } from "../api/agents";
import type { Accounts } from "../api/mint";
import { Ago } from "../parts/ago";
import { Button } from "../parts/button";
import { grouped } from "../parts/format";
import { Badge } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useLacking } from "../session/context";
import { Plot } from "./plot";
import { barsOf, short, type Bar, type CycleUses } from "./words";

interface TableProps {
  agents: readonly Agent[];
  /** The present one last; none where this session may not see them. */
  cycles: readonly { cycle: number; uses: CycleUses | undefined }[];
  /** That of the present epoch. */
  quota: number | undefined;
  accounts: Accounts | undefined;
  accountsTrouble: string | undefined;
  onOpen: (agent: Agent) => void;
  onGrant: (agent: Agent) => void;
  onRevoke: (agent: Agent) => void;
}

export function AgentTable({ agents, onOpen, onGrant, onRevoke, ...known }: TableProps) {
  const [grants, revokes] = [useLacking("mint:write"), useLacking("agents:write")];
  return (
    <Table
      testid="agents"
      className="min-w-[60rem]"
      heads={["agent", "state", "since", "used in this cycle", "last cycles", "spark"]}
      right={["spark"]}
      actions
      region="List: agents"
    >
      {agents.map((agent) => {
        const bars = barsOf(agent.id, known.cycles);
        const revoked = agent.revokedAt !== null;
        return (
          <tr key={agent.id} data-agent={agent.name} className={ROW}>
            <td className="max-w-56 truncate" title={agent.id}>
              <button
                type="button"
                className="font-medium text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
                onClick={() => onOpen(agent)}
              >
                {agent.name}
              </button>{" "}
              <code className="text-2xs text-soft">{short(agent.id)}</code>
            </td>
            <td>
              <Badge tone={revoked ? "bad" : "good"}>{revoked ? "revoked" : "registered"}</Badge>
            </td>
            <td className="max-w-44 truncate text-soft" title={`by ${agent.registeredBy}`}>
              <Ago at={agent.registeredAt} /> by {agent.registeredBy}
            </td>
            <td>
              <UsedNow bar={bars.at(-1)} quota={known.quota} />
            </td>
            <td>{bars.length > 1 ? <Plot name={agent.name} bars={bars} /> : <span className="text-soft">–</span>}</td>
            <td className="numbers text-right whitespace-nowrap">
              <Spark agent={agent.id} accounts={known.accounts} trouble={known.accountsTrouble} />
            </td>
            <td className="text-right whitespace-nowrap">
              <Link
                to="/requests"
                search={{ agent: agent.id }}
                className="mr-2 text-xs text-accent underline"
                aria-label={`Requests of ${agent.name}`}
              >
                requests
              </Link>
              <Button
                lacking={grants}
                disabled={revoked}
                aria-label={`Grant spark to ${agent.name}`}
                onClick={() => onGrant(agent)}
              >
                Grant
              </Button>{" "}
              <Button
                lacking={revokes}
                disabled={revoked}
                aria-label={`Revoke ${agent.name}`}
                onClick={() => onRevoke(agent)}
              >
                Revoke
              </Button>
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

function UsedNow({ bar, quota }: { bar: Bar | undefined; quota: number | undefined }) {
  if (bar === undefined || bar.use === undefined) {
    return (
      <span className="text-soft" title={bar === undefined ? "Needs the scope web:read" : "Not known yet"}>
        –
      </span>
    );
  }
  const used = bar.use?.used ?? 0;
  // What it was judged by, where something was; the epoch may have advanced within the cycle.
  const max = Math.max(bar.use?.max ?? 0, quota ?? 0);
  const full = bar.use?.exhausted === true || (max > 0 && used >= max);
  return (
    <span data-testid="used" className="flex items-center gap-2">
      <span aria-hidden className="h-1.5 w-16 overflow-hidden rounded-full bg-sunken ring-1 ring-line">
        <span
          className={`block h-full ${full ? "bg-bad" : "bg-accent"}`}
          style={{ width: `${max === 0 ? 0 : Math.min(100, (used / max) * 100)}%` }}
        />
      </span>
      <span className={`numbers text-xs whitespace-nowrap ${full ? "text-bad" : ""}`}>
        {grouped(used)} of {grouped(max)}
      </span>
    </span>
  );
}

function Spark({ agent, accounts, trouble }: { agent: string; accounts: Accounts | undefined; trouble: string | undefined }) {
  const account = accounts?.byName.get(agent);
  if (account) {
    return (
      <>
        {grouped(account.balance)}
        {account.reserved > 0 && <span className="block text-2xs text-soft">{grouped(account.reserved)} set aside</span>}
      </>
    );
  }
  if (accounts?.complete) return <span className="text-warn">none</span>;
  return (
    <span className="text-soft" title={trouble ?? (accounts ? "Not among the accounts that were read" : "Needs the scope mint:read")}>
      –
    </span>
  );
}
