import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { driveClock, type Nexus } from "../api/nexus";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { plural } from "../parts/format";
import { whole } from "./words";

/** Moves a driven clock on. */
export function DriveDialog({ nexus, onDone, onClose }: { nexus: Nexus; onDone: () => void; onClose: () => void }) {
  const [ticks, setTicks] = useState("1");
  const driving = useMutation({
    mutationFn: () => driveClock(Number(ticks)),
    onSuccess: (now) => {
      toast(`It is tick ${now.tick} of cycle ${now.cycle}`);
      onClose();
      onDone();
    },
    onError: onDone,
  });
  const problem = driving.error ? asProblem(driving.error) : undefined;
  const wanted = whole(ticks);
  const { ticksPerCycle } = nexus;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!driving.isPending) driving.mutate();
  };
  return (
    <Dialog title="Move the clock?" onClose={onClose} width="max-w-md">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          It is tick {nexus.tick} of cycle {nexus.cycle}
          {ticksPerCycle !== null && `, and ${plural(ticksPerCycle, "tick")} are a cycle`}. Where a cycle begins, quotas start
          over and a report is made of the one before. The clock never goes back.
        </p>
        <Field
          className="mt-3"
          label="By how many ticks"
          hint="1 to 1,000,000"
          autoFocus
          inputMode="numeric"
          value={ticks}
          onChange={({ target }) => setTicks(target.value)}
          problem={problem?.of("ticks")}
        />
        {ticksPerCycle !== null && (
          <Button className="mt-2" onClick={() => setTicks(String(ticksPerCycle))}>
            A whole cycle
          </Button>
        )}
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {problem && !problem.of("ticks") ? problem.message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Keep as it is</Button>
          <Button type="submit" look="danger" disabled={wanted === undefined || driving.isPending}>
            {driving.isPending ? "Moving…" : "Move on"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
