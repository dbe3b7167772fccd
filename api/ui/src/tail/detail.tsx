// One event in full: facts, payload, what led to it and what it led to, and every way to take it elsewhere.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Braces, Link as LinkIcon, SquareTerminal, Terminal, X } from "lucide-react";
import type { ReactNode } from "react";
import { getEvent, text, type EventView, type Position } from "../api/events";
import { asProblem } from "../api/problem";
import { stringifyExact, type Json } from "../json/exact";
import { Ago } from "../parts/ago";
import { Button, IconButton } from "../parts/button";
import { copy } from "../parts/copy";
import { clock, day, grouped } from "../parts/format";
import { JsonTree } from "../parts/json-tree";
import { useRetrying } from "../parts/retrying";
import { Subsystem } from "../parts/subsystem";
import { TroublePage, wordsOf } from "../parts/trouble";
import type { Key } from "../query/grammar";
import { absolute } from "../root";
import type { TailSearch } from "./address";
import { ChainList } from "./chain-list";

interface DetailProps {
  position: Position;
  known: EventView | undefined;
  onClose: () => void;
  onNarrow: (key: Key, value: string) => void;
}

export function Detail({ position, known, onClose, onNarrow }: DetailProps) {
  const fetched = useQuery({
    queryKey: ["event", String(position)],
    queryFn: ({ signal }) => getEvent(position, signal),
    enabled: known === undefined,
    staleTime: Infinity,
  });
  const retry = useRetrying(fetched);
  const event = known ?? fetched.data;
  return (
    <aside
      aria-label={`Event ${position}`}
      data-testid="detail"
      className="absolute inset-x-0 top-11 bottom-0 z-20 flex flex-col border-l border-line-strong bg-sheet lg:static lg:w-[min(44%,42rem)] lg:min-w-[26rem]"
    >
      <header className="flex items-start gap-3 border-b border-line px-4 py-2.5">
        <div className="min-w-0 flex-1">
          <h2 className="truncate text-base font-semibold">{event?.kind ?? "Event"}</h2>
          <p className="mt-0.5 flex items-center gap-3 text-xs">
            <span className="numbers">{grouped(position)}</span>
            {event && <Subsystem name={event.subsystem} />}
            {event && (
              <span className="text-soft">
                <Ago at={event.recordedAt} />
              </span>
            )}
          </p>
        </div>
        <IconButton label="Close (Esc)" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {event ? (
        <Body event={event} onNarrow={onNarrow} />
      ) : fetched.error ? (
        <TroublePage {...missing(position, fetched.error)} {...retry} />
      ) : (
        <div role="status" aria-label="Loading the event" className="grid gap-3 p-4">
          {[60, 80, 40, 70, 50].map((width) => (
            <div key={width} className="skeleton h-3" style={{ width: `${width}%` }} />
          ))}
        </div>
      )}
    </aside>
  );
}

function Body({ event, onNarrow }: { event: EventView; onNarrow: (key: Key, value: string) => void }) {
  return (
    // A region that scrolls must be reachable by keyboard.
    <div className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label="Event details">
      <div className="flex flex-wrap gap-1.5 border-b border-line px-4 py-2">
        {ways(event).map(({ label, icon, what, value }) => (
          <Button key={label} onClick={() => void copy(value, what)} title={`Copy ${what}`} aria-label={`Copy ${what}`}>
            {icon} {label}
          </Button>
        ))}
      </div>
      <Facts event={event} onNarrow={onNarrow} />
      <Section title="Payload">
        <JsonTree value={event.payload} label="Payload" />
      </Section>
      <Section title="Causation">
        <ChainList event={event} />
      </Section>
      <Section title="Integrity">
        <p className="font-mono text-2xs break-all text-soft">blake3 {event.hash}</p>
      </Section>
    </div>
  );
}

function Facts({ event, onNarrow }: { event: EventView; onNarrow: (key: Key, value: string) => void }) {
  const { meta } = event;
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-3 gap-y-1 px-4 py-3 text-xs">
      <Fact name="stream">
        <Narrow value={event.stream} onClick={() => onNarrow("stream", event.stream)} />
        <span className="text-soft"> @ {plain(event.version)}</span>
      </Fact>
      <Fact name="kind">
        <Narrow value={event.kind} onClick={() => onNarrow("kind", event.kind)} />
        <span className="text-soft">
          {" "}
          {code(event.document["kind_code"])} schema {plain(event.document["schema"])}
        </span>
      </Fact>
      <Fact name="sub-system">
        <Narrow value={event.subsystem} onClick={() => onNarrow("subsystem", event.subsystem)} />
      </Fact>
      <Fact name="recorded">
        {day(event.recordedAt)} {clock(event.recordedAt)} <span className="text-soft">{event.recordedAt}</span>
      </Fact>
      {text(meta["principal"]) !== "" && (
        <Fact name="principal">
          <Narrow value={text(meta["principal"])} onClick={() => onNarrow("principal", text(meta["principal"]))} />
        </Fact>
      )}
      {[
        ["actor", "actor"],
        ["event id", "event_id"],
        ["command", "command_id"],
        ["correlation", "correlation_id"],
        ["causation", "causation_id"],
        ["trace", "traceparent"],
      ].map(
        ([name = "", key = ""]) =>
          text(meta[key]) !== "" && (
            <Fact key={key} name={name}>
              {text(meta[key])}
            </Fact>
          ),
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 font-mono break-all">{children}</dd>
    </>
  );
}

function Narrow({ value, onClick }: { value: string; onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      title="Show only these"
      className="text-left text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
    >
      {value}
    </button>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-t border-line px-4 py-3">
      <h3 className="mb-1.5 text-2xs font-semibold tracking-wider text-soft uppercase">{title}</h3>
      {children}
    </section>
  );
}

function ways({ position, document }: EventView) {
  const icon = (Icon: typeof Braces) => <Icon aria-hidden size={13} />;
  return [
    { label: "JSON", icon: icon(Braces), what: "the event as JSON", value: stringifyExact(document, 2) },
    {
      label: "curl",
      icon: icon(Terminal),
      what: "a curl command",
      value: `curl -fsS -H "authorization: Bearer $WEIR_TOKEN" '${absolute(`api/events/${position}`)}'`,
    },
    { label: "weir", icon: icon(SquareTerminal), what: "a weir command", value: `weir events get ${position}` },
    { label: "Link", icon: icon(LinkIcon), what: "a link to the event", value: absolute(`?at=${position}`) },
  ];
}

function missing(position: Position, fault: unknown) {
  const problem = asProblem(fault);
  if (problem.status !== 404) return wordsOf(problem);
  return {
    title: `There is no event ${grouped(position)}`,
    detail: (
      <>
        The log may not reach that far yet, or this position is archived.{" "}
        <Link to="/" search={({ at: _, ...rest }: TailSearch) => rest} className="text-accent underline">
          Back to the tail
        </Link>
      </>
    ),
    away: false,
  };
}

function plain(value: Json | undefined): string {
  return value === undefined ? "" : stringifyExact(value);
}

/** Kind codes are ranges in hexadecimal everywhere else: 0x4005 says "registry". */
function code(value: Json | undefined): string {
  return typeof value === "number" ? `0x${value.toString(16).padStart(4, "0")}` : "";
}
