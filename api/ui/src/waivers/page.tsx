// Waivers: what may pass in spite of a "no", for how long, who answers for it, and who said so.

import { getRouteApi } from "@tanstack/react-router";
import { getWaivers, grantWaiver, revokeWaiver, WAIVER_STATES, type Waiver, type WaiverState } from "../api/waivers";
import { Ago } from "../parts/ago";
import { useLook, usePages } from "../parts/asking";
import { NewButton } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { useDialogs } from "../parts/dialogs";
import { Select } from "../parts/field";
import { day } from "../parts/format";
import { ListPage } from "../parts/list";
import { Until } from "../parts/moment";
import { Badge, NoMatch, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useLacking } from "../session/context";
import { Because, WaiverActs } from "./cells";
import { RequestDialog } from "./request-dialog";
import { RevokeDialog } from "./revoke-dialog";

const route = getRouteApi("/waivers");
const EVERY = 5_000;
const STATES = [{ value: "", label: "all states" }, ...WAIVER_STATES.map((value) => ({ value, label: value }))];
const TONE: Record<WaiverState, "good" | "warn" | "bad" | "soft"> = {
  waiting: "warn",
  granted: "good",
  revoked: "bad",
  expired: "soft",
};
const HEADS = ["package", "state", "waives", "reason and owner", "asked for", "second person", "ends"];

export function WaiversPage() {
  const { state = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const lacking = useLacking("rules:write");
  const dialogs = useDialogs(useLook("waivers"), {
    ask: (ends) => <RequestDialog {...ends} />,
    grant: (ends, waiver: Waiver) => (
      <Confirm
        title="Grant the waiver?"
        verb="Grant"
        act={() => grantWaiver(waiver.id)}
        said="The waiver is in force"
        {...ends}
      >
        {waiver.requestedBy} asked that{" "}
        <code>
          {waiver.package} {waiver.versions}
        </code>{" "}
        of {waiver.ecosystem} may pass until {day(waiver.expiresAt)}: {waiver.reason}. You are the second person, and stand
        in the log as such.
      </Confirm>
    ),
    revoke: (ends, waiver: Waiver) => (
      <RevokeDialog
        waits={waiver.state === "waiting"}
        revoke={(reason) => revokeWaiver(waiver.id, reason)}
        {...ends}
      >
        <code>
          {waiver.package} {waiver.versions}
        </code>{" "}
        of {waiver.ecosystem} {waiver.state === "waiting" ? "stays" : "is"} forbidden by whatever forbids it, on every
        instance within a second.
      </RevokeDialog>
    ),
  });
  const query = usePages({
    key: ["waivers", state],
    scope: "rules:read",
    read: (cursor, signal) => getWaivers(state, cursor, signal),
    every: EVERY,
  });
  return (
    <ListPage
      title="Waivers"
      about="What may pass in spite of a rule or an advisory, for a while"
      scope="rules:read"
      query={query}
      rows={({ pages }) => pages.flatMap(({ waivers }) => waivers)}
      tools={
        <>
          <Select
            label="State"
            value={state}
            choices={STATES}
            onChoose={(state) => void navigate({ search: { state }, replace: true })}
          />
          <NewButton lacking={lacking} onClick={() => dialogs.open("ask")}>
            New waiver
          </NewButton>
        </>
      }
      nothing={
        state === "" ? (
          <Nothing title="Nothing is excused">
            A waiver lets a package pass that a rule or an advisory forbids: for a reason, until a day, with somebody who
            answers for it.
          </Nothing>
        ) : (
          <NoMatch>No waiver is {state}.</NoMatch>
        )
      }
      dialogs={dialogs.shown}
    >
      {(waivers) => (
        <Table testid="waivers" className="min-w-[72rem]" heads={HEADS} actions>
          {waivers.map((waiver) => (
            <Row key={waiver.id} waiver={waiver} onGrant={() => dialogs.open("grant", waiver)} onRevoke={() => dialogs.open("revoke", waiver)} />
          ))}
        </Table>
      )}
    </ListPage>
  );
}

interface RowProps {
  waiver: Waiver;
  onGrant: () => void;
  onRevoke: () => void;
}

function Row({ waiver, ...acts }: RowProps) {
  return (
    <tr data-waiver={waiver.id} className={ROW}>
      <td className="max-w-60 py-1.5">
        <span className="font-mono font-medium break-all">{waiver.package}</span>{" "}
        <span className="text-xs text-soft">{waiver.ecosystem}</span>
        <span className="block font-mono text-xs text-soft">{waiver.versions}</span>
      </td>
      <td>
        <Badge tone={TONE[waiver.state]}>{waiver.state}</Badge>
      </td>
      <td className="max-w-52 py-1.5 text-xs">
        {waiver.waives.length === 0 ? (
          <span className="text-soft">everything but malware</span>
        ) : (
          waiver.waives.map((id) => (
            <code key={id} className="block truncate" title={id}>
              {id}
            </code>
          ))
        )}
        {waiver.token !== null && (
          <span className="block text-soft">
            for token <code>{waiver.token}</code>
          </span>
        )}
      </td>
      <td className="max-w-sm py-1.5">
        <Because waiver={waiver} />
      </td>
      <td className="whitespace-nowrap text-soft">
        <Ago at={waiver.requestedAt} /> by {waiver.requestedBy}
      </td>
      <td className="max-w-52 py-1.5 text-soft">
        <Second waiver={waiver} />
      </td>
      <td>
        <Until at={waiver.expiresAt} />
      </td>
      <td className="text-right whitespace-nowrap">
        <WaiverActs waiver={waiver} about={`${waiver.package} ${waiver.versions}`} scope="rules:write" {...acts} />
      </td>
    </tr>
  );
}

/** Who said yes, and who said no after that. */
function Second({ waiver: { state, requestedBy, grantedBy, endedBy, endReason } }: { waiver: Waiver }) {
  return (
    <>
      {grantedBy === null ? (
        state === "waiting" ? "nobody yet" : "nobody"
      ) : grantedBy === requestedBy ? (
        "none was needed"
      ) : (
        <span className="text-ink">{grantedBy}</span>
      )}
      {endedBy !== null && (
        <span className="block text-xs break-words">
          {endedBy} took it back{endReason !== null && `: ${endReason}`}
        </span>
      )}
    </>
  );
}
