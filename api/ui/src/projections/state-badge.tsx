const LOOK: Record<string, string> = { live: "text-good", stopped: "text-soft", halted: "text-bad" };
const SHAPE: Record<string, string> = {
  live: "rounded-full",
  stopped: "rounded-[2px]",
  halted: "rotate-45 rounded-[1px]",
};

/** State by word, colour and shape: not by colour alone. */
export function StateBadge({ state }: { state: string }) {
  return (
    <span className={`inline-flex items-center gap-2 text-xs font-medium ${LOOK[state] ?? "text-soft"}`}>
      <span aria-hidden className={`size-2 bg-current ${SHAPE[state] ?? "rounded-full"}`} />
      {state}
    </span>
  );
}
