import { setProfile, type Profile } from "../api/profiles";
import { may } from "../api/session";
import { Check, Field, Select, Wrong } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { useSession } from "../session/context";
import { fromDraft, GROUNDS, NEW, toDraft } from "./words";

const MODES = [
  { value: "", label: "as each ecosystem says" },
  { value: "enforce", label: "enforce: what is forbidden is refused" },
];
const AUDIT = { value: "audit", label: "audit: what is forbidden passes with a warning" };
const FLOORS = [
  { value: "", label: "as the settings say" },
  ...["low", "medium", "high", "critical"].map((value) => ({ value, label: `${value} and above` })),
];
const WHOLE = { type: "number", min: 0, step: 1 };

interface ProfileDialogProps {
  profile?: Profile | undefined;
  onDone: () => unknown;
  onClose: () => void;
}

/** Makes a profile, or has it say something else. It counts as far as it is stricter than everything else. */
export function ProfileDialog({ profile, onDone, onClose }: ProfileDialogProps) {
  const admin = may(useSession(), "admin");
  const form = useForm({
    draft: profile ? toDraft(profile) : NEW,
    act: (draft) => setProfile(fromDraft(draft)),
    said: (_, { name }) => `Tokens of ${name} are judged so from now on`,
    onDone,
    onClose,
  });
  const modes = admin || form.draft.mode === AUDIT.value ? [...MODES, AUDIT] : MODES;
  return (
    <FormDialog
      title={profile ? `Change ${profile.name}` : "New profile"}
      description="Its tokens are judged by it beside everything else, on every instance within a second"
      width="max-w-xl"
      columns
      form={form}
      verb={profile ? "Change" : "Add"}
      doing="Saving…"
      ready={form.values.name !== ""}
      onClose={onClose}
    >
      <Field
        label="Name"
        hint="a-z, 0-9, - and _"
        autoFocus={!profile}
        readOnly={profile !== undefined}
        maxLength={40}
        {...form.field("name")}
      />
      <Select visible label="Mode" choices={modes} {...form.choice("mode")} />
      <Field label="Least age" hint="of a version, in hours" {...WHOLE} {...form.field("min_age_hours")} />
      <Select visible label="Least severity that counts" choices={FLOORS} {...form.choice("severity_floor")} />
      <fieldset className="sm:col-span-2">
        <legend className="text-xs font-medium">
          Each token may download <span className="font-normal text-soft">not counted, without</span>
        </legend>
        <div className="mt-1 grid gap-3 sm:grid-cols-3">
          <Field label="Files an hour" {...WHOLE} {...form.field("downloadsPerHour")} />
          <Field label="Files a day" {...WHOLE} {...form.field("downloadsPerDay")} />
          <Field label="Megabytes a day" {...WHOLE} step="any" {...form.field("megabytesPerDay")} />
        </div>
        <Wrong>{form.of("quota")}</Wrong>
      </fieldset>
      <fieldset className="sm:col-span-2">
        <legend className="text-xs font-medium">A person has to say yes where</legend>
        <div className="mt-1 grid gap-1">
          {GROUNDS.map(({ name, what }) => (
            <Check key={name} {...form.member("hold", name)}>
              <code className="text-xs">{name}</code> <span className="text-xs text-soft">{what}</span>
            </Check>
          ))}
        </div>
        <Wrong>{form.of("hold")}</Wrong>
      </fieldset>
    </FormDialog>
  );
}
