import { purgeCache } from "../api/cache";
import { Check, ECOSYSTEMS, Field, Select } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { bytes, plural } from "../parts/format";

interface PurgeDialogProps {
  /** What is chosen at first; empty for everything. */
  ecosystem: string;
  onDone: () => unknown;
  onClose: () => void;
}

const CHOICES = [{ value: "", label: "all ecosystems" }, ...ECOSYSTEMS];

/** Asks what is to be forgotten, and says what that means. Everything goes only where that is said twice. */
export function PurgeDialog({ ecosystem: first, onDone, onClose }: PurgeDialogProps) {
  const form = useForm({
    draft: { ecosystem: first, package: "", versions: "", everything: false },
    act: ({ ecosystem, package: name, versions }) =>
      purgeCache({ ecosystem: ecosystem === "" ? undefined : ecosystem, package: name, versions }),
    said: ({ files, bytes: size, documents }) =>
      `${plural(files, "file")} (${bytes(size)}) and ${plural(documents, "list")} are forgotten`,
    onDone,
    onClose,
  });
  const all = form.draft.ecosystem === "";
  return (
    <FormDialog
      title="Purge the cache"
      form={form}
      intro={
        <>
          Every instance forgets it, and fetches it anew when it is asked for. Who downloads one of the files now gets
          the whole of it. The purge is on record.
        </>
      }
      verb={all ? "Forget everything" : "Forget"}
      doing="Forgetting…"
      keep="Keep as it is"
      look="danger"
      ready={!all || form.draft.everything}
      onClose={onClose}
    >
      <Select label="Ecosystem" visible choices={CHOICES} {...form.choice("ecosystem")} />
      {all ? (
        <Check hint="All files and all lists, of every ecosystem." {...form.check("everything")}>
          I mean everything
        </Check>
      ) : (
        <>
          <Field label="Package" hint="* for any run of characters; all, without" {...form.field("package")} />
          <Field
            label="Versions"
            hint="as the ecosystem writes them; all, without"
            disabled={form.values.package === ""}
            {...form.field("versions")}
          />
        </>
      )}
    </FormDialog>
  );
}
