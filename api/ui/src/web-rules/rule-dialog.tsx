import { ACTIONS, setWebRule, type WebRule, type WebRuleDraft } from "../api/web-rules";
import { Field, Select } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";

const NEW: WebRuleDraft = { pattern: "", action: "allow", category: "", reason: "" };
const CHOICES = ACTIONS.map((value) => ({ value, label: value }));

interface RuleDialogProps {
  rule?: WebRule | undefined;
  onDone: () => unknown;
  onClose: () => void;
}

/** Adds a rule, or says something else of a pattern. */
export function RuleDialog({ rule, onDone, onClose }: RuleDialogProps) {
  const { pattern, action, category, reason } = rule ?? NEW;
  const form = useForm({
    draft: { pattern, action, category, reason },
    act: setWebRule,
    said: () => (rule ? "The rule is changed, and in force" : "The rule is in force"),
    onDone,
    onClose,
  });
  return (
    <FormDialog
      title={rule ? "Change the rule" : "New rule"}
      description="It is in force on every instance within a second, and takes the place of what its pattern said before"
      width="max-w-xl"
      columns
      form={form}
      verb={rule ? "Change" : "Add"}
      doing="Saving…"
      ready={Object.values(form.values).every((text) => text !== "")}
      onClose={onClose}
    >
      <Field
        className="sm:col-span-2"
        label="Pattern"
        hint="docs.rs, *.docs.rs for what is below it, **.docs.rs for both, re:… ; with :8443 for that port only"
        autoFocus={rule === undefined}
        readOnly={rule !== undefined}
        {...form.field("pattern")}
      />
      <Select visible label="Action" choices={CHOICES} {...form.choice("action")} />
      <Field label="Category" hint="documentation, code_repo, …" autoFocus={rule !== undefined} {...form.field("category")} />
      <Field className="sm:col-span-2" label="Reason" hint="what an agent is told" maxLength={300} {...form.field("reason")} />
      <p className="text-xs text-soft sm:col-span-2">
        A bare name covers what is below it where it blocks, and is exact where it allows.
      </p>
    </FormDialog>
  );
}
