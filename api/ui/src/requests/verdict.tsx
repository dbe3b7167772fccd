import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { asProblem } from "../api/problem";
import type { WebRequest } from "../api/web-requests";
import { getCheck, METHODS, type Question } from "../api/web-rules";
import { Badge } from "../parts/page";
import { TONE } from "../web-rules/words";
import { addressToExplain } from "./road";

/** What would become of the same request now, gate by gate, and by which rule: much may have changed since. */
export function Verdict({ request }: { request: WebRequest }) {
  const method = METHODS.find((known) => known === request.method) ?? "GET";
  const question: Question = { url: addressToExplain(request), agent: request.agent, method };
  const unfit = request.error?.name === "InvalidUrl";
  const query = useQuery({
    queryKey: ["web-requests-verdict", question],
    queryFn: ({ signal }) => getCheck(question, signal),
    enabled: !unfit,
  });
  if (unfit) return <p className="text-soft">No rule is asked about what is no address that a request may have.</p>;
  if (query.error) return <p className="text-xs text-bad">{asProblem(query.error).message}</p>;
  if (!query.data) {
    return (
      <p role="status" className="text-soft">
        Asking the rules…
      </p>
    );
  }
  const { host, passes, rule, reason, waivedBy, gates, matching } = query.data;
  const said = matching.find(({ pattern }) => pattern === rule);
  return (
    <div data-testid="verdict" className="text-xs">
      <p className="break-words">
        <Badge tone={passes ? "good" : "bad"}>{passes ? "would pass" : "would not pass"}</Badge>{" "}
        {question.url !== request.url && "What it was sent on to: "}
        {rule === null ? (
          <>
            no rule names <code className="break-all">{host}</code>
          </>
        ) : (
          <>
            <code className="break-all">{host}</code> falls under the rule <code className="break-all">{rule}</code>
            <span className="text-soft">
              {said && ` (${said.category})`}: {said?.reason ?? reason}
            </span>
          </>
        )}
        {waivedBy !== null && (
          <>
            ; in spite of it, by the waiver <code className="break-all">{waivedBy}</code>
          </>
        )}
      </p>
      <ul aria-label="Gates" className="mt-2 grid gap-1">
        {gates.map(({ gate, outcome, detail }) => (
          <li key={gate} data-gate={gate} className="grid grid-cols-[4.5rem_4rem_minmax(0,1fr)] items-baseline gap-x-2">
            <Badge tone={TONE[outcome]}>{outcome}</Badge>
            <span className="font-medium">{gate}</span>
            <span className="break-words text-soft">{detail}</span>
          </li>
        ))}
      </ul>
      <p className="mt-2">
        <Link to="/web-rules" search={{ tab: "test", ...question }} className="text-accent underline">
          Ask again, of this or another address
        </Link>
      </p>
    </div>
  );
}
