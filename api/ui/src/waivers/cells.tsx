// What stands in the list of waivers, of packages or of hosts: why there is one, and what can be done to it.

import { Button } from "../parts/button";
import { useLacking, useSession } from "../session/context";
import { cannotGrant, stands } from "./acts";

interface Asked {
  state: "waiting" | "granted" | "revoked" | "expired";
  reason: string;
  owner: string;
  requestedBy: string;
}

export function Because({ waiver: { reason, owner } }: { waiver: Asked }) {
  return (
    <>
      <span className="break-words">{reason}</span>
      <span className="block text-xs break-words text-soft">{owner} answers for it</span>
    </>
  );
}

interface WaiverActsProps {
  waiver: Asked;
  /** What passes by it. */
  about: string;
  /** What a token must hold to grant it, or to take it back. */
  scope: string;
  onGrant: () => void;
  onRevoke: () => void;
}

export function WaiverActs({ waiver, about, scope, onGrant, onRevoke }: WaiverActsProps) {
  const cannot = cannotGrant(useSession(), scope, waiver);
  const lacking = useLacking(scope);
  const waits = waiver.state === "waiting";
  const end = waits ? "Refuse" : "Revoke";
  return (
    <>
      {waits && (
        <Button lacking={cannot} aria-label={`Grant the waiver of ${about}`} onClick={onGrant}>
          Grant
        </Button>
      )}{" "}
      {stands(waiver) && (
        <Button lacking={lacking} aria-label={`${end} the waiver of ${about}`} onClick={onRevoke}>
          {end}
        </Button>
      )}
    </>
  );
}
