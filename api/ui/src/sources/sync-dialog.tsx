import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { syncSource, type Source } from "../api/sources";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";

interface SyncDialogProps {
  source: Source;
  onAsked: () => void;
  onClose: () => void;
}

/** Has a source visited now; says what that costs, and what to say to a source that lost much. */
export function SyncDialog({ source: { name }, onAsked, onClose }: SyncDialogProps) {
  const [believe, setBelieve] = useState(false);
  const asking = useMutation({
    mutationFn: () => syncSource(name, believe),
    onSuccess: () => {
      toast(`${name} is visited as soon as whoever visits it has heard`);
      onClose();
      onAsked();
    },
  });
  return (
    <Dialog title={`Sync ${name} now?`} onClose={onClose} width="max-w-md">
      <div className="p-4">
        <p className="leading-relaxed">
          All it has is read anew, whether it has changed or not. Only what is news comes to the log; what stands stays in
          force until then, also when the visit fails.
        </p>
        <label className="mt-3 flex gap-2">
          <input type="checkbox" checked={believe} onChange={({ target }) => setBelieve(target.checked)} className="mt-1" />
          <span>
            Believe losses
            <span className="block text-xs text-soft">
              I have looked, and what is gone from the source is gone indeed. Without it, a source that suddenly lacks a
              fifth of what it said changes nothing.
            </span>
          </span>
        </label>
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {asking.error ? asProblem(asking.error).message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={asking.isPending} onClick={() => asking.mutate()}>
            {asking.isPending ? "Asking…" : "Sync"}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
