import { RotateCcw } from "lucide-react";
import type { Position } from "../api/events";
import type { Projection } from "../api/projections";
import { Button } from "../parts/button";
import { duration, grouped, percent, rate } from "../parts/format";
import { hueOf, Subsystem } from "../parts/subsystem";
import { useLacking } from "../session/context";
import { ReplayProgress } from "./replay-progress";
import { StateBadge } from "./state-badge";

interface RowProps {
  projection: Projection;
  head: Position;
  current: boolean;
  onShow: () => void;
  onReplay: () => void;
}

export function Row({ projection, head, current, onShow, onReplay }: RowProps) {
  const { name, subsystem, version, state, position, lagEvents, lagSeconds, owner, deadLetters, replay } = projection;
  const lacking = useLacking("projections:write");
  const ground = current ? "bg-accent-wash" : "hover:bg-sunken/60";
  return (
    <>
      <tr
        id={`projection-${name}`}
        data-projection={name}
        data-current={current}
        className={`${ground} [&>td]:h-10 [&>td]:px-3 ${replay ? "" : "border-b border-line/70"}`}
      >
        <td className="relative !pl-4" style={hueOf(subsystem)}>
          <span
            aria-hidden
            className={`absolute inset-y-0 left-0 ${current ? "w-[3px] bg-accent" : "hue-bar w-[2px] opacity-60"}`}
          />
          <button
            type="button"
            onClick={onShow}
            className="font-mono text-sm font-medium hover:text-accent hover:underline"
            title={projection.actor}
          >
            {name}
          </button>
          <span className="numbers ml-2 text-xs text-soft" title="Version of the read model">
            v{version}
          </span>
          <span className="ml-3 text-xs">
            <Subsystem name={subsystem} />
          </span>
        </td>
        <td>
          <StateBadge state={state} />
        </td>
        <td className="numbers text-right">{grouped(position)}</td>
        <td className="numbers text-right text-soft" title={`of ${grouped(head)}`}>
          {percent(position, head).toFixed(1)}%
        </td>
        <td className={`numbers text-right ${lagEvents > 0n ? "" : "text-soft"}`}>{grouped(lagEvents)}</td>
        <td
          className={`numbers text-right ${lagSeconds > 60 ? "text-bad" : lagSeconds > 5 ? "text-warn" : "text-soft"}`}
        >
          {duration(lagSeconds)}
        </td>
        <td className="numbers text-right text-soft">{rate(projection.rate)}</td>
        <td className="max-w-48 truncate font-mono text-xs text-soft" title={owner ?? "No worker holds the lease"}>
          {owner ?? "none"}
        </td>
        <td className="numbers text-right">
          {deadLetters > 0 ? (
            <button
              type="button"
              onClick={onShow}
              aria-label={`Dead letters of ${name}: ${deadLetters}`}
              className="rounded bg-warn-wash px-1.5 py-0.5 text-warn hover:underline"
            >
              {grouped(deadLetters)}
            </button>
          ) : (
            <span className="text-soft">0</span>
          )}
        </td>
        <td className="!pr-4 text-right">
          <Button
            onClick={onReplay}
            lacking={lacking}
            disabled={replay !== null}
            aria-label={`Replay ${name}`}
            title="Rebuild from the log (r)"
          >
            <RotateCcw aria-hidden size={13} /> Replay
          </Button>
        </td>
      </tr>
      {replay && (
        <tr className={`${current ? "bg-accent-wash" : ""} border-b border-line/70`}>
          <td colSpan={10} className="px-4 pb-2.5">
            <ReplayProgress name={name} replay={replay} />
          </td>
        </tr>
      )}
    </>
  );
}
