import type { FormEvent, ReactNode } from "react";
import { Button } from "./button";
import { Dialog } from "./dialog";

interface FormDialogProps {
  title: string;
  description?: ReactNode;
  width?: string;
  form: { send: () => void; pending: boolean; elsewhere: () => string };
  /** What it means to go on. */
  intro?: ReactNode;
  /** The word on the button that does it, and on the one that does not. */
  verb: string;
  keep?: "Cancel" | "Keep as it is";
  /** In place of the verb while it is done. */
  doing?: string;
  look?: "primary" | "danger";
  /** What has to be said is said. */
  ready?: boolean;
  columns?: boolean;
  /** For a field that is described by what went wrong. */
  alertId?: string;
  /** Stands beside the buttons. */
  beside?: ReactNode;
  onClose: () => void;
  /** The fields. */
  children?: ReactNode;
}

/** A dialog that sends something. What is wrong with a field stands under it, everything else above the buttons. */
export function FormDialog({
  form,
  intro,
  verb,
  keep = "Cancel",
  doing = verb,
  look = "primary",
  ready = true,
  columns = false,
  alertId,
  beside,
  onClose,
  children,
  width = "max-w-md",
  ...head
}: FormDialogProps) {
  const able = ready && !form.pending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (able) form.send();
  };
  return (
    <Dialog {...head} onClose={onClose} width={width}>
      <form onSubmit={submit} className="p-4">
        {intro && <div className="leading-relaxed">{intro}</div>}
        {children && <div className={`grid gap-3 ${intro ? "mt-3" : ""} ${columns ? "sm:grid-cols-2" : ""}`}>{children}</div>}
        <p id={alertId} role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {form.elsewhere()}
        </p>
        <div className="mt-2 flex flex-wrap items-center justify-end gap-2">
          {beside}
          <Button onClick={onClose}>{keep}</Button>
          <Button type="submit" look={look} disabled={!able}>
            {form.pending ? doing : verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
