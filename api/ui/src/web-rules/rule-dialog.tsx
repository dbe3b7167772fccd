import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { ACTIONS, setWebRule, type Action, type WebRule, type WebRuleDraft } from "../api/web-rules";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field, Select } from "../parts/field";

const NEW: WebRuleDraft = { pattern: "", action: "allow", category: "", reason: "" };
const CHOICES = ACTIONS.map((value) => ({ value, label: value }));
const FIELDS = ["pattern", "category", "reason"] as const;

interface RuleDialogProps {
  rule?: WebRule | undefined;
  onDone: () => void;
  onClose: () => void;
}

/** Adds a rule, or says something else of a pattern. What the server finds wrong with a field stands under it. */
export function RuleDialog({ rule, onDone, onClose }: RuleDialogProps) {
  const [draft, setDraft] = useState<WebRuleDraft>(() => {
    if (!rule) return NEW;
    const { pattern, action, category, reason } = rule;
    return { pattern, action, category, reason };
  });
  const { pattern, category, reason } = draft;
  const saving = useMutation({
    mutationFn: () =>
      setWebRule({ ...draft, pattern: pattern.trim(), category: category.trim(), reason: reason.trim() }),
    onSuccess: () => {
      toast(rule ? "The rule is changed, and in force" : "The rule is in force");
      onClose();
      onDone();
    },
  });
  const problem = saving.error ? asProblem(saving.error) : undefined;
  const elsewhere = problem && !FIELDS.some((field) => problem.of(field));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!saving.isPending) saving.mutate();
  };
  const field = (name: (typeof FIELDS)[number]) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
    problem: problem?.of(name),
  });
  return (
    <Dialog
      title={rule ? "Change the rule" : "New rule"}
      description="It is in force on every instance within a second, and takes the place of what its pattern said before"
      onClose={onClose}
      width="max-w-xl"
    >
      <form onSubmit={submit} className="grid gap-3 p-4 sm:grid-cols-2">
        <Field
          className="sm:col-span-2"
          label="Pattern"
          hint="docs.rs, *.docs.rs for what is below it, **.docs.rs for both, re:… ; with :8443 for that port only"
          autoFocus={rule === undefined}
          readOnly={rule !== undefined}
          {...field("pattern")}
        />
        <Select
          visible
          label="Action"
          value={draft.action}
          choices={CHOICES}
          onChoose={(action) => setDraft({ ...draft, action: action as Action })}
        />
        <Field label="Category" hint="documentation, code_repo, …" autoFocus={rule !== undefined} {...field("category")} />
        <Field
          className="sm:col-span-2"
          label="Reason"
          hint="what an agent is told"
          maxLength={300}
          {...field("reason")}
        />
        <p className="text-xs text-soft sm:col-span-2">
          A bare name covers what is below it where it blocks, and is exact where it allows.
        </p>
        <p role="alert" className="min-h-5 text-xs text-bad sm:col-span-2">
          {elsewhere ? problem.message : ""}
        </p>
        <div className="flex justify-end gap-2 sm:col-span-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            disabled={[pattern, category, reason].some((text) => text.trim() === "") || saving.isPending}
          >
            {saving.isPending ? "Saving…" : rule ? "Change" : "Add"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
