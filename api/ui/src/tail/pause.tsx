import { Pause, Play } from "lucide-react";
import { Button } from "../parts/button";
import { grouped } from "../parts/format";

interface PauseControlProps {
  paused: boolean;
  waiting: number;
  overflowed: boolean;
  onToggle: () => void;
}

export function PauseControl({ paused, waiting, overflowed, onToggle }: PauseControlProps) {
  return (
    <Button
      look={paused ? "primary" : "plain"}
      aria-pressed={paused}
      onClick={onToggle}
      className="h-8 min-w-24"
      title={paused ? "Resume (p)" : "Pause (p)"}
    >
      {paused ? <Play aria-hidden size={13} /> : <Pause aria-hidden size={13} />}
      {paused ? "Resume" : "Pause"}
      {paused && (
        <span data-testid="new-count" className="numbers ml-1 rounded-full bg-accent-ink/15 px-1.5 py-px">
          {grouped(waiting)}
          {overflowed && "+"} new
        </span>
      )}
    </Button>
  );
}
