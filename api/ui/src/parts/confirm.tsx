import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { Button } from "./button";
import { Dialog } from "./dialog";

interface ConfirmProps {
  title: string;
  /** The word on the button that does it. */
  verb: string;
  children: ReactNode;
  act: () => Promise<unknown>;
  onDone: () => void;
  onClose: () => void;
}

/** Asks before what cannot be taken back; what goes wrong is said in the dialog. */
export function Confirm({ title, verb, children, act, onDone, onClose }: ConfirmProps) {
  const acting = useMutation({
    mutationFn: act,
    onSuccess: () => {
      onClose();
      onDone();
    },
  });
  return (
    <Dialog title={title} onClose={onClose} width="max-w-md">
      <div className="p-4">
        <div className="leading-relaxed">{children}</div>
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {acting.error ? asProblem(acting.error).message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Keep as it is</Button>
          <Button look="danger" disabled={acting.isPending} onClick={() => acting.mutate()}>
            {verb}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
