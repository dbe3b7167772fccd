import type { Agent } from "../api/agents";
import { nameOf } from "../agents/words";
import type { RequestState, WebRequest } from "../api/web-requests";
import { bytes, plural } from "../parts/format";
import { Moment } from "../parts/moment";
import { Badge } from "../parts/page";
import { ROW, Table } from "../parts/table";

const TONE: Record<RequestState, "good" | "warn" | "bad" | "soft"> = {
  submitted: "soft",
  completed: "good",
  blocked: "bad",
  failed: "warn",
};

const HEADS = ["when", "cycle", "agent", "request", "what became of it", "purpose", "cost"];

/** Agents choose ids for themselves: two may have chosen the same. */
export function keyOf({ agent, id }: Pick<WebRequest, "agent" | "id">): string {
  return `${agent}/${id}`;
}

export function StateBadge({ state }: { state: RequestState }) {
  return <Badge tone={TONE[state]}>{state === "submitted" ? "pending" : state}</Badge>;
}

interface RequestTableProps {
  requests: readonly WebRequest[];
  agents: readonly Agent[] | undefined;
  /** The row under the keys' cursor. */
  current: string | undefined;
  /** What is newer has come in since the list was opened. */
  firstSeen: bigint | undefined;
  onOpen: (request: WebRequest) => void;
  onAgent: (agent: string) => void;
}

export function RequestTable({ requests, agents, current, firstSeen, onOpen, onAgent }: RequestTableProps) {
  return (
    <Table testid="requests" className="min-w-[72rem]" heads={HEADS} right={["cost"]}>
      {requests.map((request) => {
        const key = keyOf(request);
        const fresh = firstSeen !== undefined && request.position > firstSeen;
        return (
          <tr
            key={key}
            id={`request-${key}`}
            data-request={request.id}
            data-state={request.state}
            data-current={key === current}
            className={`${ROW} ${fresh ? "arrive" : ""} ${key === current ? "bg-accent-wash" : ""}`}
          >
            <td>
              <Moment at={request.at} />
            </td>
            <td className="numbers text-xs">{request.cycle}</td>
            <td className="max-w-36 truncate" title={request.agent}>
              <button
                type="button"
                className="hover:underline"
                aria-label={`Only requests of ${nameOf(agents, request.agent)}`}
                onClick={() => onAgent(request.agent)}
              >
                {nameOf(agents, request.agent)}
              </button>
            </td>
            <td className="max-w-96" title={request.url}>
              <span className="flex items-baseline gap-1.5">
                <span className="numbers text-2xs text-soft">{request.method}</span>
                <button
                  type="button"
                  className="min-w-0 truncate font-mono text-xs text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
                  onClick={() => onOpen(request)}
                >
                  {request.url}
                </button>
              </span>
            </td>
            <td className="max-w-sm min-w-60 py-1.5">
              <StateBadge state={request.state} />{" "}
              {request.status !== null && <span className="numbers text-xs">{request.status}</span>}{" "}
              {request.state === "completed" && <span className="numbers text-xs text-soft">{bytes(request.contentSize)}</span>}{" "}
              {request.cached && <Badge>cached</Badge>}
              {request.error && <span className="block text-xs break-words text-soft">{request.error.reason}</span>}
            </td>
            <td className="max-w-60 truncate text-soft" title={request.purpose}>
              {request.purpose}
            </td>
            <td className="numbers text-right text-xs whitespace-nowrap">
              <span className="block">{request.sparkCost + request.tax} spark</span>
              <span className="block text-2xs text-soft">{plural(request.tickCost, "tick")}</span>
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
