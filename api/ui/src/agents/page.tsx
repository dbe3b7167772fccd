// The world's time, and the agents in it: who they are, what they have used of their quotas, what they have to pay with.

import { useQueries } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { getAgents, getQuotasIn, revokeAgent, type Agent } from "../api/agents";
import { getAccounts } from "../api/mint";
import { getAccess, getNexus, type Nexus } from "../api/nexus";
import { asProblem } from "../api/problem";
import { may } from "../api/session";
import { useAnswer, useLook, usePages } from "../parts/asking";
import { NewButton } from "../parts/button";
import { Command } from "../parts/command";
import { Confirm } from "../parts/confirm";
import { useDialogs } from "../parts/dialogs";
import { ListPage } from "../parts/list";
import { Nothing } from "../parts/page";
import { useSession } from "../session/context";
import { useFresh } from "../stream/news";
import { AgentDrawer } from "./drawer";
import { GrantDialog } from "./grant-dialog";
import { RegisterDialog } from "./register-dialog";
import { AgentTable } from "./table";
import { keyLines } from "./lines";
import { drawnCycles, short, type CycleUses } from "./words";
import { World } from "./world";

const route = getRouteApi("/agents");
/** What the log says of agents, of time, and of what they use. */
const KINDS = [
  "AgentRegistered",
  "AgentRevoked",
  "EpochAdvanced",
  "CycleStarted",
  "ClockSet",
  "ClockDriven",
  "SparkGranted",
  "SparkReserved",
  "SparkReleased",
  "SparkTransferred",
  "WebRequestSubmitted",
  "WebRequestCompleted",
  "WebRequestBlocked",
  "WebRequestFailed",
  "QuotaExhausted",
];
// Beside the stream, for tokens that may not follow the log; and ticks are no events.
const EVERY = 5_000;
// Of cycles that are over, little changes: a request that was under way is settled.
const PAST = 60_000;

export function AgentsPage() {
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const session = useSession();
  const look = useLook("agents", "nexus", "accounts", "quotas-now");
  const known = useFresh(KINDS, look);
  const nexus = useAnswer({ key: ["nexus"], read: getNexus, every: EVERY });
  const access = useAnswer({ key: ["nexus", "access"], read: getAccess, every: EVERY });
  const query = usePages({
    key: ["agents"],
    scope: "agents:read",
    read: (cursor: string | undefined, signal) => getAgents(cursor, known.current, signal),
  });
  const accounts = useAnswer({
    key: ["accounts"],
    scope: "mint:read",
    read: (signal) => getAccounts(known.current, signal),
    every: EVERY,
  });
  const cycles = useCycles(nexus.data, may(session, "web:read"), () => known.current);
  const dialogs = useDialogs(look, {
    register: (ends) => <RegisterDialog {...ends} />,
    grant: (ends, agent: Agent) => <GrantDialog agent={agent} account={accounts.data?.byName.get(agent.id)} {...ends} />,
    revoke: (ends, { id, name }: Agent) => (
      <Confirm title={`Revoke ${name}?`} verb="Revoke" act={() => revokeAgent(id)} said={`${name} is revoked`} {...ends}>
        What <strong className="font-semibold">{name}</strong> (<code>{short(id)}</code>) signs counts for nothing any more,
        on any instance, and every token of it ends. A key that was revoked cannot be registered again.
      </Confirm>
    ),
  });

  return (
    <ListPage
      title="Agents & quotas"
      about="Who may ask the outside, how much, and what they pay with"
      scope="agents:read"
      query={query}
      rows={({ pages }) => pages.flatMap(({ agents }) => agents)}
      one="agent"
      end="and there are no others"
      tools={may(session, "agents:write") && <NewButton onClick={() => dialogs.open("register")}>Register agent</NewButton>}
      above={<World nexus={nexus} access={access} onDone={look} />}
      nothing={
        <Nothing title="No agent is known here">
          <p>An agent is its ed25519 key, which is made where the agent runs; only the public half is registered here.</p>
          <div className="mt-4 text-left text-ink">
            <Command what="make and register a key" lines={keyLines("reader")} />
          </div>
        </Nothing>
      }
      dialogs={
        <>
          {open && (
            <AgentDrawer
              id={open}
              listed={query.data?.pages.flatMap(({ agents }) => agents).find(({ id }) => id === open)}
              account={accounts.data?.byName.get(open)}
              onClose={() => void navigate({ search: {} })}
            />
          )}
          {dialogs.shown}
        </>
      }
    >
      {(agents) => (
        <AgentTable
          agents={agents}
          cycles={cycles}
          quota={access.data?.quota}
          accounts={accounts.data}
          accountsTrouble={accounts.error ? asProblem(accounts.error).message : undefined}
          onOpen={({ id }) => void navigate({ search: { open: id } })}
          onGrant={(agent) => dialogs.open("grant", agent)}
          onRevoke={(agent) => dialogs.open("revoke", agent)}
        />
      )}
    </ListPage>
  );
}

/** What all agents used of the cycles that are drawn: one question a cycle, however many agents there are. */
function useCycles(nexus: Nexus | undefined, allowed: boolean, known: () => bigint | undefined) {
  const cycles = nexus && allowed ? drawnCycles(nexus) : [];
  const uses = useQueries({
    queries: cycles.map((cycle) => {
      const now = cycle === nexus?.cycle;
      return {
        queryKey: [now ? "quotas-now" : "quotas", cycle],
        queryFn: async ({ signal }: { signal: AbortSignal }): Promise<CycleUses> => {
          const { quotas, next } = await getQuotasIn(cycle, now ? known() : undefined, signal);
          return { byAgent: new Map(quotas.map((use) => [use.agent, use])), complete: next === undefined };
        },
        staleTime: now ? 0 : PAST,
        refetchInterval: now ? EVERY : (false as const),
      };
    }),
  });
  return cycles.map((cycle, index) => ({ cycle, uses: uses[index]?.data }));
}
