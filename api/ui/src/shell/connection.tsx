// The state of the one event stream, in the header: live, trying again, or why not.

import { useSyncExternalStore } from "react";
import { grouped, rate } from "../parts/format";
import { hub } from "../stream/hub";
import { useRate } from "./rate";

export function useHub() {
  return useSyncExternalStore(hub.watch, hub.snapshot);
}

export function Connection() {
  const { state, trouble, head, leading } = useHub();
  const { bars, perSecond } = useRate();
  const live = state.is === "live";
  const [word, colour] = live
    ? ["live", "bg-good"]
    : trouble?.refused
      ? ["refused", "bg-bad"]
      : trouble
        ? ["away", "bg-warn"]
        : ["connecting", "bg-line-strong"];
  const peak = Math.max(4, ...bars);
  return (
    <div
      className="flex items-center gap-2.5 text-xs"
      title={leading ? "This tab holds the browser's event stream" : "Another tab holds the browser's event stream"}
    >
      <svg aria-hidden width="92" height="16" className="hidden text-accent opacity-70 2xl:block">
        {bars.map((count, index) => {
          const height = count === 0 ? 1 : Math.max(2, (count / peak) * 15);
          return (
            <rect
              key={index}
              x={index * 2.3}
              y={16 - height}
              width="1.5"
              height={height}
              fill="currentColor"
              opacity={count === 0 ? 0.45 : 1}
            />
          );
        })}
      </svg>
      <span className="numbers hidden w-14 text-right text-soft md:inline">{rate(perSecond)}/s</span>
      <span className="flex items-center gap-1.5" data-testid="connection" data-state={state.is}>
        <span aria-hidden className={`size-2 rounded-full ${colour} ${live ? "" : "pulse"}`} />
        <span className="hidden sm:inline">{word}</span>
      </span>
      {head !== undefined && (
        <span className="numbers hidden text-soft sm:inline" title="Head of the log">
          {grouped(head)}
        </span>
      )}
    </div>
  );
}
