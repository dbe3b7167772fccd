import { useQuery } from "@tanstack/react-query";
import { asProblem } from "../api/problem";
import { getCheck, type WebRequest } from "../api/web-requests";
import { Badge } from "../parts/page";
import { addressToExplain } from "./road";

/** What becomes of the address now, by which rule: a rule may have changed since. */
export function Verdict({ request }: { request: WebRequest }) {
  const url = addressToExplain(request);
  const unfit = request.error?.name === "InvalidUrl";
  const query = useQuery({
    queryKey: ["web-check", url],
    queryFn: ({ signal }) => getCheck(url, signal),
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
  const { host, action, rule, category, reason, waivedBy, matching } = query.data;
  const allowed = action === "allow";
  return (
    <div data-testid="verdict" className="text-xs">
      <p className="break-words">
        <Badge tone={allowed ? "good" : "bad"}>{allowed ? "allowed" : "blocked"}</Badge>{" "}
        <code className="break-all">{host}</code>
        {rule === null ? (
          <span className="text-soft">, which no rule names: what holds for all others holds for it</span>
        ) : (
          <>
            {" "}
            by the rule <code className="break-all">{rule}</code>
            <span className="text-soft">
              {category !== null && ` (${category})`}: {reason}
            </span>
          </>
        )}
        {waivedBy !== null && (
          <>
            {" "}
            in spite of it, by the waiver <code className="break-all">{waivedBy}</code>
          </>
        )}
      </p>
      {matching.length > 1 && (
        <details className="mt-1.5">
          <summary className="cursor-pointer text-soft">{matching.length} rules match; the first decides</summary>
          <ul className="mt-1 grid gap-0.5">
            {matching.map((other) => (
              <li key={other.pattern} className="break-words">
                <span className={other.action === "allow" ? "text-good" : "text-bad"}>{other.action}</span>{" "}
                <code className="break-all">{other.pattern}</code>{" "}
                <span className="text-soft">
                  ({other.category}): {other.reason}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
