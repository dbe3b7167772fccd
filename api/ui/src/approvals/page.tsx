// Approvals: blocked requests that agents ask a person about, as they are asked; and what persons said.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAgentNames } from "../agents/names";
import { nameOf } from "../agents/words";
import type { Agent } from "../api/agents";
import { getApprovals, type Approval, type Word } from "../api/approvals";
import { Ago } from "../parts/ago";
import { useAnswer, useLook, usePages } from "../parts/asking";
import { Button } from "../parts/button";
import { useCountdown } from "../parts/countdown";
import { clock, day, duration, plural } from "../parts/format";
import { Until } from "../parts/moment";
import { Badge, Nothing, Page } from "../parts/page";
import { Section, Sublist } from "../parts/section";
import { ROW, Table } from "../parts/table";
import { useSession } from "../session/context";
import { useFresh } from "../stream/news";
import { AnswerDialog } from "./answer-dialog";
import { cannotAnswer, inTurn, settled, stateWords, TONE } from "./answers";

/** What the log says of approvals. */
const KINDS = ["WebApprovalRequested", "WebApprovalAnswered"];
// Beside the stream, for what ends by its time, and for tokens that may not follow the log.
const EVERY = 5_000;
const WHAT = ["request", "blocked because", "purpose", "who"];
const LOOK = { className: "min-w-[68rem]", actions: true };

export function ApprovalsPage() {
  const agents = useAgentNames();
  const [answering, setAnswering] = useState<{ approval: Approval; word: Word }>();
  const look = useLook("approvals");
  const known = useFresh(KINDS, look);
  const open = useAnswer({
    key: ["approvals", "open"],
    scope: "web:read",
    read: (signal) => getApprovals({ open: true, known: known.current }, signal),
    every: EVERY,
  });
  const past = usePages({
    key: ["approvals", "all"],
    scope: "web:read",
    read: (before: bigint | undefined, signal) => getApprovals({ before, known: known.current }, signal),
    every: EVERY,
  });
  const say = (approval: Approval, word: Word) => setAnswering({ approval, word });
  return (
    <Page title="Approvals" about="Blocked requests that agents ask a person about" scope="web:read" query={open}>
      {(page) => {
        const waiting = inTurn(page.approvals);
        const none = past.data?.pages.every(({ approvals }) => settled(approvals).length === 0) && !past.hasNextPage;
        if (waiting.length === 0 && none) {
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
                <Table {...LOOK} testid="waiting" heads={[...WHAT, "asked", "can be answered for"]} region="List: waiting">
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
              <Sublist
                query={past}
                rows={({ approvals }) => settled(approvals)}
                loading="Loading the answers…"
                nothing="Nothing was answered yet."
              >
                {(answered) => (
                  <Table {...LOOK} testid="answered" heads={[...WHAT, "answer", "holds until"]} region="List: answered">
                    {answered.map((approval) => (
                      <Answered key={approval.id} approval={approval} agents={agents} onSay={say} />
                    ))}
                  </Table>
                )}
              </Sublist>
            </Section>
            {answering && (
              <AnswerDialog
                {...answering}
                who={nameOf(agents, answering.approval.agent)}
                onDone={look}
                onClose={() => setAnswering(undefined)}
              />
            )}
          </>
        );
      }}
    </Page>
  );
}

interface AnsweredProps {
  approval: Approval;
  agents: readonly Agent[] | undefined;
  onSay: (approval: Approval, word: Word) => void;
}

function Answered({ approval, agents, onSay }: AnsweredProps) {
  const { state, answer } = approval;
  return (
    <tr data-approval={approval.url} className={ROW}>
      <What approval={approval} agents={agents} />
      <td className="max-w-sm py-1.5">
        <Badge tone={TONE[state]}>{state}</Badge> {answer && <span className="text-soft">by {answer.by}</span>}
        {stateWords(approval) !== "" && <span className="block text-xs text-soft">{stateWords(approval)}</span>}
        {answer && <span className="block text-xs break-words">{answer.reason}</span>}
      </td>
      <td>{answer ? <Until at={answer.until} /> : <span className="text-soft">–</span>}</td>
      <td className="text-right whitespace-nowrap">
        {(state === "denied" || state === "over") && <Say approval={approval} word="allow" onSay={onSay} />}
        {state === "allowed" && <Say approval={approval} word="deny" onSay={onSay} />}
      </td>
    </tr>
  );
}

/** What is asked, why it is blocked, what it is for, and by whom. */
function What({ approval: { method, url, host, reason, purpose, agent }, agents }: Omit<AnsweredProps, "onSay">) {
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

function Say({ approval, word, onSay }: Omit<AnsweredProps, "agents"> & { word: Word }) {
  const cannot = cannotAnswer(useSession(), approval);
  const verb = word === "allow" ? "Allow" : "Deny";
  return (
    <Button lacking={cannot} aria-label={`${verb} ${approval.method} ${approval.url}`} onClick={() => onSay(approval, word)}>
      {verb}
    </Button>
  );
}
