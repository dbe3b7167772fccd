import { useMutation, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { cancelReplay, type Replay } from "../api/projections";
import { Button } from "../parts/button";
import { duration, grouped, percent, rate } from "../parts/format";
import { cancelled } from "./cancelled";

/** How far a rebuild is, and the way to stop it. The live build keeps serving all the while. */
export function ReplayProgress({ name, replay }: { name: string; replay: Replay }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => cancelReplay(name),
    onSuccess: () => {
      cancelled.add(name);
      toast(`Replay of ${name} cancelled`, { id: `replay ${name}`, description: "The live build was not touched." });
      return client.invalidateQueries({ queryKey: ["projections"] });
    },
    onError: (fault) => toast.error(`Replay of ${name} not cancelled`, { description: asProblem(fault).message }),
  });
  const share = percent(replay.position, replay.target);
  const running = replay.state === "running";
  return (
    <div className="flex flex-wrap items-center justify-end gap-x-4 gap-y-1" data-testid="replay">
      <span className="w-28 shrink-0 text-xs text-soft">
        {running ? "rebuilding" : <span className="text-warn">interrupted</span>}{" "}
        <span className="numbers">#{replay.build}</span>
      </span>
      <div
        role="progressbar"
        aria-label={`Replay of ${name}`}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.floor(share)}
        aria-valuetext={`${share.toFixed(1)} percent, ${running ? remaining(replay) : "interrupted"}`}
        className="h-1.5 min-w-48 flex-1 overflow-hidden rounded-full bg-line"
      >
        <div
          className={`h-full rounded-full transition-[width] duration-700 ease-linear ${running ? "bg-accent" : "bg-warn"}`}
          style={{ width: `${share}%` }}
        />
      </div>
      <span className="numbers w-14 shrink-0 text-right text-xs font-medium">{share.toFixed(1)}%</span>
      <span className="numbers hidden shrink-0 text-right text-xs text-soft xl:inline">
        {grouped(replay.position)} / {grouped(replay.target)}
      </span>
      <span className="numbers w-28 shrink-0 text-right text-xs text-soft">{rate(replay.rate)} events/s</span>
      <span className="numbers w-36 shrink-0 text-right text-xs text-soft">
        {running ? remaining(replay) : "waits for a worker"}
      </span>
      <Button
        look="quiet"
        onClick={() => cancel.mutate()}
        disabled={cancel.isPending}
        aria-label={`Cancel the replay of ${name}`}
      >
        <X aria-hidden size={13} /> Cancel
      </Button>
    </div>
  );
}

function remaining({ etaSeconds }: Replay): string {
  return etaSeconds === null ? "no estimate yet" : `${duration(etaSeconds)} left`;
}
