import type { ReactNode } from "react";
import { Field } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";

interface RevokeDialogProps {
  /** It waits: to take it back is to say no. */
  waits: boolean;
  revoke: (reason: string) => Promise<void>;
  /** What becomes of what it is about. */
  children: ReactNode;
  onDone: () => unknown;
  onClose: () => void;
}

/** Takes a waiver back, or says no to one that waits. */
export function RevokeDialog({ waits, revoke, children, onDone, onClose }: RevokeDialogProps) {
  const form = useForm({
    draft: { reason: "" },
    act: ({ reason }) => revoke(reason),
    said: () => "The waiver is in force no more",
    onDone,
    onClose,
  });
  return (
    <FormDialog
      title={waits ? "Refuse the waiver?" : "Revoke the waiver?"}
      form={form}
      intro={<>{children} It cannot be given back; another can be asked for.</>}
      verb={waits ? "Refuse" : "Revoke"}
      keep="Keep as it is"
      look="danger"
      ready={form.values.reason !== ""}
      onClose={onClose}
    >
      <Field label="Reason" hint="stands in the log" autoFocus maxLength={300} {...form.field("reason")} />
    </FormDialog>
  );
}
