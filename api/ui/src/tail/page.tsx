// The live tail: filter, list, detail. Its whole state is the address.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { toast } from "sonner";
import { getKinds, type EventView, type Position } from "../api/events";
import { wordsOf, TroublePage, TroubleStrip } from "../parts/trouble";
import { parseQuery, withKey, type Key } from "../query/grammar";
import { contains } from "../query/match";
import { useHub } from "../shell/connection";
import { useKeys } from "../shell/keys";
import { hub } from "../stream/hub";
import { toPosition, type TailSearch } from "./address";
import { Announcer } from "./announcer";
import { Detail } from "./detail";
import { EmptyLog, NoMatch } from "./empty";
import { FilterBox } from "./filter-box";
import { EventList, ListSkeleton, type EventListHandle } from "./list";
import { connectTail, tail } from "./live";
import { PauseControl } from "./pause";

const route = getRouteApi("/");

export function TailPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const view = useSyncExternalStore(tail.watch, tail.snapshot);
  const stream = useHub();
  const kinds = useQuery({ queryKey: ["kinds"], queryFn: ({ signal }) => getKinds(signal), staleTime: 300_000 });
  const list = useRef<EventListHandle>(null);
  const filterBox = useRef<HTMLInputElement>(null);

  const text = search.q ?? "";
  const query = useMemo(() => parseQuery(text), [text]);
  const paused = toPosition(search.paused);
  const at = toPosition(search.at);
  const { cursor, moveCursor } = useCursor(
    at,
    (position) => void navigate({ search: (old) => ({ ...old, at: String(position) }), replace: true }),
  );

  useEffect(connectTail, []);
  useEffect(() => tail.show(query.filter, paused), [query, paused]);
  useEffect(() => {
    tail.onRefrozen = (position) =>
      void navigate({ search: (old) => ({ ...old, paused: String(position) }), replace: true });
    return hub.listen((signal) => {
      if (signal.is === "resync") toast("The stream started again", { description: signal.reason });
    });
  }, [navigate]);

  const visible = useMemo(() => newestFirst(view.events, query.words), [view.events, query.words]);
  const waiting = useMemo(() => newestFirst(view.pending, query.words), [view.pending, query.words]);

  const open = useCallback(
    (position: Position) => {
      moveCursor(position);
      void navigate({ search: (old) => ({ ...old, at: String(position) }), replace: at !== undefined });
    },
    [at, moveCursor, navigate],
  );
  const close = useCallback(() => {
    void navigate({ search: ({ at: _, ...rest }: TailSearch) => rest });
    list.current?.focus();
  }, [navigate]);
  const setQuery = useCallback(
    (q: string, replace = false) =>
      void navigate({
        search: ({ q: _, ...rest }: TailSearch) => (q.trim() === "" ? rest : { q: q.trim(), ...rest }),
        replace,
      }),
    [navigate],
  );
  const narrow = useCallback((key: Key, value: string) => setQuery(withKey(text, key, value)), [setQuery, text]);
  const togglePause = useCallback(() => {
    if (paused !== undefined) void navigate({ search: ({ paused: _, ...rest }: TailSearch) => rest });
    else {
      const position = tail.pause();
      if (position !== undefined) void navigate({ search: (old) => ({ ...old, paused: String(position) }) });
    }
  }, [navigate, paused]);
  const step = (by: number) => {
    const index = visible.findIndex(({ position }) => position === cursor);
    const next = visible[index < 0 ? 0 : Math.max(0, Math.min(visible.length - 1, index + by))];
    if (!next) return;
    moveCursor(next.position);
    list.current?.reveal(next.position);
  };

  useKeys({
    "/": () => filterBox.current?.focus(),
    j: () => step(1),
    k: () => step(-1),
    p: togglePause,
    Enter: () => cursor !== undefined && open(cursor),
    Escape: () => at !== undefined && close(),
  });

  const { trouble } = stream;
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Live tail</h1>
      <div className="flex shrink-0 items-start gap-2 border-b border-line bg-sheet px-3 py-2">
        <FilterBox
          ref={filterBox}
          text={text}
          kinds={kinds.data ?? []}
          events={view.events}
          onCommit={setQuery}
          onLeave={() => list.current?.focus()}
        />
        <PauseControl
          paused={paused !== undefined}
          waiting={waiting.length}
          overflowed={view.overflowed}
          onToggle={togglePause}
        />
      </div>
      {view.phase !== "failed" &&
        (trouble ? (
          <TroubleStrip
            title={trouble.refused ? "The stream was refused" : "Weir does not answer"}
            detail={trouble.refused ? trouble.reason : "What was loaded stays on screen."}
            away={!trouble.refused}
            retryAt={trouble.until}
            retrying={!trouble.refused && trouble.until === undefined}
            onRetry={() => hub.retryNow()}
          />
        ) : (
          view.problem && (
            <TroubleStrip {...wordsOf(view.problem)} retryAt={view.retryAt} onRetry={() => tail.retryNow()} />
          )
        ))}
      <div className="flex min-h-0 flex-1">
        <section aria-label="Events" className="relative min-w-0 flex-1">
          {view.phase === "failed" && view.problem ? (
            <TroublePage {...wordsOf(view.problem)} retryAt={view.retryAt} onRetry={() => tail.retryNow()} />
          ) : view.phase === "loading" && view.events.length === 0 ? (
            <ListSkeleton />
          ) : visible.length > 0 ? (
            <EventList
              ref={list}
              key={text}
              events={visible}
              cursor={cursor}
              at={at}
              live={paused === undefined}
              view={view}
              onOpen={open}
              onMove={step}
              onOlder={() => void tail.loadOlder()}
            />
          ) : text === "" && view.pending.length === 0 ? (
            <EmptyLog live={stream.state.is === "live"} />
          ) : (
            <NoMatch
              query={query}
              view={view}
              kinds={kinds.data ?? []}
              onClear={() => setQuery("")}
              onOlder={() => void tail.loadOlder()}
            />
          )}
        </section>
        {at !== undefined && (
          <Detail
            position={cursor ?? at}
            known={find(view.events, view.pending, cursor ?? at)}
            onClose={close}
            onNarrow={narrow}
          />
        )}
      </div>
      <Announcer paused={paused !== undefined} arrived={view.arrived} waiting={waiting.length} />
    </div>
  );
}

/**
 * The row under the cursor. It moves at the speed of a held key, the address follows when it rests: browsers refuse
 * hundreds of history changes in a row.
 */
function useCursor(at: Position | undefined, write: (position: Position) => void) {
  const [cursor, setCursor] = useState(at);
  const written = useRef(at);
  const latest = useRef(write);
  latest.current = write;
  useEffect(() => {
    if (at === written.current) return;
    written.current = at;
    if (at !== undefined) setCursor(at);
  }, [at]);
  useEffect(() => {
    if (at === undefined || cursor === undefined || cursor === written.current) return;
    const timer = setTimeout(() => {
      written.current = cursor;
      latest.current(cursor);
    }, 120);
    return () => clearTimeout(timer);
  }, [at, cursor]);
  return { cursor, moveCursor: setCursor };
}

function newestFirst(events: readonly EventView[], words: readonly string[]): EventView[] {
  const matching = words.length === 0 ? [...events] : events.filter((event) => contains(words, event));
  return matching.reverse();
}

function find(events: readonly EventView[], pending: readonly EventView[], position: Position): EventView | undefined {
  const is = (event: EventView) => event.position === position;
  return events.find(is) ?? pending.find(is);
}
