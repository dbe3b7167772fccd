import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { purgeWebPages } from "../api/web-pages";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field, Select } from "../parts/field";
import { plural } from "../parts/format";

export interface Purge {
  what: "url" | "host";
  value: string;
}

interface PurgeDialogProps {
  /** What is chosen at first. */
  purge: Purge;
  onDone: () => void;
  onClose: () => void;
}

const CHOICES = [
  { value: "url", label: "one page" },
  { value: "host", label: "all pages of a host" },
];

/** Asks what is to be forgotten, and says what that means. */
export function PurgeDialog({ purge, onDone, onClose }: PurgeDialogProps) {
  const [{ what, value }, setPurge] = useState(purge);
  const ofPage = what === "url";
  const meant = value.trim();
  const purging = useMutation({
    mutationFn: () => purgeWebPages(ofPage ? { url: meant } : { host: meant }),
    onSuccess: (count) => {
      toast(count === 0 ? "Nothing like that was cached" : `${plural(count, "rendering")} forgotten`);
      onClose();
      onDone();
    },
  });
  const ready = meant !== "" && !purging.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) purging.mutate();
  };
  return (
    <Dialog title="Purge pages" onClose={onClose} width="max-w-lg">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          Every instance forgets it, in all its renderings, everybody&apos;s and agents&apos; own. Who asks for it next has
          it fetched anew, and pays for that. The purge is on record.
        </p>
        <div className="mt-3 grid gap-3">
          <Select
            label="What"
            visible
            value={what}
            choices={CHOICES}
            onChoose={(chosen) => setPurge({ what: chosen as Purge["what"], value: other(value, chosen) })}
          />
          <Field
            label={ofPage ? "Address" : "Host"}
            hint={ofPage ? "as it stands in the list" : "its name alone; hosts below it are others"}
            value={value}
            onChange={({ target }) => setPurge({ what, value: target.value })}
          />
        </div>
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {purging.error ? asProblem(purging.error).message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Keep as it is</Button>
          <Button type="submit" look="danger" disabled={!ready}>
            {purging.isPending ? "Forgetting…" : "Forget"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The host of an address that stands there already. */
function other(value: string, chosen: string): string {
  if (chosen !== "host" || !URL.canParse(value)) return value;
  return new URL(value).hostname;
}
