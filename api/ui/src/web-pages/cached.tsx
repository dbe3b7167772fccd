import { getRouteApi, Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { getAccess } from "../api/nexus";
import { getWebPages, type WebPage, type WebPageFilter } from "../api/web-pages";
import { Agent } from "../parts/agent";
import { useAnswer, useLook, usePages } from "../parts/asking";
import { Button } from "../parts/button";
import { Box, Select } from "../parts/field";
import { Filters, narrows } from "../parts/filters";
import { bytes, grouped, plural } from "../parts/format";
import { ListPage } from "../parts/list";
import { Badge, NoMatch, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useLacking } from "../session/context";
import { PurgeDialog, type Purge } from "./purge-dialog";
import { cyclesLeft } from "./snippet";

const route = getRouteApi("/pages");
const EVERY = 5_000;
const WHOSE = [
  { value: "", label: "everybody's and agents' own" },
  { value: "true", label: "everybody's" },
  { value: "false", label: "agents' own" },
];
const HEADS = ["page", "answer", "size", "code taken out", "whose", "variant", "hits", "cycles left"];
const NUMBERS = ["size", "code taken out", "hits", "cycles left"];
const BOX = "numbers w-30 text-xs";

export function CachedTab({ tabs }: { tabs: ReactNode }) {
  const { host = "", url = "", owner = "", shared = "" } = route.useSearch();
  const filter = { host, url, owner, shared };
  const navigate = route.useNavigate();
  const lacking = useLacking("web:write");
  const look = useLook("web-pages");
  const [purging, setPurging] = useState<Purge>();
  const query = usePages({
    key: ["web-pages", filter],
    scope: "web:read",
    read: (cursor, signal) => getWebPages(filter, cursor, signal),
    every: EVERY,
  });
  const world = useAnswer({ key: ["web-access"], scope: "web:read", read: getAccess, every: EVERY });
  const all = query.data?.pages[0]?.all;
  const show = (wanted: WebPageFilter) => void navigate({ search: { ...filter, ...wanted } });
  return (
    <ListPage
      title="Pages"
      about={all && `${plural(all.count, "rendering")} of pages, ${bytes(all.bytes)}`}
      scope="web:read"
      query={query}
      rows={({ pages }) => pages.flatMap(({ pages }) => pages)}
      one="rendering"
      tabs={tabs}
      tools={
        <>
          <Filters filter={filter} onShow={show} onClear={() => void navigate({ search: {} })}>
            <Select label="Whose" value={shared} choices={WHOSE} onChoose={(shared) => show({ shared })} />
            <Box name="host" label="Filter by host" placeholder="host" defaultValue={host} className={BOX} />
            <Box
              name="url"
              label="Filter by whole address"
              placeholder="whole address"
              defaultValue={url}
              className="numbers w-44 text-xs"
            />
            <Box name="owner" label="Filter by agent" placeholder="agent" defaultValue={owner} className={BOX} />
          </Filters>
          <Button
            className="h-8"
            lacking={lacking}
            onClick={() => setPurging(url === "" ? { what: "host", value: host } : { what: "url", value: url })}
          >
            <Trash2 aria-hidden size={13} /> Purge
          </Button>
        </>
      }
      nothing={
        narrows(filter) ? (
          <NoMatch>
            Hosts, addresses and agents are compared whole; an address has its scheme, and nothing behind a #.
          </NoMatch>
        ) : (
          <Nothing title="Nothing is cached yet">
            The first page that an agent fetches through this Weir stands here, without its code. Try an address under{" "}
            <Link to="/web-rules" search={{ tab: "test" }} className="text-accent underline">
              Would it pass?
            </Link>
          </Nothing>
        )
      }
      dialogs={purging && <PurgeDialog purge={purging} onDone={look} onClose={() => setPurging(undefined)} />}
    >
      {(pages) => (
        <Table testid="web-pages" className="min-w-[70rem]" heads={HEADS} right={NUMBERS} actions>
          {pages.map((page) => (
            <Row
              key={`${page.url} ${page.variant} ${page.owner} ${page.position}`}
              page={page}
              cycle={world.data?.cycle}
              lacking={lacking}
              onPurge={() => setPurging({ what: "url", value: page.url })}
            />
          ))}
        </Table>
      )}
    </ListPage>
  );
}

interface RowProps {
  page: WebPage;
  cycle: number | undefined;
  lacking: string | undefined;
  onPurge: () => void;
}

function Row({ page, cycle, lacking, onPurge }: RowProps) {
  const left = cycle === undefined ? undefined : cyclesLeft(page.expiresIn, cycle);
  return (
    <tr data-page={page.url} className={ROW}>
      <td className="max-w-96 py-1.5">
        {page.title !== null && <span className="block truncate font-medium">{page.title}</span>}
        <span className="block truncate font-mono text-xs text-soft" title={page.url}>
          {page.url}
        </span>
      </td>
      <td className="whitespace-nowrap">
        <span className={`numbers ${page.status >= 400 ? "text-warn" : ""}`}>
          {page.method} {page.status}
        </span>
        <span className="block max-w-36 truncate text-xs text-soft">{page.contentType.split(";")[0]}</span>
      </td>
      <td className="numbers text-right whitespace-nowrap">{bytes(page.size)}</td>
      <td className="numbers text-right">{grouped(page.codeBlocksRemoved)}</td>
      <td>{page.owner === null ? <Badge>everybody&apos;s</Badge> : <Agent id={page.owner} />}</td>
      <td className="numbers text-xs text-soft" title={`Rendering ${page.variant}`}>
        {page.variant.slice(0, 8)}
      </td>
      <td className="numbers text-right">{grouped(page.hits)}</td>
      <td
        className={`numbers text-right ${left === 0 ? "text-warn" : ""}`}
        title={`Stored in cycle ${page.storedIn}, not shown from cycle ${page.expiresIn} on`}
      >
        {left === undefined ? "–" : grouped(left)}
      </td>
      <td className="text-right whitespace-nowrap">
        <Link
          to="/"
          search={{ at: page.position }}
          aria-label={`Event of ${page.url}`}
          className="mr-3 text-xs text-accent underline"
        >
          event
        </Link>
        <Button lacking={lacking} aria-label={`Purge ${page.url}`} onClick={onPurge}>
          Purge
        </Button>
      </td>
    </tr>
  );
}
