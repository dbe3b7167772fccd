// Tokens: who may pass, until when, and how to stop one.

import { getRouteApi, Link } from "@tanstack/react-router";
import { may } from "../api/session";
import { getTokens, revokeToken, type Token } from "../api/tokens";
import { Ago } from "../parts/ago";
import { useLook, usePages } from "../parts/asking";
import { Button, NewButton } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { useDialogs } from "../parts/dialogs";
import { Select } from "../parts/field";
import { ListPage } from "../parts/list";
import { Until } from "../parts/moment";
import { Badge, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { uses } from "../profiles/words";
import { ofPrincipal } from "../query/grammar";
import { useSession } from "../session/context";
import { IssueDialog } from "./issue-dialog";

const route = getRouteApi("/tokens");
const HEADS = ["name", "state", "may", "profile and what is used", "issued", "ends"];
const SHOWN = [
  { value: "", label: "that open something" },
  { value: "all", label: "all, also ended ones" },
];

export function TokensPage() {
  const { show } = route.useSearch();
  const navigate = route.useNavigate();
  const mine = may(useSession(), "tokens:write");
  const dialogs = useDialogs(useLook("tokens"), {
    issue: ({ onClose }) => <IssueDialog onClose={onClose} />,
    revoke: (ends, { id, name }: Token) => (
      <Confirm
        title={`Revoke ${name}?`}
        verb="Revoke"
        act={() => revokeToken(id)}
        said={`${name} opens nothing any more`}
        {...ends}
      >
        Whoever uses it is refused within a second, on every instance, and sessions opened with it end. It cannot be given
        back; a new one can be issued.
      </Confirm>
    ),
  });
  const query = usePages({ key: ["tokens"], scope: "tokens:write", read: getTokens });
  return (
    <ListPage
      title="Tokens"
      about="Who may pass, and what each may do"
      scope="tokens:write"
      query={query}
      rows={({ pages }) => {
        const all = pages.flatMap(({ tokens }) => tokens);
        return show === "all" ? all : all.filter((token) => stateOf(token) === "live");
      }}
      tools={
        mine && (
          <>
            <Select
              label="Which tokens"
              value={show ?? ""}
              choices={SHOWN}
              onChoose={(show) => void navigate({ search: { show }, replace: true })}
            />
            <NewButton onClick={() => dialogs.open("issue")}>New token</NewButton>
          </>
        )
      }
      nothing={
        <Nothing title="No token opens anything">
          Whoever installs packages or asks the API shows a token. The first admin token is printed by <code>weir up</code>.
        </Nothing>
      }
      dialogs={dialogs.shown}
    >
      {(tokens) => (
        <Table testid="tokens" className="min-w-[68rem]" heads={HEADS} actions>
          {tokens.map((token) => (
            <Row key={token.id} token={token} onRevoke={() => dialogs.open("revoke", token)} />
          ))}
        </Table>
      )}
    </ListPage>
  );
}

function stateOf({ revokedAt, expiresAt }: Token): "live" | "revoked" | "expired" {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? "expired" : "live";
}

function Row({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  const state = stateOf(token);
  return (
    <tr data-token={token.name} className={ROW}>
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
        {token.expiresAt === null ? <span className="text-soft">when revoked</span> : <Until at={token.expiresAt} />}
      </td>
      <td className="text-right">
        {state === "live" && (
          <Button onClick={onRevoke} aria-label={`Revoke ${token.name}`}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
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
