// Where advisories come from: how each source stands, what went wrong, when it is visited next.

import { getRouteApi } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { useState } from "react";
import { may } from "../api/session";
import { getSources, type Part, type Source, type SourceState } from "../api/sources";
import { Ago } from "../parts/ago";
import { useAnswer, useLook } from "../parts/asking";
import { Button } from "../parts/button";
import { useCountdown } from "../parts/countdown";
import { duration, grouped, plural } from "../parts/format";
import { ListPage } from "../parts/list";
import { Badge, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
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
  const session = useSession();
  const [syncing, setSyncing] = useState<Source>();
  const look = useLook("sources");
  const query = useAnswer({
    key: ["sources"],
    scope: "rules:read",
    read: getSources,
    every: (sources) => (sources?.some(({ state }) => state === "syncing") ? WHILE_SYNCING : EVERY),
  });
  return (
    <ListPage
      title="Sources"
      about="Where advisories come from"
      scope="rules:read"
      query={query}
      rows={(sources) => sources}
      nothing={
        <Nothing title="No source is known here">
          This process visits no source of advisories; those that do are configured under <code>sources</code> in weir.yaml.
        </Nothing>
      }
      dialogs={syncing && <SyncDialog source={syncing} onAsked={look} onClose={() => setSyncing(undefined)} />}
    >
      {(sources) =>
        sources.map((source) => (
          <Section
            key={source.name}
            source={source}
            maySync={may(session, "admin")}
            open={open === source.name}
            onOpen={(shown) => void navigate({ search: { open: shown ? source.name : undefined }, replace: true })}
            onSync={() => setSyncing(source)}
          />
        ))
      }
    </ListPage>
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
          <Button lacking={lacking} aria-label={`Sync now: ${name}`} onClick={onSync}>
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
    <Table
      testid={`parts-${name}`}
      className="min-w-[52rem]"
      heads={["about", "state", "last success", "last failure", "next due", "records", "revision"]}
      right={["records"]}
      region={`Parts of ${name}`}
    >
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
    </Table>
  );
}

/** When it is visited next; spread over a tenth of the interval, so “due” may last a while. */
function Due({ part: { state, nextDueAt } }: { part: Part }) {
  const left = useCountdown(nextDueAt === null ? undefined : Date.parse(nextDueAt));
  if (nextDueAt === null) return <span className="text-soft">{state === "syncing" ? "under way" : "–"}</span>;
  return <time dateTime={nextDueAt}>{left === 0 ? "now" : `in ${duration(left)}`}</time>;
}
