import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { setProfile, type Profile } from "../api/profiles";
import { may } from "../api/session";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field, Select } from "../parts/field";
import { useSession } from "../session/context";
import { fromDraft, GROUNDS, NEW, toDraft, type Draft } from "./words";

const FIELDS = ["name", "mode", "min_age_hours", "severity_floor", "quota", "hold"];
const MODES = [
  { value: "", label: "as each ecosystem says" },
  { value: "enforce", label: "enforce: what is forbidden is refused" },
];
const AUDIT = { value: "audit", label: "audit: what is forbidden passes with a warning" };
const FLOORS = [
  { value: "", label: "as the settings say" },
  ...["low", "medium", "high", "critical"].map((value) => ({ value, label: `${value} and above` })),
];

interface ProfileDialogProps {
  profile: Profile | undefined;
  onDone: () => void;
  onClose: () => void;
}

/** Makes a profile, or has it say something else. It counts as far as it is stricter than everything else. */
export function ProfileDialog({ profile, onDone, onClose }: ProfileDialogProps) {
  const admin = may(useSession(), "admin");
  const [draft, setDraft] = useState<Draft>(() => (profile ? toDraft(profile) : NEW));
  const set = (changed: Partial<Draft>) => setDraft({ ...draft, ...changed });
  const setting = useMutation({
    mutationFn: () => setProfile(fromDraft(draft)),
    onSuccess: () => {
      toast(`Tokens of ${draft.name.trim()} are judged so from now on`);
      onClose();
      onDone();
    },
  });
  const problem = setting.error ? asProblem(setting.error) : undefined;
  const elsewhere = problem && !FIELDS.some((field) => problem.of(field));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!setting.isPending) setting.mutate();
  };
  const count = (key: "downloadsPerHour" | "downloadsPerDay" | "megabytesPerDay" | "minAgeHours") => ({
    type: "number",
    min: 0,
    step: key === "megabytesPerDay" ? "any" : 1,
    value: draft[key],
    onChange: ({ target }: { target: { value: string } }) => set({ [key]: target.value }),
  });
  return (
    <Dialog
      title={profile ? `Change ${profile.name}` : "New profile"}
      description="Its tokens are judged by it beside everything else, on every instance within a second"
      onClose={onClose}
      width="max-w-xl"
    >
      <form onSubmit={submit} className="grid gap-3 p-4 sm:grid-cols-2">
        <Field
          label="Name"
          hint="a-z, 0-9, - and _"
          autoFocus={!profile}
          readOnly={profile !== undefined}
          maxLength={40}
          value={draft.name}
          onChange={({ target }) => set({ name: target.value })}
          problem={problem?.of("name")}
        />
        <div>
          <Select
            visible
            label="Mode"
            value={draft.mode}
            choices={admin || draft.mode === AUDIT.value ? [...MODES, AUDIT] : MODES}
            onChoose={(mode) => set({ mode })}
          />
          {problem?.of("mode") && <p className="mt-0.5 text-xs text-bad">{problem.of("mode")}</p>}
        </div>
        <Field label="Least age" hint="of a version, in hours" {...count("minAgeHours")} problem={problem?.of("min_age_hours")} />
        <div>
          <Select
            visible
            label="Least severity that counts"
            value={draft.severityFloor}
            choices={FLOORS}
            onChoose={(severityFloor) => set({ severityFloor })}
          />
          {problem?.of("severity_floor") && <p className="mt-0.5 text-xs text-bad">{problem.of("severity_floor")}</p>}
        </div>
        <fieldset className="sm:col-span-2">
          <legend className="text-xs font-medium">
            Each token may download <span className="font-normal text-soft">not counted, without</span>
          </legend>
          <div className="mt-1 grid gap-3 sm:grid-cols-3">
            <Field label="Files an hour" {...count("downloadsPerHour")} />
            <Field label="Files a day" {...count("downloadsPerDay")} />
            <Field label="Megabytes a day" {...count("megabytesPerDay")} />
          </div>
          {problem?.of("quota") && <p className="mt-0.5 text-xs text-bad">{problem.of("quota")}</p>}
        </fieldset>
        <fieldset className="sm:col-span-2">
          <legend className="text-xs font-medium">A person has to say yes where</legend>
          <div className="mt-1 grid gap-1">
            {GROUNDS.map(({ name, what }) => (
              <label key={name} className="flex items-start gap-2">
                <input
                  type="checkbox"
                  className="mt-0.5 accent-accent"
                  checked={draft.hold.includes(name)}
                  onChange={({ target }) =>
                    set({ hold: target.checked ? [...draft.hold, name] : draft.hold.filter((other) => other !== name) })
                  }
                />
                <span>
                  <code className="text-xs">{name}</code> <span className="text-xs text-soft">{what}</span>
                </span>
              </label>
            ))}
          </div>
          {problem?.of("hold") && <p className="mt-0.5 text-xs text-bad">{problem.of("hold")}</p>}
        </fieldset>
        <p role="alert" className="min-h-5 text-xs text-bad sm:col-span-2">
          {elsewhere ? problem.message : ""}
        </p>
        <div className="flex justify-end gap-2 sm:col-span-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={draft.name.trim() === "" || setting.isPending}>
            {setting.isPending ? "Saving…" : profile ? "Change" : "Add"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
