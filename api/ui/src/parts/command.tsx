import { Copy } from "lucide-react";
import { IconButton } from "./button";
import { copy } from "./copy";

/** Lines for a shell, to read and to copy. */
export function Command({ lines, what }: { lines: string; what: string }) {
  return (
    <div className="flex items-start gap-2 rounded border border-line-strong/60 bg-paper py-1 pr-1 pl-3">
      <pre className="min-w-0 flex-1 overflow-x-auto py-1 text-xs" tabIndex={0} role="region" aria-label={`Command: ${what}`}>
        {lines}
      </pre>
      <IconButton label={`Copy the command: ${what}`} onClick={() => void copy(lines, "the command")}>
        <Copy size={14} />
      </IconButton>
    </div>
  );
}
