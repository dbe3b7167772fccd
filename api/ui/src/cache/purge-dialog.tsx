import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { purgeCache } from "../api/cache";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { ECOSYSTEMS, Field, Select } from "../parts/field";
import { bytes, plural } from "../parts/format";

interface PurgeDialogProps {
  /** What is chosen at first; empty for everything. */
  ecosystem: string;
  onDone: () => void;
  onClose: () => void;
}

const CHOICES = [{ value: "", label: "all ecosystems" }, ...ECOSYSTEMS];

/** Asks what is to be forgotten, and says what that means. Everything goes only where that is said twice. */
export function PurgeDialog({ ecosystem: first, onDone, onClose }: PurgeDialogProps) {
  const [ecosystem, setEcosystem] = useState(first);
  const [name, setName] = useState("");
  const [versions, setVersions] = useState("");
  const [everything, setEverything] = useState(false);
  const all = ecosystem === "";
  const purging = useMutation({
    mutationFn: () => purgeCache({ ecosystem: all ? undefined : ecosystem, package: name.trim(), versions: versions.trim() }),
    onSuccess: ({ files, bytes: size, documents }) => {
      toast(`${plural(files, "file")} (${bytes(size)}) and ${plural(documents, "list")} are forgotten`);
      onClose();
      onDone();
    },
  });
  const ready = !purging.isPending && (!all || everything);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) purging.mutate();
  };
  return (
    <Dialog title="Purge the cache" onClose={onClose} width="max-w-md">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          Every instance forgets it, and fetches it anew when it is asked for. Who downloads one of the files now gets the
          whole of it. The purge is on record.
        </p>
        <div className="mt-3 grid gap-3">
          <Select label="Ecosystem" visible value={ecosystem} choices={CHOICES} onChoose={setEcosystem} />
          {all ? (
            <label className="flex gap-2">
              <input
                type="checkbox"
                checked={everything}
                onChange={({ target }) => setEverything(target.checked)}
                className="mt-1"
              />
              <span>
                I mean everything
                <span className="block text-xs text-soft">All files and all lists, of every ecosystem.</span>
              </span>
            </label>
          ) : (
            <>
              <Field
                label="Package"
                hint="* for any run of characters; all, without"
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
              <Field
                label="Versions"
                hint="as the ecosystem writes them; all, without"
                disabled={name.trim() === ""}
                value={versions}
                onChange={({ target }) => setVersions(target.value)}
              />
            </>
          )}
        </div>
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {purging.error ? asProblem(purging.error).message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Keep as it is</Button>
          <Button type="submit" look="danger" disabled={!ready}>
            {purging.isPending ? "Forgetting…" : all ? "Forget everything" : "Forget"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
