import { Copy } from "lucide-react";
import type { Kind } from "../api/events";
import { Button, IconButton } from "../parts/button";
import { copy } from "../parts/copy";
import { plural } from "../parts/format";
import { formatQuery, type Query } from "../query/grammar";
import { absolute } from "../root";
import { problemsOf } from "./filter-box";
import type { TailSnapshot } from "./store";

/** The first screen of a fresh Weir: what to type to see something happen. */
export function EmptyLog({ live }: { live: boolean }) {
  const command = `pip install --index-url ${absolute("pypi/simple/")} six`;
  return (
    <div data-testid="empty" className="grid h-full place-items-center p-6">
      <div className="w-full max-w-2xl">
        <h2 className="text-lg font-semibold">No events yet</h2>
        <p className="mt-1 text-soft">Whatever passes the door stands here the moment it is decided. Try:</p>
        <div className="mt-3 flex items-center gap-2 rounded border border-line-strong/60 bg-sheet py-1.5 pr-1.5 pl-3">
          <span aria-hidden className="numbers text-soft select-none">
            $
          </span>
          <code
            className="min-w-0 flex-1 overflow-x-auto text-xs whitespace-nowrap"
            tabIndex={0}
            aria-label="Command to try"
          >
            {command}
          </code>
          <IconButton label="Copy the command" onClick={() => void copy(command, "the command")}>
            <Copy size={14} />
          </IconButton>
        </div>
        <p className="mt-3 flex items-center gap-2 text-xs text-soft">
          <span aria-hidden className={`size-2 rounded-full ${live ? "pulse bg-good" : "bg-line-strong"}`} />
          {live ? "Connected, waiting for the first event…" : "Connecting…"}
        </p>
      </div>
    </div>
  );
}

interface NoMatchProps {
  query: Query;
  view: TailSnapshot;
  kinds: readonly Kind[];
  onClear: () => void;
  onOlder: () => void;
}

/** Nothing passes the filter, and why that may be. */
export function NoMatch({ query, view, kinds, onClear, onOlder }: NoMatchProps) {
  const text = formatQuery(query);
  const problems = problemsOf(text, kinds);
  const searched = view.events.length;
  return (
    <div data-testid="no-match" className="grid h-full place-items-center p-6">
      <div className="max-w-lg text-center">
        <h2 className="text-lg font-semibold">
          {view.pausedAt !== undefined ? "Nothing matched before the pause" : "Nothing matches"}
        </h2>
        {text !== "" && <code className="mt-2 inline-block rounded bg-sunken px-2 py-1 text-xs break-all">{text}</code>}
        <p className="mt-2 text-soft">
          {problems.length > 0
            ? `${problems.join("; ")}.`
            : query.words.length > 0 && searched > 0
              ? `The text was looked for in the newest ${plural(searched, "event")}${view.atStart ? ", and there are no older ones" : ""}.`
              : "New events that match will appear here."}
        </p>
        <div className="mt-4 flex justify-center gap-2">
          {query.words.length > 0 && searched > 0 && !view.atStart && !view.full && (
            <Button onClick={onOlder} disabled={view.loadingOlder}>
              {view.loadingOlder ? "Searching…" : "Search older events"}
            </Button>
          )}
          {text !== "" && <Button onClick={onClear}>Clear the filter</Button>}
        </div>
      </div>
    </div>
  );
}
