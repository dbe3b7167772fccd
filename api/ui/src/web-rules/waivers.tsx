import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { short } from "../agents/words";
import { may } from "../api/session";
import { getWebWaivers, grantWebWaiver, revokeWebWaiver, type WebWaiver, type WebWaiverState } from "../api/web-waivers";
import { Agent } from "../parts/agent";
import { Button } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { clock, day } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { RevokeDialog } from "../waivers/revoke-dialog";
import { LACKING } from "./rules";
import { WaiverDialog } from "./waiver-dialog";

const EVERY = 5_000;
const TONE: Record<WebWaiverState, "good" | "warn" | "soft"> = { waiting: "warn", granted: "good", expired: "soft" };

/** What passes the gateway in spite of its rules: for a reason, until a day, with two persons behind it. */
export function WaiversTab({ tabs }: { tabs: ReactNode }) {
  const client = useQueryClient();
  const session = useSession();
  const lacking = may(session, "web:write") ? undefined : LACKING;
  const [asking, setAsking] = useState(false);
  const [granting, setGranting] = useState<WebWaiver>();
  const [revoking, setRevoking] = useState<WebWaiver>();
  const query = useQuery({
    queryKey: ["web-waivers"],
    queryFn: ({ signal }) => getWebWaivers(signal),
    enabled: may(session, "web:read"),
    refetchInterval: ({ state }) => (state.error ? false : EVERY),
  });
  const look = () => void client.invalidateQueries({ queryKey: ["web-waivers"] });
  return (
    <Page
      title="Web rules"
      about="What passes in spite of a rule, for a while, by two persons"
      scope="web:read"
      query={query}
      tabs={tabs}
      tools={
        <Button
          look="primary"
          className="h-8"
          disabled={lacking !== undefined}
          title={lacking}
          onClick={() => setAsking(true)}
        >
          <Plus aria-hidden size={14} /> New waiver
        </Button>
      }
    >
      {(waivers) => (
        <>
          {waivers.length === 0 ? (
            <Nothing title="Nothing is excused">
              A waiver lets agents reach a host that is blocked, or lets code stay in a page: for a reason, until a day, with
              somebody who answers for it. Ask for one, and have a second person grant it.
            </Nothing>
          ) : (
            <Waivers waivers={waivers} lacking={lacking} onGrant={setGranting} onRevoke={setRevoking} />
          )}
          {asking && <WaiverDialog onDone={look} onClose={() => setAsking(false)} />}
          {granting && (
            <Confirm
              title="Grant the waiver?"
              verb="Grant"
              act={() => grantWebWaiver(granting.id)}
              onDone={() => {
                toast("The waiver is in force");
                look();
              }}
              onClose={() => setGranting(undefined)}
            >
              {granting.requestedBy} asked for <code>{aboutOf(granting)}</code> until {day(granting.expiresAt)}: {granting.reason}.
              You are the second person, and stand in the log as such.
            </Confirm>
          )}
          {revoking && (
            <RevokeDialog
              waits={revoking.state === "waiting"}
              revoke={(reason) => revokeWebWaiver(revoking.id, reason)}
              onDone={look}
              onClose={() => setRevoking(undefined)}
            >
              <code>{aboutOf(revoking)}</code> {revoking.state === "waiting" ? "stays" : "is"} as the rules have it, on every
              instance within a second.
            </RevokeDialog>
          )}
        </>
      )}
    </Page>
  );
}

function aboutOf({ permits, pattern, agent }: Pick<WebWaiver, "permits" | "pattern" | "agent">): string {
  const host = pattern ?? "every host";
  if (permits === "host") return host;
  return agent === null ? `code of ${host}` : `code of ${host} for ${short(agent)}`;
}

interface WaiversProps {
  waivers: readonly WebWaiver[];
  lacking: string | undefined;
  onGrant: (waiver: WebWaiver) => void;
  onRevoke: (waiver: WebWaiver) => void;
}

function Waivers({ waivers, ...rest }: WaiversProps) {
  return (
    <table data-testid="web-waivers" className="w-full min-w-[64rem] border-collapse text-left">
      <thead className={HEAD}>
        <tr>
          {["permits", "hosts", "agent", "state", "reason and owner", "asked by", "second person", "ends"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
          <th scope="col">
            <span className="sr-only">actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {waivers.map((waiver) => (
          <Row key={waiver.id} waiver={waiver} {...rest} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ waiver, lacking, onGrant, onRevoke }: Omit<WaiversProps, "waivers"> & { waiver: WebWaiver }) {
  const own = useSession().principal === waiver.requestedBy;
  const cannot = lacking ?? (own ? "You asked for it, so somebody else has to grant it" : undefined);
  const waits = waiver.state === "waiting";
  const about = aboutOf(waiver);
  return (
    <tr data-waiver={waiver.id} className={ROW}>
      <td>{waiver.permits === "host" ? "reaching it" : "keeping code"}</td>
      <td className="max-w-60 font-mono font-medium break-all">{waiver.pattern ?? <span className="font-sans font-normal text-soft">all</span>}</td>
      <td>{waiver.agent === null ? <span className="text-soft">all</span> : <Agent id={waiver.agent} />}</td>
      <td>
        <Badge tone={TONE[waiver.state]}>{waiver.state}</Badge>
      </td>
      <td className="max-w-sm py-1.5">
        <span className="break-words">{waiver.reason}</span>
        <span className="block text-xs break-words text-soft">{waiver.owner} answers for it</span>
      </td>
      <td className="text-soft">{waiver.requestedBy}</td>
      <td className={waiver.grantedBy === null ? "text-soft" : ""}>{waiver.grantedBy ?? "nobody yet"}</td>
      <td className="whitespace-nowrap">
        <time dateTime={waiver.expiresAt} className="numbers text-xs">
          {day(waiver.expiresAt)} {clock(waiver.expiresAt).slice(0, 5)}
        </time>
      </td>
      <td className="text-right whitespace-nowrap">
        {waits && (
          <Button
            disabled={cannot !== undefined}
            title={cannot}
            aria-label={`Grant the waiver of ${about}`}
            onClick={() => onGrant(waiver)}
          >
            Grant
          </Button>
        )}{" "}
        {waiver.state !== "expired" && (
          <Button
            disabled={lacking !== undefined}
            title={lacking}
            aria-label={`${waits ? "Refuse" : "Revoke"} the waiver of ${about}`}
            onClick={() => onRevoke(waiver)}
          >
            {waits ? "Refuse" : "Revoke"}
          </Button>
        )}
      </td>
    </tr>
  );
}
