import { Fragment, memo } from "react";
import type { EventView, Position } from "../api/events";
import { clock, day, grouped } from "../parts/format";
import { hueOf, Subsystem } from "../parts/subsystem";
import { isObject, stringifyExact, type Json } from "../json/exact";

export const ROW_HEIGHT = 26;

// Kinds are past tense, and these endings are what somebody scans a tail for.
const REFUSAL = /(?:Blocked|Refused|Rejected|Denied|Failed|Exhausted|Quarantined)$/;

// Columns go by the width of the list, not of the window: the detail pane takes half of it.
export const COLUMNS =
  "grid items-center gap-x-3 px-3 grid-cols-[4.5rem_6rem_5.5rem_minmax(0,1fr)] @2xl:grid-cols-[6.5rem_6rem_6.5rem_12rem_minmax(8rem,1fr)] @5xl:grid-cols-[6.5rem_6rem_6.5rem_13rem_minmax(9rem,18rem)_minmax(8rem,1fr)]";

interface RowProps {
  event: EventView;
  index: number;
  top: number;
  current: boolean;
  open: boolean;
  fresh: boolean;
  onOpen: (position: Position) => void;
}

export const Row = memo(function Row({ event, index, top, current, open, fresh, onOpen }: RowProps) {
  const look = open ? "bg-accent-wash" : current ? "bg-sunken" : "hover:bg-sunken";
  return (
    <div
      role="row"
      id={`event-${event.position}`}
      aria-rowindex={index + 2}
      aria-selected={current}
      data-position={String(event.position)}
      onClick={() => onOpen(event.position)}
      style={{ ...hueOf(event.subsystem), height: ROW_HEIGHT, transform: `translateY(${top}px)` }}
      className={`absolute inset-x-0 top-0 border-b border-line/60 text-xs ${COLUMNS} ${look} ${fresh ? "arrive" : ""}`}
    >
      <span
        aria-hidden
        className={`absolute inset-y-0 left-0 ${current ? "w-[3px] bg-accent" : "w-[2px] hue-bar opacity-60"}`}
      />
      <span role="gridcell" className="numbers text-right">
        {grouped(event.position)}
      </span>
      <span role="gridcell" className="numbers text-soft" title={`${day(event.recordedAt)}, ${event.recordedAt}`}>
        {clock(event.recordedAt)}
      </span>
      <span role="gridcell" className="min-w-0 pl-3">
        <Subsystem name={event.subsystem} />
      </span>
      <span role="gridcell" className={`truncate font-medium ${REFUSAL.test(event.kind) ? "text-bad" : ""}`}>
        {event.kind}
      </span>
      <span role="gridcell" className="numbers hidden truncate text-soft @5xl:block" title={event.stream}>
        {event.stream}
      </span>
      <span role="gridcell" className="hidden truncate font-mono @2xl:block">
        {summary(event.payload).map(([key, value]) => (
          <Fragment key={key}>
            <span className="text-soft">{key}=</span>
            {value}
            {"  "}
          </Fragment>
        ))}
      </span>
    </div>
  );
});

const ID = /^(?:0x)?[0-9a-f]{8}[0-9a-f-]{16,}$/;

/** The payload in one line, as much of it as can be seen: words first, ids last and short. */
function summary(payload: Json): [string, string][] {
  if (!isObject(payload)) return [["value", stringifyExact(payload).slice(0, 240)]];
  const entries = Object.entries(payload).map(([key, value]): [string, string] => [
    key,
    typeof value === "string" ? value : stringifyExact(value),
  ]);
  const isId = ([, value]: [string, string]) => ID.test(value);
  const parts: [string, string][] = [];
  let room = 240;
  for (const [key, shown] of [...entries.filter((entry) => !isId(entry)), ...entries.filter(isId)]) {
    if (room <= 0) break;
    const most = ID.test(shown) ? 9 : 80;
    const cut = shown.length > most ? `${shown.slice(0, most - 1)}…` : shown;
    parts.push([key, cut]);
    room -= key.length + cut.length + 3;
  }
  return parts;
}
