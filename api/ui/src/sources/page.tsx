// Where advisories come from: how each source stands, what went wrong, when it is visited next.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { useState } from "react";
import { may } from "../api/session";
import { getSources, type Part, type Source, type SourceState } from "../api/sources";
import { Ago } from "../parts/ago";
import { Button } from "../parts/button";
import { useCountdown } from "../parts/countdown";
import { duration, grouped, plural } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { SyncDialog } from "./sync-dialog";
import { Visits } from "./visits";

const route = getRouteApi("/sources");
const EVERY = 5_000;
const WHILE_SYNCING = 1_000;
const TONE: Record<SourceState, "good" | "warn" | "bad" | "soft"> = {
  disabled: "soft",
  ok: "good",
  syncing: "warn",
  never: "warn",
  failing: "bad",
};

export function SourcesPage() {
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const session = useSession();
  const [syncing, setSyncing] = useState<Source>();
  const query = useQuery({
    queryKey: ["sources"],
    queryFn: ({ signal }) => getSources(signal),
    enabled: may(session, "rules:read"),
    refetchInterval: ({ state }) => {
      if (state.error) return false;
      return state.data?.some(({ state }) => state === "syncing") ? WHILE_SYNCING : EVERY;
    },
  });
  return (
    <Page title="Sources" about="Where advisories come from" scope="rules:read" query={query}>
      {(sources) =>
        sources.length === 0 ? (
          <Nothing title="No source is known here">
            This process visits no source of advisories; those that do are configured under <code>sources</code> in
            weir.yaml.
          </Nothing>
        ) : (
          <>
            {sources.map((source) => (
              <Section
                key={source.name}
                source={source}
                maySync={may(session, "admin")}
                open={open === source.name}
                onOpen={(shown) => void navigate({ search: { open: shown ? source.name : undefined }, replace: true })}
                onSync={() => setSyncing(source)}
              />
            ))}
            {syncing && (
              <SyncDialog
                source={syncing}
                onAsked={() => void client.invalidateQueries({ queryKey: ["sources"] })}
                onClose={() => setSyncing(undefined)}
              />
            )}
          </>
        )
      }
    </Page>
  );
}

interface SectionProps {
  source: Source;
  maySync: boolean;
  open: boolean;
  onOpen: (shown: boolean) => void;
  onSync: () => void;
}

function Section({ source, maySync, open, onOpen, onSync }: SectionProps) {
  const { name, state, parts } = source;
  const lacking = !maySync
    ? "Only a token with the scope admin may have a source visited; it is visited by itself when it is due"
    : state === "disabled"
      ? `Enable sources.${name} in weir.yaml and restart Weir first`
      : undefined;
  return (
    <section data-source={name} aria-labelledby={`source-${name}`} className="border-t border-line pb-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
        <h2 id={`source-${name}`} className="font-mono font-semibold">
          {name}
        </h2>
        <Badge tone={TONE[state]}>{state}</Badge>
        <p className="text-xs text-soft">
          <Holds source={source} />; visited every {duration(source.intervalSeconds)}
          {source.askedAt !== null && (
            <>
              , asked for <Ago at={source.askedAt} />
            </>
          )}
        </p>
        <span className="ml-auto flex gap-2">
          <Button aria-expanded={open} aria-label={open ? `Hide history of ${name}` : `History of ${name}`} onClick={() => onOpen(!open)}>
            {open ? "Hide history" : "History"}
          </Button>
          <Button disabled={lacking !== undefined} title={lacking} aria-label={`Sync now: ${name}`} onClick={onSync}>
            <RefreshCw aria-hidden size={13} /> Sync now
          </Button>
        </span>
      </div>
      {parts.length === 0 ? (
        <p className="px-4 text-soft">
          {state === "disabled" ? "It is not visited." : "It was not visited yet; the first visit is soon after the start."}
        </p>
      ) : (
        <Parts name={name} parts={parts} />
      )}
      {open && <Visits name={name} />}
    </section>
  );
}

/** How much of it stands, and about what. */
function Holds({ source: { name, advisories, byEcosystem } }: { source: Source }) {
  const what = name === "blocklist" ? plural(advisories, "rule") : plural(advisories, "advisory", "advisories");
  const each = byEcosystem.map(({ ecosystem, advisories }) => `${ecosystem} ${grouped(advisories)}`);
  return (
    <>
      <span data-testid="holds" className="numbers">
        {what}
      </span>
      {each.length > 0 && ` (${each.join(", ")})`}
    </>
  );
}

function Parts({ name, parts }: { name: string; parts: readonly Part[] }) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={`Parts of ${name}`}>
      <table data-testid={`parts-${name}`} className="w-full min-w-[52rem] border-collapse text-left">
        <thead className={HEAD}>
          <tr>
            {["about", "state", "last success", "last failure", "next due", "records", "revision"].map((column) => (
              <th key={column} scope="col" className={column === "records" ? "text-right" : ""}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.ecosystem ?? ""} data-part={part.ecosystem ?? "all"} className={ROW}>
              <td>{part.ecosystem ?? "all it has"}</td>
              <td>
                <Badge tone={TONE[part.state]}>{part.state}</Badge>
              </td>
              <td className="whitespace-nowrap text-soft">{part.succeededAt ? <Ago at={part.succeededAt} /> : "never"}</td>
              <td className="max-w-md py-1.5">
                {part.failedAt === null ? (
                  <span className="text-soft">never</span>
                ) : (
                  <span className="text-soft">
                    <Ago at={part.failedAt} />
                  </span>
                )}
                {part.cause !== null && <p className="text-xs break-words text-bad">{part.cause}</p>}
              </td>
              <td className="numbers whitespace-nowrap">
                <Due part={part} />
              </td>
              <td className="numbers text-right">
                {grouped(part.records)}
                {part.unreadable > 0 && <span className="text-warn"> ({grouped(part.unreadable)} unreadable)</span>}
              </td>
              <td className="max-w-40 truncate font-mono text-xs text-soft" title={part.revision ?? undefined}>
                {part.revision ?? "–"}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** When it is visited next; spread over a tenth of the interval, so “due” may last a while. */
function Due({ part: { state, nextDueAt } }: { part: Part }) {
  const left = useCountdown(nextDueAt === null ? undefined : Date.parse(nextDueAt));
  if (nextDueAt === null) return <span className="text-soft">{state === "syncing" ? "under way" : "–"}</span>;
  return <time dateTime={nextDueAt}>{left === 0 ? "now" : `in ${duration(left)}`}</time>;
}
