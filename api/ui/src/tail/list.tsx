// The virtual list, newest on top. Rows have one height, so that the view can be held still while rows arrive above it.

import { useVirtualizer } from "@tanstack/react-virtual";
import {
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  type KeyboardEvent,
  type Ref,
  type RefObject,
} from "react";
import type { EventView, Position } from "../api/events";
import { Button } from "../parts/button";
import { grouped } from "../parts/format";
import { COLUMNS, Row, ROW_HEIGHT } from "./row";
import type { TailSnapshot } from "./store";

const HEAD_HEIGHT = 26;

export interface EventListHandle {
  focus: () => void;
  reveal: (position: Position) => void;
}

interface EventListProps {
  ref: Ref<EventListHandle>;
  /** Newest first. */
  events: readonly EventView[];
  cursor: Position | undefined;
  at: Position | undefined;
  live: boolean;
  view: TailSnapshot;
  onOpen: (position: Position) => void;
  onMove: (by: number) => void;
  onOlder: () => void;
}

export function EventList({ ref, events, cursor, at, live, view, onOpen, onMove, onOlder }: EventListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => String(events[index]?.position ?? index),
    overscan: 16,
    scrollMargin: HEAD_HEIGHT,
    scrollPaddingStart: HEAD_HEIGHT,
  });
  useImperativeHandle(ref, () => ({
    focus: () => scroller.current?.focus({ preventScroll: true }),
    reveal: (position) => {
      const index = events.findIndex((event) => event.position === position);
      if (index >= 0) virtualizer.scrollToIndex(index, { align: "auto" });
    },
  }));
  useHeldStill(scroller, events);
  const fresh = useFresh(events, live);

  // A link to an event shows it in its surroundings, when it is among what is loaded.
  const revealed = useRef<Position>(undefined);
  useEffect(() => {
    if (at === undefined || revealed.current === at) return;
    const index = events.findIndex((event) => event.position === at);
    if (index < 0) return;
    if (revealed.current === undefined) virtualizer.scrollToIndex(index, { align: "auto" });
    revealed.current = at;
  }, [at, events, virtualizer]);

  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const nearEnd = last >= events.length - 20;
  const more = !view.atStart && !view.full && !view.loadingOlder && !view.problem;
  useEffect(() => {
    // Only once somebody scrolled: the first page is enough for whoever watches the newest.
    if (nearEnd && more && (scroller.current?.scrollTop ?? 0) > 0) onOlder();
  }, [nearEnd, more, onOlder]);

  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -events.length, End: events.length }[
      event.key
    ];
    if (by === undefined) return;
    event.preventDefault();
    onMove(by);
  };
  const cursorShown = cursor !== undefined && items.some(({ index }) => events[index]?.position === cursor);

  return (
    <div
      ref={scroller}
      role="grid"
      aria-label="Events, newest first"
      aria-rowcount={events.length + 1}
      aria-activedescendant={cursorShown ? `event-${cursor}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      data-testid="events"
      className="@container h-full overflow-auto bg-sheet [overflow-anchor:none] focus-visible:-outline-offset-2"
    >
      <div role="rowgroup" className="sticky top-0 z-10">
        <div
          role="row"
          aria-rowindex={1}
          style={{ height: HEAD_HEIGHT }}
          className={`${COLUMNS} border-b border-line bg-sunken text-2xs tracking-wide text-soft`}
        >
          <span role="columnheader" className="text-right">
            position
          </span>
          <span role="columnheader">time</span>
          <span role="columnheader" className="pl-3">
            sub-system
          </span>
          <span role="columnheader">kind</span>
          <span role="columnheader" className="hidden @5xl:block">
            stream
          </span>
          <span role="columnheader" className="hidden @2xl:block">
            payload
          </span>
        </div>
      </div>
      <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const event = events[index];
          return event ? (
            <Row
              key={key}
              event={event}
              index={index}
              top={start - HEAD_HEIGHT}
              current={event.position === cursor}
              open={event.position === at}
              fresh={fresh !== undefined && event.position > fresh}
              onOpen={onOpen}
            />
          ) : null;
        })}
      </div>
      <div role="rowgroup">
        <div role="row" className="px-3 py-3 text-xs text-soft">
          <span role="gridcell" className="flex items-center justify-center gap-3">
            <Foot view={view} onOlder={onOlder} />
          </span>
        </div>
      </div>
    </div>
  );
}

function Foot({ view, onOlder }: { view: TailSnapshot; onOlder: () => void }) {
  if (view.loadingOlder) return <>Loading older events…</>;
  if (view.atStart) return <>The oldest event that matches</>;
  if (view.full) return <>{grouped(view.events.length)} events are held; narrow the filter to look further back</>;
  return (
    <Button look="quiet" onClick={onOlder}>
      Load older events
    </Button>
  );
}

/** Keeps what is read in place while rows arrive above; at the very top the newest is what is read. */
function useHeldStill(scroller: RefObject<HTMLDivElement | null>, events: readonly EventView[]): void {
  const before = useRef<Position>(undefined);
  useLayoutEffect(() => {
    const element = scroller.current;
    const newest = before.current;
    before.current = events[0]?.position;
    if (!element || newest === undefined || element.scrollTop < ROW_HEIGHT / 2) return;
    const added = events.findIndex(({ position }) => position <= newest);
    if (added > 0) element.scrollTop += added * ROW_HEIGHT;
  }, [events, scroller]);
}

/** The newest position when the list first stood: what is newer arrived under one's eyes, and lights up once. */
function useFresh(events: readonly EventView[], live: boolean): Position | undefined {
  const first = useRef<Position>(undefined);
  first.current ??= events[0]?.position;
  return live ? first.current : undefined;
}

export function ListSkeleton() {
  return (
    <div role="status" aria-label="Loading events">
      {Array.from({ length: 18 }, (_, index) => (
        <div
          key={index}
          style={{ height: ROW_HEIGHT }}
          className="flex items-center gap-4 border-b border-line/50 px-3"
        >
          <div className="skeleton h-2.5 w-16" />
          <div className="skeleton h-2.5 w-20" />
          <div className="skeleton h-2.5 w-16" />
          <div className="skeleton h-2.5" style={{ width: `${18 + ((index * 37) % 40)}%` }} />
        </div>
      ))}
    </div>
  );
}
