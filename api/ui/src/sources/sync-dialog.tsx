import { syncSource, type Source } from "../api/sources";
import { Check } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";

interface SyncDialogProps {
  source: Source;
  onAsked: () => unknown;
  onClose: () => void;
}

/** Has a source visited now; says what that costs, and what to say to a source that lost much. */
export function SyncDialog({ source: { name }, onAsked, onClose }: SyncDialogProps) {
  const form = useForm({
    draft: { believe: false },
    act: ({ believe }) => syncSource(name, believe),
    said: () => `${name} is visited as soon as whoever visits it has heard`,
    onDone: onAsked,
    onClose,
  });
  return (
    <FormDialog
      title={`Sync ${name} now?`}
      form={form}
      intro={
        <>
          All it has is read anew, whether it has changed or not. Only what is news comes to the log; what stands stays
          in force until then, also when the visit fails.
        </>
      }
      verb="Sync"
      doing="Asking…"
      onClose={onClose}
    >
      <Check
        hint={
          <>
            I have looked, and what is gone from the source is gone indeed. Without it, a source that suddenly lacks a
            fifth of what it said changes nothing.
          </>
        }
        {...form.check("believe")}
      >
        Believe losses
      </Check>
    </FormDialog>
  );
}
