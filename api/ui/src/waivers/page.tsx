// Waivers: what may pass in spite of a "no", for how long, who answers for it, and who said so.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { may } from "../api/session";
import { getWaivers, grantWaiver, revokeWaiver, WAIVER_STATES, type Waiver, type WaiverState } from "../api/waivers";
import { Ago } from "../parts/ago";
import { Button } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { Select } from "../parts/field";
import { clock, day } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { cannotGrant, stands } from "./acts";
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

export function WaiversPage() {
  const { state = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const session = useSession();
  const mayChange = may(session, "rules:write");
  const [asking, setAsking] = useState(false);
  const [granting, setGranting] = useState<Waiver>();
  const [revoking, setRevoking] = useState<Waiver>();
  const query = useInfiniteQuery({
    queryKey: ["waivers", state],
    queryFn: ({ pageParam, signal }) => getWaivers(state, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    enabled: may(session, "rules:read"),
    // Who has paged back is reading: nothing moves under the eyes.
    refetchInterval: ({ state }) => (state.error || (state.data?.pages.length ?? 0) > 1 ? false : EVERY),
  });
  const look = () => void client.invalidateQueries({ queryKey: ["waivers"] });
  return (
    <Page
      title="Waivers"
      about="What may pass in spite of a rule or an advisory, for a while"
      scope="rules:read"
      query={query}
      tools={
        <>
          <Select
            label="State"
            value={state}
            choices={STATES}
            onChoose={(state) => void navigate({ search: { state }, replace: true })}
          />
          <Button
            look="primary"
            className="h-8"
            disabled={!mayChange}
            title={mayChange ? undefined : "Your token lacks the scope rules:write"}
            onClick={() => setAsking(true)}
          >
            <Plus aria-hidden size={14} /> New waiver
          </Button>
        </>
      }
    >
      {({ pages }) => {
        const waivers = pages.flatMap(({ waivers }) => waivers);
        return (
          <>
            {waivers.length > 0 ? (
              <Waivers waivers={waivers} mayChange={mayChange} onGrant={setGranting} onRevoke={setRevoking} />
            ) : state === "" ? (
              <Nothing title="Nothing is excused">
                A waiver lets a package pass that a rule or an advisory forbids: for a reason, until a day, with somebody who
                answers for it.
              </Nothing>
            ) : (
              <Nothing title="Nothing matches" testid="no-match">
                No waiver is {state}.
              </Nothing>
            )}
            {query.hasNextPage && (
              <p className="p-4">
                <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
                  {query.isFetchingNextPage ? "Loading…" : "Show older"}
                </Button>
              </p>
            )}
            {asking && <RequestDialog onDone={look} onClose={() => setAsking(false)} />}
            {granting && (
              <Confirm
                title="Grant the waiver?"
                verb="Grant"
                act={() => grantWaiver(granting.id)}
                onDone={() => {
                  toast("The waiver is in force");
                  look();
                }}
                onClose={() => setGranting(undefined)}
              >
                {granting.requestedBy} asked that{" "}
                <code>
                  {granting.package} {granting.versions}
                </code>{" "}
                of {granting.ecosystem} may pass until {day(granting.expiresAt)}: {granting.reason}. You are the second person,
                and stand in the log as such.
              </Confirm>
            )}
            {revoking && (
              <RevokeDialog
                waits={revoking.state === "waiting"}
                revoke={(reason) => revokeWaiver(revoking.id, reason)}
                onDone={look}
                onClose={() => setRevoking(undefined)}
              >
                <code>
                  {revoking.package} {revoking.versions}
                </code>{" "}
                of {revoking.ecosystem} {revoking.state === "waiting" ? "stays" : "is"} forbidden by whatever forbids it, on
                every instance within a second.
              </RevokeDialog>
            )}
          </>
        );
      }}
    </Page>
  );
}

interface WaiversProps {
  waivers: readonly Waiver[];
  mayChange: boolean;
  onGrant: (waiver: Waiver) => void;
  onRevoke: (waiver: Waiver) => void;
}

function Waivers({ waivers, mayChange, onGrant, onRevoke }: WaiversProps) {
  return (
    <table data-testid="waivers" className="w-full min-w-[72rem] border-collapse text-left">
      <thead className={HEAD}>
        <tr>
          {["package", "state", "waives", "reason and owner", "asked for", "second person", "ends"].map((name) => (
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
          <Row key={waiver.id} waiver={waiver} mayChange={mayChange} onGrant={onGrant} onRevoke={onRevoke} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ waiver, mayChange, onGrant, onRevoke }: Omit<WaiversProps, "waivers"> & { waiver: Waiver }) {
  const cannot = cannotGrant(useSession(), waiver);
  const waits = waiver.state === "waiting";
  const about = `${waiver.package} ${waiver.versions}`;
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
        <span className="break-words">{waiver.reason}</span>
        <span className="block text-xs break-words text-soft">{waiver.owner} answers for it</span>
      </td>
      <td className="whitespace-nowrap text-soft">
        <Ago at={waiver.requestedAt} /> by {waiver.requestedBy}
      </td>
      <td className="max-w-52 py-1.5 text-soft">
        <Second waiver={waiver} />
      </td>
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
        {stands(waiver) && (
          <Button
            disabled={!mayChange}
            title={mayChange ? undefined : "Your token lacks the scope rules:write"}
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
