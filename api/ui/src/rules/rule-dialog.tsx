import { useMutation } from "@tanstack/react-query";
import { previewRule, saveRule, type Rule, type RuleDraft } from "../api/rules";
import { Button } from "../parts/button";
import { ECOSYSTEMS, Field, Select } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { PreviewPanel } from "./preview";

export const MASKS = [
  { value: "mark", label: "mark: listed as “do not choose”, with the reason" },
  { value: "hide", label: "hide: not listed" },
  { value: "deny-only", label: "deny-only: listed untouched" },
];
const SYNTAX: Record<string, string> = {
  pypi: ">=1.17, ~=1.4",
  npm: "^1.2 || 3.x",
  cargo: ">=1, <2",
  go: ">=v1.2.0 <v1.4.0",
  docker: "3.1-* || latest",
};
const NEW: RuleDraft = { ecosystem: "pypi", package: "", versions: "*", reason: "", mask: "mark" };

interface RuleDialogProps {
  rule?: Rule | undefined;
  onDone: () => unknown;
  onClose: () => void;
}

/** Adds a rule, or changes one; shows what it would hit. */
export function RuleDialog({ rule, onDone, onClose }: RuleDialogProps) {
  const preview = useMutation({ mutationFn: previewRule });
  const { ecosystem, package: name, versions, reason, mask } = rule ?? NEW;
  const form = useForm({
    draft: { ecosystem, package: name, versions, reason, mask },
    act: (draft) => {
      preview.reset();
      return saveRule(rule?.id, whole(draft));
    },
    said: () => (rule ? "The rule is changed, and in force" : "The rule is in force"),
    // What is shown is always about what stands in the fields; words and looks hit nothing.
    onSet: (changed) => {
      if ("ecosystem" in changed || "package" in changed || "versions" in changed) preview.reset();
    },
    fault: preview.error,
    onDone,
    onClose,
  });
  return (
    <FormDialog
      title={rule ? "Change the rule" : "New rule"}
      description="It is in force on every instance within a second; downloads it hits are refused with its reason"
      width="max-w-xl"
      columns
      form={form}
      verb={rule ? "Change" : "Add"}
      doing="Saving…"
      ready={form.values.package !== ""}
      beside={
        <Button
          className="mr-auto"
          disabled={form.values.package === "" || preview.isPending}
          onClick={() => {
            form.reset();
            preview.mutate(whole(form.values));
          }}
        >
          {preview.isPending ? "Looking…" : "What would it hit?"}
        </Button>
      }
      onClose={onClose}
    >
      <Select visible label="Ecosystem" choices={ECOSYSTEMS} {...form.choice("ecosystem")} />
      <Select visible label="Mask" choices={MASKS} {...form.choice("mask")} />
      <Field label="Package" hint="* stands for any run of characters" autoFocus {...form.field("package")} />
      <Field label="Versions" hint={`like ${SYNTAX[form.draft.ecosystem] ?? "*"}; * is all`} {...form.field("versions")} />
      <Field
        className="sm:col-span-2"
        label="Reason"
        hint="what a person is told, on the terminal"
        maxLength={300}
        {...form.field("reason")}
      />
      {preview.data && <PreviewPanel preview={preview.data} />}
    </FormDialog>
  );
}

/** Where nothing is said of versions, it is about all of them. */
function whole(draft: RuleDraft): RuleDraft {
  return { ...draft, versions: draft.versions || "*" };
}
