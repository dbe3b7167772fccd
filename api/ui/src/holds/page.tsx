// Holds: what agents wait for, as it is asked; and what persons said.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { getHolds, type Hold, type Word } from "../api/holds";
import { Ago } from "../parts/ago";
import { useAnswer, useLook } from "../parts/asking";
import { Button } from "../parts/button";
import { plural } from "../parts/format";
import { Until } from "../parts/moment";
import { Badge, Nothing, Page } from "../parts/page";
import { Section } from "../parts/section";
import { ROW, Table } from "../parts/table";
import { ofPrincipal } from "../query/grammar";
import { useSession } from "../session/context";
import { useNews } from "../stream/news";
import { AnswerDialog } from "./answer-dialog";
import { askedBecause, cannotAnswer, split } from "./answers";

/** What the log says of holds. */
const KINDS = ["PackageRequested", "HoldAnswered"];
// Beside the stream, for what ends by its time, and for tokens that may not follow the log.
const EVERY = 5_000;
const WHAT = ["package", "why", "who"];
const LOOK = { className: "min-w-[60rem]", actions: true };

export function HoldsPage() {
  const [answering, setAnswering] = useState<{ hold: Hold; word: Word }>();
  const query = useAnswer({ key: ["holds"], scope: "rules:read", read: getHolds, every: EVERY });
  const look = useLook("holds");
  useNews(KINDS, look);
  return (
    <Page title="Holds" about="What waits for a person before an agent gets it" scope="rules:read" query={query}>
      {(holds) => {
        const { waiting, answered } = split(holds);
        return (
          <>
            {holds.length === 0 ? (
              <Nothing title="Nothing waits for a person">
                A profile that holds new packages, new versions or advisories has its tokens wait here, until somebody says
                yes or no.
              </Nothing>
            ) : (
              <>
                <Section title="Waiting" about={plural(waiting.length, "question")}>
                  {waiting.length === 0 ? (
                    <p className="px-4 pb-2 text-soft">Nobody waits now.</p>
                  ) : (
                    <Waiting holds={waiting} onAnswer={(hold, word) => setAnswering({ hold, word })} />
                  )}
                </Section>
                {answered.length > 0 && (
                  <Section title="Answered" about="each stands until its time is over, or it is replaced">
                    <Answered holds={answered} onAnswer={(hold, word) => setAnswering({ hold, word })} />
                  </Section>
                )}
              </>
            )}
            <p className="p-4 text-xs text-soft">
              What is over is not shown here; all of it stands in{" "}
              <Link to="/" search={{ q: `kind:${KINDS.join(",")}` }} className="text-accent underline">
                the log
              </Link>
              .
            </p>
            {answering && <AnswerDialog {...answering} onDone={look} onClose={() => setAnswering(undefined)} />}
          </>
        );
      }}
    </Page>
  );
}

interface ListProps {
  holds: readonly Hold[];
  onAnswer: (hold: Hold, word: Word) => void;
}

function Waiting({ holds, onAnswer }: ListProps) {
  return (
    <Table {...LOOK} testid="waiting" heads={[...WHAT, "asked", "can be answered until"]} region="List: waiting">
      {holds.map((hold) => (
        <tr key={hold.id} data-hold={hold.package} className={ROW}>
          <What hold={hold} />
          <td className="whitespace-nowrap text-soft">
            <Ago at={hold.requestedAt} />
          </td>
          <td>
            <Until at={hold.until} />
          </td>
          <td className="text-right whitespace-nowrap">
            <Say hold={hold} word="allow" onAnswer={onAnswer} /> <Say hold={hold} word="deny" onAnswer={onAnswer} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Answered({ holds, onAnswer }: ListProps) {
  return (
    <Table {...LOOK} testid="answered" heads={[...WHAT, "answer", "holds until"]} region="List: answered">
      {holds.map((hold) => {
        const allowed = hold.state === "allowed";
        return (
          <tr key={hold.id} data-hold={hold.package} className={ROW}>
            <What hold={hold} />
            <td className="max-w-sm py-1.5">
              <Badge tone={allowed ? "good" : "bad"}>{hold.state}</Badge> <span className="text-soft">by {hold.answeredBy}</span>
              <span className="block text-xs break-words">{hold.reason}</span>
            </td>
            <td>
              <Until at={hold.until} />
            </td>
            <td className="text-right whitespace-nowrap">
              <Say hold={hold} word={allowed ? "deny" : "allow"} onAnswer={onAnswer} />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** What is asked, why, and by whom. */
function What({ hold }: { hold: Hold }) {
  return (
    <>
      <td className="max-w-72 truncate" title={hold.file}>
        <span className="font-mono font-medium">{hold.package}</span>{" "}
        <span className="font-mono">{hold.version ?? ""}</span> <span className="text-xs text-soft">{hold.ecosystem}</span>
      </td>
      <td className="max-w-xs py-1.5">
        <Badge tone={hold.ground === "advisory" ? "warn" : "soft"}>{hold.ground}</Badge>
        <span className="block text-xs text-soft">{askedBecause(hold)}</span>
      </td>
      <td className="max-w-48 truncate" title={`token ${hold.token}`}>
        <Link
          to="/"
          search={{ q: ofPrincipal(hold.principal) }}
          className="hover:underline"
          aria-label={`All that ${hold.principal} did`}
        >
          {hold.principal}
        </Link>{" "}
        <code className="text-2xs text-soft">{hold.token}</code>
      </td>
    </>
  );
}

function Say({ hold, word, onAnswer }: { hold: Hold; word: Word; onAnswer: (hold: Hold, word: Word) => void }) {
  const cannot = cannotAnswer(useSession(), hold);
  const verb = word === "allow" ? "Allow" : "Deny";
  return (
    <Button
      lacking={cannot}
      aria-label={`${verb} ${hold.package} ${hold.version ?? ""} for ${hold.principal}`}
      onClick={() => onAnswer(hold, word)}
    >
      {verb}
    </Button>
  );
}
