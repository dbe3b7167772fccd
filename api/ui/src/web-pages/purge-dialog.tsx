import { purgeWebPages } from "../api/web-pages";
import { Field, Select } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { plural } from "../parts/format";

export interface Purge {
  what: "url" | "host";
  value: string;
}

interface PurgeDialogProps {
  /** What is chosen at first. */
  purge: Purge;
  onDone: () => unknown;
  onClose: () => void;
}

const CHOICES = [
  { value: "url", label: "one page" },
  { value: "host", label: "all pages of a host" },
];

/** Asks what is to be forgotten, and says what that means. */
export function PurgeDialog({ purge, onDone, onClose }: PurgeDialogProps) {
  const form = useForm({
    draft: purge,
    act: ({ what, value }) => purgeWebPages(what === "url" ? { url: value } : { host: value }),
    said: (count) => (count === 0 ? "Nothing like that was cached" : `${plural(count, "rendering")} forgotten`),
    onDone,
    onClose,
  });
  const { what, value } = form.draft;
  const ofPage = what === "url";
  return (
    <FormDialog
      title="Purge pages"
      width="max-w-lg"
      form={form}
      intro={
        <>
          Every instance forgets it, in all its renderings, everybody&apos;s and agents&apos; own. Who asks for it next
          has it fetched anew, and pays for that. The purge is on record.
        </>
      }
      verb="Forget"
      doing="Forgetting…"
      keep="Keep as it is"
      look="danger"
      ready={form.values.value !== ""}
      onClose={onClose}
    >
      <Select
        label="What"
        visible
        value={what}
        choices={CHOICES}
        onChoose={(chosen) => form.set({ what: chosen as Purge["what"], value: other(value, chosen) })}
      />
      <Field
        label={ofPage ? "Address" : "Host"}
        hint={ofPage ? "as it stands in the list" : "its name alone; hosts below it are others"}
        {...form.field("value")}
        problem={form.of(what)}
      />
    </FormDialog>
  );
}

/** The host of an address that stands there already. */
function other(value: string, chosen: string): string {
  if (chosen !== "host" || !URL.canParse(value)) return value;
  return new URL(value).hostname;
}
