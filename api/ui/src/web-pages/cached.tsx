import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Search, Trash2, X } from "lucide-react";
import { useRef, useState, type FormEvent, type ReactNode } from "react";
import { getAccess } from "../api/nexus";
import { may } from "../api/session";
import { getWebPages, type WebPage, type WebPageFilter } from "../api/web-pages";
import { Agent } from "../parts/agent";
import { Button } from "../parts/button";
import { Select } from "../parts/field";
import { bytes, grouped, plural } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { useKeys } from "../shell/keys";
import { PurgeDialog, type Purge } from "./purge-dialog";
import { cyclesLeft } from "./snippet";

const route = getRouteApi("/pages");
const EVERY = 5_000;
const WHOSE = [
  { value: "", label: "everybody's and agents' own" },
  { value: "true", label: "everybody's" },
  { value: "false", label: "agents' own" },
];
const WORDS = ["host", "url", "owner"] as const;
const HINTS: Record<(typeof WORDS)[number], string> = { host: "host", url: "whole address", owner: "agent" };

export function CachedTab({ tabs }: { tabs: ReactNode }) {
  const { host = "", url = "", owner = "", shared = "" } = route.useSearch();
  const filter: WebPageFilter = { host, url, owner, shared };
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const session = useSession();
  const allowed = may(session, "web:read");
  const lacking = may(session, "web:write") ? undefined : "Your token lacks the scope web:write";
  const [purging, setPurging] = useState<Purge>();
  const query = useInfiniteQuery({
    queryKey: ["web-pages", filter],
    queryFn: ({ pageParam, signal }) => getWebPages(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    enabled: allowed,
    // Who has paged back is reading: nothing moves under the eyes.
    refetchInterval: ({ state }) => (state.error || (state.data?.pages.length ?? 0) > 1 ? false : EVERY),
  });
  const world = useQuery({
    queryKey: ["web-access"],
    queryFn: ({ signal }) => getAccess(signal),
    enabled: allowed,
    refetchInterval: EVERY,
  });
  const first = query.data?.pages[0];
  const filtered = Object.values(filter).some((word) => word !== "");
  return (
    <Page
      title="Pages"
      about={first && `${plural(first.count, "rendering")} of pages, ${bytes(first.bytes)}`}
      scope="web:read"
      query={query}
      tabs={tabs}
      tools={
        <>
          <Filters
            key={JSON.stringify(filter)}
            filter={filter}
            onShow={(wanted) => void navigate({ search: { ...filter, ...wanted } })}
            onClear={filtered ? () => void navigate({ search: {} }) : undefined}
          />
          <Button
            className="h-8"
            disabled={lacking !== undefined}
            title={lacking}
            onClick={() => setPurging(url === "" ? { what: "host", value: host } : { what: "url", value: url })}
          >
            <Trash2 aria-hidden size={13} /> Purge
          </Button>
        </>
      }
    >
      {({ pages: lists }) => {
        const pages = lists.flatMap(({ pages }) => pages);
        return (
          <>
            {pages.length > 0 ? (
              <Cached pages={pages} cycle={world.data?.cycle} lacking={lacking} onPurge={setPurging} />
            ) : filtered ? (
              <Nothing title="Nothing matches" testid="no-match">
                Hosts, addresses and agents are compared whole; an address has its scheme, and nothing behind a #.
              </Nothing>
            ) : (
              <Nothing title="Nothing is cached yet">
                The first page that an agent fetches through this Weir stands here, without its code. Try an address under{" "}
                <Link to="/web-rules" search={{ tab: "test" }} className="text-accent underline">
                  Would it pass?
                </Link>
              </Nothing>
            )}
            {query.hasNextPage && (
              <p className="flex items-center gap-3 p-4 text-xs text-soft">
                {plural(pages.length, "rendering")} shown
                <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
                  {query.isFetchingNextPage ? "Loading…" : "Show older"}
                </Button>
              </p>
            )}
            {purging && (
              <PurgeDialog
                purge={purging}
                onDone={() => void client.invalidateQueries({ queryKey: ["web-pages"] })}
                onClose={() => setPurging(undefined)}
              />
            )}
          </>
        );
      }}
    </Page>
  );
}

interface FiltersProps {
  filter: WebPageFilter;
  onShow: (wanted: WebPageFilter) => void;
  onClear: (() => void) | undefined;
}

function Filters({ filter, onShow, onClear }: FiltersProps) {
  const first = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => first.current?.focus() });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onShow(Object.fromEntries(WORDS.map((name) => [name, String(form.get(name) ?? "").trim()])));
  };
  return (
    <form role="search" onSubmit={submit} className="flex flex-wrap items-center gap-2">
      <Select label="Whose" value={filter.shared ?? ""} choices={WHOSE} onChoose={(shared) => onShow({ shared })} />
      {WORDS.map((name, index) => (
        <input
          key={name}
          ref={index === 0 ? first : undefined}
          name={name}
          aria-label={`Filter by ${HINTS[name]}`}
          placeholder={HINTS[name]}
          defaultValue={filter[name]}
          spellCheck={false}
          autoComplete="off"
          className={`numbers h-8 rounded border border-line-strong bg-paper px-2 text-xs placeholder:text-soft ${name === "url" ? "w-44" : "w-30"}`}
        />
      ))}
      <Button type="submit" className="h-8">
        <Search aria-hidden size={13} /> Search
      </Button>
      {onClear && (
        <Button look="quiet" className="h-8" onClick={onClear}>
          <X aria-hidden size={13} /> Clear
        </Button>
      )}
    </form>
  );
}

interface CachedProps {
  pages: readonly WebPage[];
  cycle: number | undefined;
  lacking: string | undefined;
  onPurge: (purge: Purge) => void;
}

function Cached({ pages, ...rest }: CachedProps) {
  return (
    <table data-testid="web-pages" className="w-full min-w-[70rem] border-collapse text-left">
      <thead className={HEAD}>
        <tr>
          {["page", "answer", "size", "code taken out", "whose", "variant", "hits", "cycles left"].map((name) => (
            <th key={name} scope="col" className={NUMBERS.includes(name) ? "text-right" : ""}>
              {name}
            </th>
          ))}
          <th scope="col">
            <span className="sr-only">actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {pages.map((page) => (
          <Row key={`${page.url} ${page.variant} ${page.owner} ${page.position}`} page={page} {...rest} />
        ))}
      </tbody>
    </table>
  );
}

const NUMBERS = ["size", "code taken out", "hits", "cycles left"];

function Row({ page, cycle, lacking, onPurge }: Omit<CachedProps, "pages"> & { page: WebPage }) {
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
        <Button
          disabled={lacking !== undefined}
          title={lacking}
          aria-label={`Purge ${page.url}`}
          onClick={() => onPurge({ what: "url", value: page.url })}
        >
          Purge
        </Button>
      </td>
    </tr>
  );
}
