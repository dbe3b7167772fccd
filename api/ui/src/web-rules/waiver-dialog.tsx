import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { requestWebWaiver, type Permits } from "../api/web-waivers";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field, Select } from "../parts/field";
import { DAYS } from "../waivers/acts";

const FIELDS = ["pattern", "agent", "reason", "owner", "expires_at"];
const PERMITS = [
  { value: "host", label: "reaching a blocked host" },
  { value: "code", label: "keeping code that is fetched" },
];

interface WaiverDialogProps {
  /** The hosts it is about, where that is known. */
  pattern?: string;
  onDone: () => void;
  onClose: () => void;
}

/** Asks for a waiver, which then waits for a second person. */
export function WaiverDialog({ pattern = "", onDone, onClose }: WaiverDialogProps) {
  const [draft, setDraft] = useState({ permits: "host", pattern, agent: "", reason: "", owner: "", days: "7" });
  const ofCode = draft.permits === "code";
  const asking = useMutation({
    mutationFn: () =>
      requestWebWaiver({
        permits: draft.permits as Permits,
        pattern: draft.pattern.trim(),
        // Hosts are for all agents.
        agent: ofCode ? draft.agent.trim().toLowerCase() : "",
        reason: draft.reason.trim(),
        owner: draft.owner.trim(),
        days: Number(draft.days),
      }),
    onSuccess: () => {
      toast("It waits for a second person");
      onClose();
      onDone();
    },
  });
  const problem = asking.error ? asProblem(asking.error) : undefined;
  const elsewhere = problem && !FIELDS.some((field) => problem.of(field));
  const field = (name: "pattern" | "agent" | "reason" | "owner") => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
    problem: problem?.of(name),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!asking.isPending) asking.mutate();
  };
  const said = [draft.reason, draft.owner, ofCode ? draft.pattern + draft.agent : draft.pattern];
  return (
    <Dialog
      title="New waiver"
      description="It waits until a second person grants it, and ends by itself"
      onClose={onClose}
      width="max-w-xl"
    >
      <form onSubmit={submit} className="grid gap-3 p-4 sm:grid-cols-2">
        <Select
          visible
          label="It permits"
          value={draft.permits}
          choices={PERMITS}
          onChoose={(permits) => setDraft({ ...draft, permits })}
        />
        <div>
          <Select visible label="It ends in" value={draft.days} choices={DAYS} onChoose={(days) => setDraft({ ...draft, days })} />
          {problem?.of("expires_at") && <p className="mt-0.5 text-xs text-bad">{problem.of("expires_at")}</p>}
        </div>
        <Field
          className={ofCode ? "" : "sm:col-span-2"}
          label="Hosts"
          hint={ofCode ? "a pattern; all, without" : "a pattern, as a rule that allows has it"}
          autoFocus
          {...field("pattern")}
        />
        {ofCode && <Field label="Agent" hint="64 hexadecimal digits; all, without" {...field("agent")} />}
        <Field className="sm:col-span-2" label="Reason" hint="stands in the log" maxLength={300} {...field("reason")} />
        <Field className="sm:col-span-2" label="Owner" hint="who answers for it" maxLength={300} {...field("owner")} />
        <p role="alert" className="min-h-5 text-xs text-bad sm:col-span-2">
          {elsewhere ? problem.message : ""}
        </p>
        <div className="flex justify-end gap-2 sm:col-span-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={said.some((text) => text.trim() === "") || asking.isPending}>
            {asking.isPending ? "Asking…" : "Ask for it"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
