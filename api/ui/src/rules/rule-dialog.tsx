import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { previewRule, saveRule, type Rule, type RuleDraft } from "../api/rules";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { ECOSYSTEMS, Field, Select } from "../parts/field";
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

/** Adds a rule, or changes one. What the server finds wrong with a field stands under it. */
export function RuleDialog({ rule, onClose }: { rule?: Rule | undefined; onClose: () => void }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<RuleDraft>(() => {
    if (!rule) return NEW;
    const { ecosystem, package: name, versions, reason, mask } = rule;
    return { ecosystem, package: name, versions, reason, mask };
  });
  const trimmed = {
    ...draft,
    package: draft.package.trim(),
    versions: draft.versions.trim() || "*",
    reason: draft.reason.trim(),
  };
  const preview = useMutation({ mutationFn: previewRule });
  const set = (changed: Partial<RuleDraft>) => {
    setDraft({ ...draft, ...changed });
    // What is shown is always about what stands in the fields; words and looks hit nothing.
    if ("ecosystem" in changed || "package" in changed || "versions" in changed) preview.reset();
  };
  const save = useMutation({
    mutationFn: () => saveRule(rule?.id, trimmed),
    onSuccess: async () => {
      toast(rule ? "The rule is changed, and in force" : "The rule is in force");
      onClose();
      await client.invalidateQueries({ queryKey: ["rules"] });
    },
  });
  const fault = save.error ?? preview.error;
  const problem = fault ? asProblem(fault) : undefined;
  const of = (field: string) => problem?.of(field);
  const elsewhere = problem && !["package", "versions", "reason"].some((field) => of(field));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (save.isPending) return;
    preview.reset();
    save.mutate();
  };
  return (
    <Dialog
      title={rule ? "Change the rule" : "New rule"}
      description="It is in force on every instance within a second; downloads it hits are refused with its reason"
      onClose={onClose}
      width="max-w-xl"
    >
      <form onSubmit={submit} className="grid gap-3 p-4 sm:grid-cols-2">
        <Select
          visible
          label="Ecosystem"
          value={draft.ecosystem}
          choices={ECOSYSTEMS}
          onChoose={(ecosystem) => set({ ecosystem })}
        />
        <Select visible label="Mask" value={draft.mask} choices={MASKS} onChoose={(mask) => set({ mask })} />
        <Field
          label="Package"
          hint="* stands for any run of characters"
          autoFocus
          value={draft.package}
          onChange={({ target }) => set({ package: target.value })}
          problem={of("package")}
        />
        <Field
          label="Versions"
          hint={`like ${SYNTAX[draft.ecosystem] ?? "*"}; * is all`}
          value={draft.versions}
          onChange={({ target }) => set({ versions: target.value })}
          problem={of("versions")}
        />
        <Field
          className="sm:col-span-2"
          label="Reason"
          hint="what a person is told, on the terminal"
          maxLength={300}
          value={draft.reason}
          onChange={({ target }) => set({ reason: target.value })}
          problem={of("reason")}
        />
        <p role="alert" className="min-h-5 text-xs text-bad sm:col-span-2">
          {elsewhere ? problem.message : ""}
        </p>
        {preview.data && <PreviewPanel preview={preview.data} />}
        <div className="flex justify-end gap-2 sm:col-span-2">
          <Button
            className="mr-auto"
            disabled={trimmed.package === "" || preview.isPending}
            onClick={() => {
              save.reset();
              preview.mutate(trimmed);
            }}
          >
            {preview.isPending ? "Looking…" : "What would it hit?"}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={draft.package.trim() === "" || save.isPending}>
            {save.isPending ? "Saving…" : rule ? "Change" : "Add"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
