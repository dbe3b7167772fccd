import { advanceEpoch, type Access, type Nexus } from "../api/nexus";
import { Field } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { plural } from "../parts/format";
import { levelOf, levelWords, quotaOf, whole } from "./words";

interface AdvanceDialogProps {
  nexus: Nexus;
  access: Access | undefined;
  onDone: () => unknown;
  onClose: () => void;
}

/** Asks for the epoch and the reason, says what it lets agents do, and that nothing takes it back. */
export function AdvanceDialog({ nexus, access, onDone, onClose }: AdvanceDialogProps) {
  const form = useForm({
    draft: { epoch: String(nexus.epoch + 1), reason: "" },
    act: ({ epoch, reason }) => advanceEpoch(Number(epoch), reason),
    said: (now) => `It is epoch ${now.epoch}`,
    onDone,
    onFault: onDone,
    onClose,
  });
  const wanted = whole(form.values.epoch);
  return (
    <FormDialog
      title="Advance the epoch?"
      form={form}
      intro={
        <>
          It is epoch {nexus.epoch}: {levelWords(access?.level ?? levelOf(nexus.epoch))}.
          {wanted !== undefined && wanted > nexus.epoch && (
            <>
              {" "}
              From epoch {wanted} on, <strong className="font-semibold">{levelWords(levelOf(wanted))}</strong>, and each has{" "}
              {plural(quotaOf(wanted), "request")} in a cycle.
            </>
          )}{" "}
          Epochs only advance: nothing takes this back.
        </>
      }
      verb={`Advance to epoch ${wanted ?? "…"}`}
      doing="Advancing…"
      keep="Keep as it is"
      look="danger"
      ready={wanted !== undefined && form.values.reason !== ""}
      onClose={onClose}
    >
      <Field label="Epoch" hint={`later than ${nexus.epoch}`} inputMode="numeric" {...form.field("epoch")} />
      <Field label="Reason" hint="stands in the log" autoFocus maxLength={500} {...form.field("reason")} />
    </FormDialog>
  );
}
