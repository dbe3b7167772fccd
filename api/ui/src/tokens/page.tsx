// Tokens: who may pass, until when, and how to stop one.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { may } from "../api/session";
import { getTokens, revokeToken, type Token } from "../api/tokens";
import { Ago } from "../parts/ago";
import { Button } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { Select } from "../parts/field";
import { clock, day } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { uses } from "../profiles/words";
import { ofPrincipal } from "../query/grammar";
import { useSession } from "../session/context";
import { IssueDialog } from "./issue-dialog";

const route = getRouteApi("/tokens");
const SHOWN = [
  { value: "", label: "that open something" },
  { value: "all", label: "all, also ended ones" },
];

export function TokensPage() {
  const { show } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const mine = may(useSession(), "tokens:write");
  const [issuing, setIssuing] = useState(false);
  const [revoking, setRevoking] = useState<Token>();
  const query = useInfiniteQuery({
    queryKey: ["tokens"],
    queryFn: ({ pageParam, signal }) => getTokens(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    enabled: mine,
  });
  return (
    <Page
      title="Tokens"
      about="Who may pass, and what each may do"
      scope="tokens:write"
      query={query}
      tools={
        mine && (
          <>
            <Select
              label="Which tokens"
              value={show ?? ""}
              choices={SHOWN}
              onChoose={(show) => void navigate({ search: { show }, replace: true })}
            />
            <Button look="primary" className="h-8" onClick={() => setIssuing(true)}>
              <Plus aria-hidden size={14} /> New token
            </Button>
          </>
        )
      }
    >
      {({ pages }) => {
        const all = pages.flatMap(({ tokens }) => tokens);
        const tokens = show === "all" ? all : all.filter((token) => stateOf(token) === "live");
        return (
          <>
            {tokens.length === 0 ? (
              <Nothing title="No token opens anything">
                Whoever installs packages or asks the API shows a token. The first admin token is printed by{" "}
                <code>weir up</code>.
              </Nothing>
            ) : (
              <Tokens tokens={tokens} onRevoke={setRevoking} />
            )}
            {query.hasNextPage && (
              <p className="p-4">
                <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
                  {query.isFetchingNextPage ? "Loading…" : "Show older"}
                </Button>
              </p>
            )}
            {issuing && <IssueDialog onClose={() => setIssuing(false)} />}
            {revoking && (
              <Confirm
                title={`Revoke ${revoking.name}?`}
                verb="Revoke"
                act={() => revokeToken(revoking.id)}
                onDone={() => {
                  toast(`${revoking.name} opens nothing any more`);
                  void client.invalidateQueries({ queryKey: ["tokens"] });
                }}
                onClose={() => setRevoking(undefined)}
              >
                Whoever uses it is refused within a second, on every instance, and sessions opened with it end. It
                cannot be given back; a new one can be issued.
              </Confirm>
            )}
          </>
        );
      }}
    </Page>
  );
}

function stateOf({ revokedAt, expiresAt }: Token): "live" | "revoked" | "expired" {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? "expired" : "live";
}

function Tokens({ tokens, onRevoke }: { tokens: readonly Token[]; onRevoke: (token: Token) => void }) {
  return (
    <table data-testid="tokens" className="w-full min-w-[68rem] border-collapse text-left">
      <thead className={HEAD}>
        <tr>
          {["name", "state", "may", "profile and what is used", "issued", "ends"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
          <th scope="col">
            <span className="sr-only">actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {tokens.map((token) => {
          const state = stateOf(token);
          return (
            <tr key={token.id} data-token={token.name} className={ROW}>
              <td>
                <Link
                  to="/"
                  search={{ q: ofPrincipal(token.name) }}
                  className="font-medium hover:underline"
                  aria-label={`All that ${token.name} did`}
                >
                  {token.name}
                </Link>
                <code className="ml-2 text-2xs text-soft">{token.id}</code>
              </td>
              <td>
                <Badge tone={state === "live" ? "good" : state === "revoked" ? "bad" : "soft"}>{state}</Badge>
              </td>
              <td className="max-w-md py-1.5">
                <span className="flex flex-wrap gap-1">
                  {token.scopes.map((scope) => (
                    <Badge key={scope} tone={scope === "admin" ? "warn" : "soft"}>
                      {scope}
                    </Badge>
                  ))}
                </span>
              </td>
              <td className="py-1.5">
                <ProfileOf token={token} />
              </td>
              <td className="whitespace-nowrap text-soft">
                <Ago at={token.issuedAt} /> by {token.issuedBy}
              </td>
              <td className="whitespace-nowrap">
                {token.expiresAt === null ? (
                  <span className="text-soft">when revoked</span>
                ) : (
                  <time dateTime={token.expiresAt} className="numbers text-xs">
                    {day(token.expiresAt)} {clock(token.expiresAt).slice(0, 5)}
                  </time>
                )}
              </td>
              <td className="text-right">
                {state === "live" && (
                  <Button onClick={() => onRevoke(token)} aria-label={`Revoke ${token.name}`}>
                    Revoke
                  </Button>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The profile that a token is judged by, and how much of its quota is used. */
function ProfileOf({ token: { name, profile, used } }: { token: Token }) {
  if (profile === null) return <span className="text-soft">none</span>;
  return (
    <>
      <Link to="/profiles" className="font-mono text-xs text-accent underline">
        {profile}
      </Link>
      {used !== null && (
        <ul aria-label={`What ${name} has used`}>
          {uses(used).map((use) => (
            <li key={use.name} className="numbers mt-0.5 flex items-center gap-2 text-xs whitespace-nowrap">
              <meter
                aria-label={use.name}
                value={use.share}
                className="h-1.5 w-14 shrink-0"
                low={0.8}
                high={0.999}
                optimum={0}
              />
              <span className={use.share === 1 ? "text-bad" : "text-soft"}>
                {use.used} of {use.limit} {use.name}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
