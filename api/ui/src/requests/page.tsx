// Requests: what agents asked of the outside, newest first, as it comes in.

import { useInfiniteQuery, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { useAgentNames } from "../agents/names";
import { may } from "../api/session";
import { getRequests, REQUEST_FILTERS, type RequestFilter, type RequestPage, type WebRequest } from "../api/web-requests";
import { narrows } from "../parts/filters";
import { plural } from "../parts/format";
import { ListPage } from "../parts/list";
import { NoMatch, Nothing } from "../parts/page";
import { useSession } from "../session/context";
import { useKeys } from "../shell/keys";
import { hub } from "../stream/hub";
import { useFresh } from "../stream/news";
import { PauseControl } from "../tail/pause";
import { arrived, MOST, REQUEST_KINDS } from "./arrivals";
import { Drawer } from "./drawer";
import { RequestFilters } from "./filters";
import { keyOf, RequestTable } from "./table";

const route = getRouteApi("/requests");
// Beside the stream, for tokens that may not follow the log.
const EVERY = 5_000;

export function RequestsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const filter = Object.fromEntries(REQUEST_FILTERS.map((name) => [name, search[name] ?? ""])) as RequestFilter;
  const key = ["web-requests", filter];
  const agents = useAgentNames();
  const paused = search.paused !== undefined;
  // Who has paged back is reading: nothing moves under the eyes then either.
  const [paged, setPaged] = useState(false);
  const still = paused || paged;
  const standing = useRef(still);
  standing.current = still;

  const look = useCallback(
    () => (standing.current ? undefined : client.invalidateQueries({ queryKey: ["web-requests"] })),
    [client],
  );
  const known = useFresh(REQUEST_KINDS, look);
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => getRequests(filter, pageParam, pageParam === undefined ? known.current : undefined, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    enabled: may(useSession(), "web:read"),
    refetchInterval: ({ state }) => (state.error || still ? false : EVERY),
    refetchOnWindowFocus: !still,
    refetchOnReconnect: !still,
  });
  const pages = query.data?.pages;
  useEffect(() => setPaged((pages?.length ?? 0) > 1), [pages]);
  const requests = pages?.flatMap(({ requests }) => requests) ?? [];
  const waiting = useArrivals(still, requests);
  const firstSeen = useFirst(key, requests[0]);

  const show = (wanted: Partial<typeof search>) => void navigate({ search: { ...search, ...wanted } });
  /** From the newest on again. */
  const resume = () => {
    client.setQueryData<InfiniteData<RequestPage>>(key, (data) =>
      data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    );
    standing.current = false;
    setPaged(false);
    if (paused) show({ paused: undefined });
    void client.invalidateQueries({ queryKey: key });
  };
  const toggle = () => (still ? resume() : show({ paused: "yes" }));
  const open = ({ id, agent }: Pick<WebRequest, "id" | "agent">) => show({ open: id, of: agent });
  const [current, setCurrent] = useState<string>();
  const step = (by: number) => {
    const at = requests.findIndex((request) => keyOf(request) === current);
    const next = requests[at < 0 ? 0 : Math.min(requests.length - 1, Math.max(0, at + by))];
    if (!next) return;
    setCurrent(keyOf(next));
    document.getElementById(`request-${keyOf(next)}`)?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    p: toggle,
    j: () => step(1),
    k: () => step(-1),
    Enter: () => {
      const chosen = requests.find((request) => keyOf(request) === current);
      if (chosen) open(chosen);
    },
  });

  return (
    <ListPage
      title="Requests"
      about="What agents asked of the outside, newest first"
      scope="web:read"
      query={query}
      rows={() => requests}
      one="request"
      end="and there are no older ones"
      note={
        still && (
          <span>
            The list stands still{paused ? "" : " while older ones are shown"}
            {waiting > 0 && `; ${plural(waiting, "request")} came in since, of whichever kind`}.
          </span>
        )
      }
      tools={
        <>
          <RequestFilters
            filter={filter}
            agents={agents}
            onShow={show}
            onClear={() => show(Object.fromEntries(REQUEST_FILTERS.map((name) => [name, undefined])))}
          />
          <PauseControl paused={still} waiting={waiting} overflowed={waiting >= MOST} onToggle={toggle} />
        </>
      }
      nothing={<Empty filtered={narrows(filter)} />}
      dialogs={
        search.open && (
          <Drawer
            id={search.open}
            agent={search.of}
            known={requests.find(({ id, agent }) => id === search.open && agent === search.of)}
            agents={agents}
            onShow={(wanted) => show({ open: undefined, of: undefined, ...wanted })}
            onClose={() => show({ open: undefined, of: undefined })}
          />
        )
      }
    >
      {() => (
        <RequestTable
          requests={requests}
          agents={agents}
          current={current}
          firstSeen={firstSeen}
          onOpen={open}
          onAgent={(agent) => show({ agent })}
        />
      )}
    </ListPage>
  );
}

function Empty({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <NoMatch>
        The host is that of the address, whole; words are looked for in address and purpose, as they stand there; everything
        else must be equal to what stands in the log.
      </NoMatch>
    );
  return (
    <Nothing title="No agent has asked for anything yet">
      An agent asks with <code>weir fetch URL --key FILE</code>, or with <code>POST /api/web/requests</code>. Before that it
      is registered and given spark on the page <em>Agents &amp; quotas</em>, and the epoch must be 3 or later.
    </Nothing>
  );
}

/** How many requests came in since the list stands still. */
function useArrivals(still: boolean, requests: readonly WebRequest[]): number {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const listed = useRef<ReadonlySet<string>>(new Set());
  listed.current = new Set(requests.map(keyOf));
  useEffect(() => {
    if (!still) return setKeys(new Set());
    return hub.listen((signal) => {
      if (signal.is === "events") setKeys((before) => arrived(before, signal.events, listed.current));
    });
  }, [still]);
  return keys.size;
}

/** The newest request when the list was first shown: what is newer has come in before the eyes. */
function useFirst(key: unknown, newest: WebRequest | undefined) {
  const [first, setFirst] = useState<{ key: string; position: bigint }>();
  const words = JSON.stringify(key);
  useEffect(() => {
    if (newest && first?.key !== words) setFirst({ key: words, position: newest.position });
  }, [newest, words, first]);
  return first?.key === words ? first.position : undefined;
}
