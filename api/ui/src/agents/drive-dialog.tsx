import { driveClock, type Nexus } from "../api/nexus";
import { Button } from "../parts/button";
import { Field } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { plural } from "../parts/format";
import { whole } from "./words";

/** Moves a driven clock on. */
export function DriveDialog({ nexus, onDone, onClose }: { nexus: Nexus; onDone: () => unknown; onClose: () => void }) {
  const form = useForm({
    draft: { ticks: "1" },
    act: ({ ticks }) => driveClock(Number(ticks)),
    said: (now) => `It is tick ${now.tick} of cycle ${now.cycle}`,
    onDone,
    onFault: onDone,
    onClose,
  });
  const { ticksPerCycle } = nexus;
  return (
    <FormDialog
      title="Move the clock?"
      form={form}
      intro={
        <>
          It is tick {nexus.tick} of cycle {nexus.cycle}
          {ticksPerCycle !== null && `, and ${plural(ticksPerCycle, "tick")} are a cycle`}. Where a cycle begins, quotas start
          over and a report is made of the one before. The clock never goes back.
        </>
      }
      verb="Move on"
      doing="Moving…"
      keep="Keep as it is"
      look="danger"
      ready={whole(form.values.ticks) !== undefined}
      onClose={onClose}
    >
      <Field label="By how many ticks" hint="1 to 1,000,000" autoFocus inputMode="numeric" {...form.field("ticks")} />
      {ticksPerCycle !== null && (
        <Button className="justify-self-start" onClick={() => form.set({ ticks: String(ticksPerCycle) })}>
          A whole cycle
        </Button>
      )}
    </FormDialog>
  );
}
