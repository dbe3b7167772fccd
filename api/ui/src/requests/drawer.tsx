// One request: its road through the gateway, what held it, what it cost, and what its agent was given.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, CircleSlash, Clock, Link as LinkIcon, Minus, Octagon, SquareTerminal, Terminal } from "lucide-react";
import type { ReactNode } from "react";
import { nameOf } from "../agents/words";
import type { Agent } from "../api/agents";
import { asProblem } from "../api/problem";
import { getRequest, type Redirect, type WebRequest } from "../api/web-requests";
import { Ago } from "../parts/ago";
import { Button } from "../parts/button";
import { copy } from "../parts/copy";
import { Dialog } from "../parts/dialog";
import { clock, day } from "../parts/format";
import { useRetrying } from "../parts/retrying";
import { TroublePage, wordsOf } from "../parts/trouble";
import { absolute } from "../root";
import { Given } from "./given";
import { costWords, hops, listLine, quoted, redirectWords, roadOf, type Stop, type StopState } from "./road";
import { StateBadge } from "./table";
import { Verdict } from "./verdict";

// While it is under way.
const EVERY = 2_000;

interface DrawerProps {
  id: string;
  /** Whose it is; without, the first of those that chose this id. */
  agent: string | undefined;
  known: WebRequest | undefined;
  agents: readonly Agent[] | undefined;
  onShow: (wanted: { agent?: string; host?: string; cycle?: string }) => void;
  onClose: () => void;
}

export function Drawer({ id, agent, known, agents, onShow, onClose }: DrawerProps) {
  const fetched = useQuery({
    queryKey: ["web-request", agent ?? "", id],
    queryFn: ({ signal }) => getRequest(id, agent, signal),
    refetchInterval: ({ state }) => (state.data?.state === "submitted" ? EVERY : false),
  });
  const retry = useRetrying(fetched);
  // Whichever knows how it ended; without an answer yet, what the list said.
  const request = fetched.data ?? known;
  return (
    <Dialog
      title={request ? `${request.method} ${request.host}` : "Request"}
      description={
        request && (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <StateBadge state={request.state} />
            <Ago at={request.at} />
            <span>by {nameOf(agents, request.agent)}</span>
          </span>
        )
      }
      form="sheet"
      width="max-w-2xl"
      onClose={onClose}
    >
      {request ? (
        <Body request={request} onShow={onShow} />
      ) : fetched.error ? (
        <TroublePage {...wordsOf(asProblem(fetched.error))} {...retry} />
      ) : (
        <p role="status" className="p-4 text-soft">
          Loading the request…
        </p>
      )}
    </Dialog>
  );
}

function Body({ request, onShow }: { request: WebRequest; onShow: DrawerProps["onShow"] }) {
  return (
    <div data-testid="request">
      <div className="flex flex-wrap gap-1.5 border-b border-line px-4 py-2">
        {ways(request).map(({ label, icon, what, value }) => (
          <Button key={label} onClick={() => void copy(value, what)} title={`Copy ${what}`} aria-label={`Copy ${what}`}>
            {icon} {label}
          </Button>
        ))}
      </div>
      <dl className="grid grid-cols-[6rem_minmax(0,1fr)] gap-x-3 gap-y-1 px-4 py-3 text-xs">
        <Fact name="address">{request.url}</Fact>
        <Fact name="purpose" plain>
          {request.purpose}
        </Fact>
        <Fact name="agent">
          <Narrow onClick={() => onShow({ agent: request.agent })}>{request.agent}</Narrow>
        </Fact>
        <Fact name="request">{request.id}</Fact>
        <Fact name="kind">
          {request.interaction ?? request.method}
          {request.stripsCode === false && <span className="text-warn"> with its code</span>}
        </Fact>
        <Fact name="time">
          cycle <Narrow onClick={() => onShow({ cycle: String(request.cycle) })}>{request.cycle}</Narrow>, tick {request.tick},{" "}
          {day(request.at)} {clock(request.at).slice(0, 8)}
        </Fact>
        <Fact name="cost">{costWords(request)}</Fact>
        {request.approval !== null && <Fact name="approval">{request.approval}</Fact>}
        {request.hosts.length > 0 && <Fact name="contacted">{hops(request.hosts)}</Fact>}
        <Fact name="in the log">
          <EventLink position={request.position}>begins</EventLink>
          {request.settled !== null && request.settled !== request.position && (
            <>
              {", "}
              <EventLink position={request.settled}>ends</EventLink>
            </>
          )}
          , with all that each caused
        </Fact>
      </dl>
      <Section title="The road">
        <ol data-testid="road" className="grid gap-1">
          {roadOf(request).map((stop) => (
            <StopLine key={stop.name} stop={stop} redirects={stop.name === "outside" ? request.redirects : []} />
          ))}
        </ol>
        {request.error && (
          <p className="mt-2 text-xs text-soft">
            {request.error.name}, on the wire <code>0x{request.error.code.toString(16).padStart(4, "0")}</code>
            {request.domain !== null && (
              <>
                ; refused host <code className="break-all">{request.domain}</code>
              </>
            )}
          </p>
        )}
      </Section>
      <Section title="What would become of it now">
        <Verdict request={request} />
      </Section>
      {request.warnings.length > 0 && (
        <Section title="Warnings of the filter">
          <ul data-testid="warnings" className="list-disc pl-4 text-warn">
            {request.warnings.map((warning) => (
              <li key={warning} className="break-words">
                {warning}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="What the agent was given">
        <Given key={request.state} request={request} />
      </Section>
    </div>
  );
}

const LOOK: Record<StopState, { icon: typeof Check; tone: string; word: string }> = {
  passed: { icon: Check, tone: "text-good", word: "passed" },
  stopped: { icon: Octagon, tone: "text-bad", word: "stopped here" },
  waiting: { icon: Clock, tone: "text-warn", word: "waiting" },
  spared: { icon: Minus, tone: "text-soft", word: "not needed" },
  unreached: { icon: CircleSlash, tone: "text-soft", word: "not reached" },
};

function StopLine({ stop: { name, state, words }, redirects }: { stop: Stop; redirects: readonly Redirect[] }) {
  const { icon: Icon, tone, word } = LOOK[state];
  const gone = state === "unreached";
  return (
    <li data-stop={name} data-state={state} className="grid grid-cols-[1rem_4rem_minmax(0,1fr)] items-baseline gap-x-2 text-xs">
      <Icon aria-hidden size={13} className={`self-center ${tone}`} />
      <span className={gone ? "text-soft" : "font-medium"}>
        {name} <span className="sr-only">: {word},</span>
      </span>
      <span className={`break-words ${state === "stopped" ? "text-bad" : "text-soft"}`}>{words}</span>
      {redirects.length > 0 && (
        <ol data-testid="redirects" aria-label="Redirects" className="col-start-3 mt-0.5 grid gap-0.5 text-soft">
          {redirects.map((redirect, at) => (
            <li key={at} className={redirect.allowed ? "" : "text-bad"}>
              → <code className="break-all">{redirect.url}</code> {redirectWords(redirect)}
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="border-t border-line px-4 py-3">
      <h3 className="mb-1.5 text-2xs font-semibold tracking-wider text-soft uppercase">{title}</h3>
      {children}
    </section>
  );
}

function Fact({ name, plain = false, children }: { name: string; plain?: boolean; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className={`min-w-0 ${plain ? "break-words whitespace-pre-wrap" : "font-mono break-all"}`}>{children}</dd>
    </>
  );
}

function Narrow({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      title="Show only these"
      onClick={onClick}
      className="text-left text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
    >
      {children}
    </button>
  );
}

function EventLink({ position, children }: { position: bigint; children: string }) {
  return (
    <Link to="/" search={{ at: String(position) }} className="text-accent underline">
      {children} with event {String(position)}
    </Link>
  );
}

function ways(request: WebRequest) {
  const icon = (Icon: typeof Terminal) => <Icon aria-hidden size={13} />;
  const at = `web/requests/${request.id}?agent=${request.agent}`;
  return [
    { label: "weir", icon: icon(SquareTerminal), what: "a weir command that lists it", value: listLine(request) },
    { label: "why", icon: icon(SquareTerminal), what: "the command that says why", value: `weir web why ${quoted(request.url)}` },
    {
      label: "curl",
      icon: icon(Terminal),
      what: "a curl command",
      value: `curl -fsS -H "authorization: Bearer $WEIR_TOKEN" '${absolute(`api/${at}`)}'`,
    },
    {
      label: "Link",
      icon: icon(LinkIcon),
      what: "a link to the request",
      value: absolute(`requests?open=${request.id}&of=${request.agent}`),
    },
  ];
}
