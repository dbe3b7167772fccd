import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";

interface RevokeDialogProps {
  /** It waits: to take it back is to say no. */
  waits: boolean;
  revoke: (reason: string) => Promise<void>;
  /** What becomes of what it is about. */
  children: ReactNode;
  onDone: () => void;
  onClose: () => void;
}

/** Takes a waiver back, or says no to one that waits. */
export function RevokeDialog({ waits, revoke, children, onDone, onClose }: RevokeDialogProps) {
  const [reason, setReason] = useState("");
  const revoking = useMutation({
    mutationFn: () => revoke(reason.trim()),
    onSuccess: () => {
      toast("The waiver is in force no more");
      onClose();
      onDone();
    },
  });
  const problem = revoking.error ? asProblem(revoking.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!revoking.isPending) revoking.mutate();
  };
  return (
    <Dialog title={waits ? "Refuse the waiver?" : "Revoke the waiver?"} onClose={onClose} width="max-w-md">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          {children} It cannot be given back; another can be asked for.
        </p>
        <Field
          className="mt-3"
          label="Reason"
          hint="stands in the log"
          autoFocus
          maxLength={300}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          problem={problem?.of("reason")}
        />
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {problem && !problem.of("reason") ? problem.message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Keep as it is</Button>
          <Button type="submit" look="danger" disabled={reason.trim() === "" || revoking.isPending}>
            {waits ? "Refuse" : "Revoke"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
