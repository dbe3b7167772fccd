// Approvals: blocked requests that agents ask a person about, as they are asked; and what persons said.

import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useState, type ReactNode } from "react";
import { useAgentNames } from "../agents/names";
import { nameOf } from "../agents/words";
import type { Agent } from "../api/agents";
import { getApprovals, type Approval, type Word } from "../api/approvals";
import { asProblem } from "../api/problem";
import { may } from "../api/session";
import { Ago } from "../parts/ago";
import { Button } from "../parts/button";
import { useCountdown } from "../parts/countdown";
import { clock, day, duration, plural } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { useFresh } from "../stream/news";
import { AnswerDialog } from "./answer-dialog";
import { cannotAnswer, inTurn, settled, stateWords, TONE } from "./answers";

/** What the log says of approvals. */
const KINDS = ["WebApprovalRequested", "WebApprovalAnswered"];
// Beside the stream, for what ends by its time, and for tokens that may not follow the log.
const EVERY = 5_000;

export function ApprovalsPage() {
  const client = useQueryClient();
  const allowed = may(useSession(), "web:read");
  const agents = useAgentNames();
  const [answering, setAnswering] = useState<{ approval: Approval; word: Word }>();
  const look = useCallback(() => client.invalidateQueries({ queryKey: ["approvals"] }), [client]);
  const known = useFresh(KINDS, look);
  const open = useQuery({
    queryKey: ["approvals", "open"],
    queryFn: ({ signal }) => getApprovals({ open: true, known: known.current }, signal),
    enabled: allowed,
    refetchInterval: ({ state }) => (state.error ? false : EVERY),
  });
  const past = useInfiniteQuery({
    queryKey: ["approvals", "all"],
    queryFn: ({ pageParam, signal }) => getApprovals({ before: pageParam, known: known.current }, signal),
    initialPageParam: undefined as bigint | undefined,
    getNextPageParam: (page) => page.next,
    enabled: allowed,
    refetchInterval: ({ state }) => (state.error || (state.data?.pages.length ?? 0) > 1 ? false : EVERY),
  });
  const say = (approval: Approval, word: Word) => setAnswering({ approval, word });
  return (
    <Page title="Approvals" about="Blocked requests that agents ask a person about" scope="web:read" query={open}>
      {(page) => {
        const waiting = inTurn(page.approvals);
        const answered = past.data && settled(past.data.pages.flatMap(({ approvals }) => approvals));
        if (waiting.length === 0 && answered?.length === 0 && !past.hasNextPage) {
          return (
            <Nothing title="No agent asks for anything">
              An agent whose request a rule blocks can ask a person, by <code>POST /api/web/approvals</code> with the very
              request; what is allowed is that request, for a time. A host that many should reach wants a rule or a waiver
              instead.
            </Nothing>
          );
        }
        return (
          <>
            <Section title="Waiting" about={`${plural(waiting.length, "question")}${page.next === undefined ? "" : " shown, and there are more"}`}>
              {waiting.length === 0 ? (
                <p className="px-4 pb-2 text-soft">Nobody waits now.</p>
              ) : (
                <Table testid="waiting" heads={["request", "blocked because", "purpose", "who", "asked", "can be answered for"]}>
                  {waiting.map((approval) => (
                    <tr key={approval.id} data-approval={approval.url} className={ROW}>
                      <What approval={approval} agents={agents} />
                      <td className="whitespace-nowrap text-soft">
                        <Ago at={approval.askedAt} />
                      </td>
                      <td className="numbers text-xs whitespace-nowrap">
                        <Left until={approval.expiresAt} />
                      </td>
                      <td className="text-right whitespace-nowrap">
                        <Say approval={approval} word="allow" onSay={say} /> <Say approval={approval} word="deny" onSay={say} />
                      </td>
                    </tr>
                  ))}
                </Table>
              )}
            </Section>
            <Section title="Answered" about="each stands until its time is over, or it is replaced">
              {past.error && (
                <p role="alert" className="flex items-center gap-3 px-4 pb-2 text-xs text-bad">
                  {asProblem(past.error).message}
                  <Button onClick={() => void past.refetch()}>Try again</Button>
                </p>
              )}
              {answered === undefined ? (
                !past.error && (
                  <p role="status" className="px-4 text-soft">
                    Loading the answers…
                  </p>
                )
              ) : answered.length === 0 ? (
                <p className="px-4 text-soft">Nothing was answered yet.</p>
              ) : (
                <Answered approvals={answered} agents={agents} onSay={say} />
              )}
              {past.hasNextPage && (
                <Button className="mx-4 mt-3" onClick={() => void past.fetchNextPage()} disabled={past.isFetchingNextPage}>
                  {past.isFetchingNextPage ? "Loading…" : "Show older"}
                </Button>
              )}
            </Section>
            {answering && (
              <AnswerDialog
                {...answering}
                who={nameOf(agents, answering.approval.agent)}
                onDone={() => void look()}
                onClose={() => setAnswering(undefined)}
              />
            )}
          </>
        );
      }}
    </Page>
  );
}

interface ListProps {
  approvals: readonly Approval[];
  agents: readonly Agent[] | undefined;
  onSay: (approval: Approval, word: Word) => void;
}

function Answered({ approvals, agents, onSay }: ListProps) {
  return (
    <Table testid="answered" heads={["request", "blocked because", "purpose", "who", "answer", "holds until"]}>
      {approvals.map((approval) => {
        const { state, answer } = approval;
        return (
          <tr key={approval.id} data-approval={approval.url} className={ROW}>
            <What approval={approval} agents={agents} />
            <td className="max-w-sm py-1.5">
              <Badge tone={TONE[state]}>{state}</Badge> {answer && <span className="text-soft">by {answer.by}</span>}
              {stateWords(approval) !== "" && <span className="block text-xs text-soft">{stateWords(approval)}</span>}
              {answer && <span className="block text-xs break-words">{answer.reason}</span>}
            </td>
            <td className="numbers text-xs whitespace-nowrap">
              {answer ? (
                <time dateTime={answer.until}>
                  {day(answer.until)} {clock(answer.until).slice(0, 5)}
                </time>
              ) : (
                <span className="text-soft">–</span>
              )}
            </td>
            <td className="text-right whitespace-nowrap">
              {(state === "denied" || state === "over") && <Say approval={approval} word="allow" onSay={onSay} />}
              {state === "allowed" && <Say approval={approval} word="deny" onSay={onSay} />}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

function Section({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="border-t border-line pb-4">
      <div className="flex items-baseline gap-3 px-4 py-2.5">
        <h2 className="font-semibold">{title}</h2>
        <p className="text-xs text-soft">{about}</p>
      </div>
      {children}
    </section>
  );
}

function Table({ testid, heads, children }: { testid: string; heads: string[]; children: ReactNode }) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={`List: ${testid}`}>
      <table data-testid={testid} className="w-full min-w-[68rem] border-collapse text-left">
        <thead className={HEAD}>
          <tr>
            {heads.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">
              <span className="sr-only">actions</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** What is asked, why it is blocked, what it is for, and by whom. */
function What({ approval: { method, url, host, reason, purpose, agent }, agents }: { approval: Approval; agents: readonly Agent[] | undefined }) {
  return (
    <>
      <td className="max-w-80 truncate" title={url}>
        <span className="numbers text-2xs text-soft">{method}</span> <span className="font-mono text-xs">{url}</span>
      </td>
      <td className="max-w-60 py-1.5">
        <code className="text-xs break-all">{host}</code>
        <span className="block text-xs break-words text-soft">{reason}</span>
      </td>
      <td className="max-w-60 py-1.5 text-xs break-words">{purpose}</td>
      <td className="max-w-36 truncate" title={agent}>
        <Link to="/requests" search={{ agent }} className="hover:underline" aria-label={`All that ${nameOf(agents, agent)} asked`}>
          {nameOf(agents, agent)}
        </Link>
      </td>
    </>
  );
}

/** How much time is left to answer; little of it is said in colour too. */
function Left({ until }: { until: string }) {
  const left = useCountdown(Date.parse(until));
  return (
    <time dateTime={until} title={`${day(until)} ${clock(until).slice(0, 8)}`} className={left < 600 ? "text-warn" : ""}>
      {left === 0 ? "no longer" : duration(left)}
    </time>
  );
}

function Say({ approval, word, onSay }: { approval: Approval; word: Word; onSay: (approval: Approval, word: Word) => void }) {
  const cannot = cannotAnswer(useSession(), approval);
  const verb = word === "allow" ? "Allow" : "Deny";
  return (
    <Button
      disabled={cannot !== undefined}
      title={cannot}
      aria-label={`${verb} ${approval.method} ${approval.url}`}
      onClick={() => onSay(approval, word)}
    >
      {verb}
    </Button>
  );
}
