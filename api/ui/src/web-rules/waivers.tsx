import type { ReactNode } from "react";
import { short } from "../agents/words";
import { getWebWaivers, grantWebWaiver, revokeWebWaiver, type WebWaiver, type WebWaiverState } from "../api/web-waivers";
import { Agent } from "../parts/agent";
import { useAnswer, useLook } from "../parts/asking";
import { NewButton } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { useDialogs } from "../parts/dialogs";
import { day } from "../parts/format";
import { ListPage } from "../parts/list";
import { Until } from "../parts/moment";
import { Badge, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useLacking } from "../session/context";
import { Because, WaiverActs } from "../waivers/cells";
import { RevokeDialog } from "../waivers/revoke-dialog";
import { WaiverDialog } from "./waiver-dialog";

const EVERY = 5_000;
const TONE: Record<WebWaiverState, "good" | "warn" | "soft"> = { waiting: "warn", granted: "good", expired: "soft" };
const HEADS = ["permits", "hosts", "agent", "state", "reason and owner", "asked by", "second person", "ends"];

/** What passes the gateway in spite of its rules: for a reason, until a day, with two persons behind it. */
export function WaiversTab({ tabs }: { tabs: ReactNode }) {
  const lacking = useLacking("web:write");
  const dialogs = useDialogs(useLook("web-waivers"), {
    ask: (ends) => <WaiverDialog {...ends} />,
    grant: (ends, waiver: WebWaiver) => (
      <Confirm
        title="Grant the waiver?"
        verb="Grant"
        act={() => grantWebWaiver(waiver.id)}
        said="The waiver is in force"
        {...ends}
      >
        {waiver.requestedBy} asked for <code>{aboutOf(waiver)}</code> until {day(waiver.expiresAt)}: {waiver.reason}. You are
        the second person, and stand in the log as such.
      </Confirm>
    ),
    revoke: (ends, waiver: WebWaiver) => (
      <RevokeDialog
        waits={waiver.state === "waiting"}
        revoke={(reason) => revokeWebWaiver(waiver.id, reason)}
        {...ends}
      >
        <code>{aboutOf(waiver)}</code> {waiver.state === "waiting" ? "stays" : "is"} as the rules have it, on every instance
        within a second.
      </RevokeDialog>
    ),
  });
  const query = useAnswer({ key: ["web-waivers"], scope: "web:read", read: getWebWaivers, every: EVERY });
  return (
    <ListPage
      title="Web rules"
      about="What passes in spite of a rule, for a while, by two persons"
      scope="web:read"
      query={query}
      rows={(waivers) => waivers}
      tabs={tabs}
      tools={
        <NewButton lacking={lacking} onClick={() => dialogs.open("ask")}>
          New waiver
        </NewButton>
      }
      nothing={
        <Nothing title="Nothing is excused">
          A waiver lets agents reach a host that is blocked, or lets code stay in a page: for a reason, until a day, with
          somebody who answers for it. Ask for one, and have a second person grant it.
        </Nothing>
      }
      dialogs={dialogs.shown}
    >
      {(waivers) => (
        <Table testid="web-waivers" className="min-w-[64rem]" heads={HEADS} actions>
          {waivers.map((waiver) => (
            <Row key={waiver.id} waiver={waiver} onGrant={() => dialogs.open("grant", waiver)} onRevoke={() => dialogs.open("revoke", waiver)} />
          ))}
        </Table>
      )}
    </ListPage>
  );
}

function aboutOf({ permits, pattern, agent }: Pick<WebWaiver, "permits" | "pattern" | "agent">): string {
  const host = pattern ?? "every host";
  if (permits === "host") return host;
  return agent === null ? `code of ${host}` : `code of ${host} for ${short(agent)}`;
}

interface RowProps {
  waiver: WebWaiver;
  onGrant: () => void;
  onRevoke: () => void;
}

function Row({ waiver, ...acts }: RowProps) {
  return (
    <tr data-waiver={waiver.id} className={ROW}>
      <td>{waiver.permits === "host" ? "reaching it" : "keeping code"}</td>
      <td className="max-w-60 font-mono font-medium break-all">{waiver.pattern ?? <span className="font-sans font-normal text-soft">all</span>}</td>
      <td>{waiver.agent === null ? <span className="text-soft">all</span> : <Agent id={waiver.agent} />}</td>
      <td>
        <Badge tone={TONE[waiver.state]}>{waiver.state}</Badge>
      </td>
      <td className="max-w-sm py-1.5">
        <Because waiver={waiver} />
      </td>
      <td className="text-soft">{waiver.requestedBy}</td>
      <td className={waiver.grantedBy === null ? "text-soft" : ""}>{waiver.grantedBy ?? "nobody yet"}</td>
      <td>
        <Until at={waiver.expiresAt} />
      </td>
      <td className="text-right whitespace-nowrap">
        <WaiverActs waiver={waiver} about={aboutOf(waiver)} scope="web:write" {...acts} />
      </td>
    </tr>
  );
}
