// The first run: what to tell each client, and whether it has come through yet.

import { getRouteApi, Link } from "@tanstack/react-router";
import { Check, Copy } from "lucide-react";
import { getDashboard, type Dashboard } from "../api/dashboard";
import { useAnswer } from "../parts/asking";
import { IconButton } from "../parts/button";
import { copy } from "../parts/copy";
import { Select } from "../parts/field";
import { plural } from "../parts/format";
import { Page } from "../parts/page";
import { absolute } from "../root";
import { CLIENTS, type Client } from "./clients";

const route = getRouteApi("/connect");
const EVERY = 2_000;
const TOKENS = [
  { value: "", label: "without a token" },
  { value: "yes", label: "with a token" },
];
// What people put their own token in place of.
const PLACE = "YOUR_TOKEN";

export function ConnectPage() {
  const { token } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useAnswer({
    key: ["dashboard", "24h", ""],
    scope: "rules:read",
    read: (signal) => getDashboard("24h", "", signal),
    every: EVERY,
  });
  return (
    <Page
      title="Connect a client"
      about="A row turns green when this instance has answered a client of its ecosystem"
      scope="rules:read"
      query={query}
      tools={
        <Select
          label="Token"
          value={token ?? ""}
          choices={TOKENS}
          onChoose={(token) => void navigate({ search: { token }, replace: true })}
        />
      }
    >
      {(data) => (
        <>
          <p className="max-w-3xl px-4 pb-2 text-soft">
            {token ? (
              <>
                Put a token in place of <code>{PLACE}</code>:{" "}
                <Link to="/tokens" className="text-accent underline">
                  issue one
                </Link>{" "}
                with the scope <code>registry:</code> of the ecosystem.
              </>
            ) : (
              <>
                Clients on this machine may need none (<code>auth.loopback_packages: open</code>); all others show a
                token.
              </>
            )}{" "}
            <code>weir init --clients</code> writes such lines for the clients that are installed, and takes them back.
          </p>
          <ul data-testid="ecosystems" className="border-t border-line">
            {CLIENTS.map(({ ecosystem, title, clients }) => (
              <li
                key={ecosystem}
                data-ecosystem={ecosystem}
                className="grid gap-x-6 gap-y-2 border-b border-line px-4 py-3 lg:grid-cols-[18rem_1fr]"
              >
                <div>
                  <h2 className="font-semibold">{title}</h2>
                  <Seen ecosystem={ecosystem} data={data} />
                </div>
                {data.served.some((served) => served.ecosystem === ecosystem) ? (
                  <div className="grid min-w-0 gap-3">
                    {clients.map((client) => (
                      <Lines key={client.name} client={client} token={token ? PLACE : undefined} />
                    ))}
                  </div>
                ) : (
                  <p className="text-soft">
                    Not served by this instance: name its upstream as <code>registries.{ecosystem}.upstream</code> in
                    weir.yaml and start again.
                  </p>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </Page>
  );
}

/** Whether a client of an ecosystem has come through: answers of this instance, or decisions in the log. */
function Seen({ ecosystem, data }: { ecosystem: string; data: Dashboard }) {
  const here = data.served.find((served) => served.ecosystem === ecosystem);
  const log = data.byEcosystem.find((counts) => counts.ecosystem === ecosystem);
  const decided = log ? log.allowed + log.blocked + log.filtered : 0;
  const requests = here?.requests ?? 0;
  const seen = requests > 0 || decided > 0;
  if (!here && !seen) return <p className="text-xs text-soft">not served</p>;
  return (
    <p role="status" data-seen={seen} className={`flex items-center gap-1.5 text-xs ${seen ? "text-good" : "text-soft"}`}>
      {seen ? <Check aria-hidden size={13} /> : <span aria-hidden className="pulse size-2 rounded-full bg-line-strong" />}
      {!seen
        ? "waiting for the first request…"
        : requests > 0
          ? `${plural(requests, "request")} answered`
          : `${plural(decided, "decision")} in the last 24 hours`}
    </p>
  );
}

function Lines({ client: { name, file, lines, needs }, token }: { client: Client; token: string | undefined }) {
  const to = { base: absolute(""), token };
  const [text, needed] = [lines(to), needs?.(to)];
  return (
    <div className="min-w-0">
      <h3 className="text-xs text-soft">
        <span className="font-medium text-ink">{name}</span> {file ? <>in {file}</> : "in a shell"}
      </h3>
      <div className="mt-1 flex items-start gap-2 rounded border border-line-strong/60 bg-paper py-1 pr-1 pl-3">
        <pre
          className="min-w-0 flex-1 overflow-x-auto py-1 text-xs"
          tabIndex={0}
          role="region"
          aria-label={`Lines for ${name}`}
        >
          {text}
        </pre>
        <IconButton label={`Copy the lines for ${name}`} onClick={() => void copy(text, `the lines for ${name}`)}>
          <Copy size={14} />
        </IconButton>
      </div>
      {needed && <p className="mt-1 max-w-3xl text-xs text-soft">{needed}</p>}
    </div>
  );
}
