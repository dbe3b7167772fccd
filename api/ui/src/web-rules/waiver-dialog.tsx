import { requestWebWaiver, type Permits } from "../api/web-waivers";
import { Field, Select } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { DAYS } from "../waivers/acts";

const PERMITS = [
  { value: "host", label: "reaching a blocked host" },
  { value: "code", label: "keeping code that is fetched" },
];

interface WaiverDialogProps {
  /** The hosts it is about, where that is known. */
  pattern?: string;
  onDone: () => unknown;
  onClose: () => void;
}

/** Asks for a waiver, which then waits for a second person. */
export function WaiverDialog({ pattern = "", onDone, onClose }: WaiverDialogProps) {
  const form = useForm({
    // Until when, in days from now.
    draft: { permits: "host" as Permits, pattern, agent: "", reason: "", owner: "", expires_at: "7" },
    act: ({ agent, expires_at, ...rest }) =>
      // Hosts are for all agents.
      requestWebWaiver({ ...rest, agent: rest.permits === "code" ? agent.toLowerCase() : "", days: Number(expires_at) }),
    said: () => "It waits for a second person",
    onDone,
    onClose,
  });
  const { permits, pattern: hosts, agent, reason, owner } = form.values;
  const ofCode = permits === "code";
  return (
    <FormDialog
      title="New waiver"
      description="It waits until a second person grants it, and ends by itself"
      width="max-w-xl"
      columns
      form={form}
      verb="Ask for it"
      doing="Asking…"
      ready={[reason, owner, ofCode ? hosts + agent : hosts].every((text) => text !== "")}
      onClose={onClose}
    >
      <Select visible label="It permits" choices={PERMITS} {...form.choice("permits")} />
      <Select visible label="It ends in" choices={DAYS} {...form.choice("expires_at")} />
      <Field
        className={ofCode ? "" : "sm:col-span-2"}
        label="Hosts"
        hint={ofCode ? "a pattern; all, without" : "a pattern, as a rule that allows has it"}
        autoFocus
        {...form.field("pattern")}
      />
      {ofCode && <Field label="Agent" hint="64 hexadecimal digits; all, without" {...form.field("agent")} />}
      <Field className="sm:col-span-2" label="Reason" hint="stands in the log" maxLength={300} {...form.field("reason")} />
      <Field className="sm:col-span-2" label="Owner" hint="who answers for it" maxLength={300} {...form.field("owner")} />
    </FormDialog>
  );
}
