import { requestWaiver } from "../api/waivers";
import { ECOSYSTEMS, Field, Select } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { DAYS, idsOf } from "./acts";

// Until when, in days from now.
const NEW = { ecosystem: "pypi", package: "", versions: "*", waives: "", token: "", reason: "", owner: "", expires_at: "7" };

/** Asks for a waiver; says whether it is in force or waits for a second person. */
export function RequestDialog({ onDone, onClose }: { onDone: () => unknown; onClose: () => void }) {
  const form = useForm({
    draft: NEW,
    act: ({ versions, waives, expires_at, ...rest }) =>
      requestWaiver({ ...rest, versions: versions || "*", waives: idsOf(waives), days: Number(expires_at) }),
    said: ({ state }) => (state === "waiting" ? "It waits for a second person" : "The waiver is in force"),
    onDone,
    onClose,
  });
  const { package: name, reason, owner } = form.values;
  return (
    <FormDialog
      title="New waiver"
      description="What may pass in spite of a rule or an advisory, for a while. Malware needs a second person always"
      width="max-w-xl"
      columns
      form={form}
      verb="Ask for it"
      doing="Asking…"
      ready={[name, reason, owner].every((text) => text !== "")}
      onClose={onClose}
    >
      <Select visible label="Ecosystem" choices={ECOSYSTEMS} {...form.choice("ecosystem")} />
      <Select visible label="It ends in" choices={DAYS} {...form.choice("expires_at")} />
      <Field label="Package" hint="* stands for any run of characters" autoFocus {...form.field("package")} />
      <Field label="Versions" hint="as the ecosystem writes them; * is all" {...form.field("versions")} />
      <Field
        label="Waives"
        hint="ids of rules and advisories; all but malware, without"
        placeholder="GHSA-…, CVE-…"
        {...form.field("waives")}
      />
      <Field label="Token" hint="the one that may pass, by its id; all, without" {...form.field("token")} />
      <Field className="sm:col-span-2" label="Reason" hint="stands in the log" maxLength={300} {...form.field("reason")} />
      <Field className="sm:col-span-2" label="Owner" hint="who answers for it" maxLength={300} {...form.field("owner")} />
    </FormDialog>
  );
}
