import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { requestWaiver } from "../api/waivers";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { ECOSYSTEMS, Field, Select } from "../parts/field";
import { DAYS, idsOf } from "./acts";

const FIELDS = ["package", "versions", "waives", "token", "reason", "owner", "expires_at"];
const NEW = { ecosystem: "pypi", package: "", versions: "*", waives: "", token: "", reason: "", owner: "", days: "7" };

/** Asks for a waiver; says whether it is in force or waits for a second person. */
export function RequestDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const [draft, setDraft] = useState(NEW);
  const asking = useMutation({
    mutationFn: () =>
      requestWaiver({
        ecosystem: draft.ecosystem,
        package: draft.package.trim(),
        versions: draft.versions.trim() || "*",
        waives: idsOf(draft.waives),
        token: draft.token.trim(),
        reason: draft.reason.trim(),
        owner: draft.owner.trim(),
        days: Number(draft.days),
      }),
    onSuccess: ({ state }) => {
      toast(state === "waiting" ? "It waits for a second person" : "The waiver is in force");
      onClose();
      onDone();
    },
  });
  const problem = asking.error ? asProblem(asking.error) : undefined;
  const elsewhere = problem && !FIELDS.some((field) => problem.of(field));
  const field = (name: "package" | "versions" | "waives" | "token" | "reason" | "owner") => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
    problem: problem?.of(name),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!asking.isPending) asking.mutate();
  };
  const said = [draft.package, draft.reason, draft.owner].every((text) => text.trim() !== "");
  return (
    <Dialog
      title="New waiver"
      description="What may pass in spite of a rule or an advisory, for a while. Malware needs a second person always"
      onClose={onClose}
      width="max-w-xl"
    >
      <form onSubmit={submit} className="grid gap-3 p-4 sm:grid-cols-2">
        <Select
          visible
          label="Ecosystem"
          value={draft.ecosystem}
          choices={ECOSYSTEMS}
          onChoose={(ecosystem) => setDraft({ ...draft, ecosystem })}
        />
        <div>
          <Select visible label="It ends in" value={draft.days} choices={DAYS} onChoose={(days) => setDraft({ ...draft, days })} />
          {problem?.of("expires_at") && <p className="mt-0.5 text-xs text-bad">{problem.of("expires_at")}</p>}
        </div>
        <Field label="Package" hint="* stands for any run of characters" autoFocus {...field("package")} />
        <Field label="Versions" hint="as the ecosystem writes them; * is all" {...field("versions")} />
        <Field
          label="Waives"
          hint="ids of rules and advisories; all but malware, without"
          placeholder="GHSA-…, CVE-…"
          {...field("waives")}
        />
        <Field label="Token" hint="the one that may pass, by its id; all, without" {...field("token")} />
        <Field className="sm:col-span-2" label="Reason" hint="stands in the log" maxLength={300} {...field("reason")} />
        <Field className="sm:col-span-2" label="Owner" hint="who answers for it" maxLength={300} {...field("owner")} />
        <p role="alert" className="min-h-5 text-xs text-bad sm:col-span-2">
          {elsewhere ? problem.message : ""}
        </p>
        <div className="flex justify-end gap-2 sm:col-span-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={!said || asking.isPending}>
            {asking.isPending ? "Asking…" : "Ask for it"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
