import type { ReactNode } from "react";
import { useForm } from "./form";
import { FormDialog } from "./form-dialog";

interface ConfirmProps {
  title: string;
  /** The word on the button that does it. */
  verb: string;
  /** What is said when it is done. */
  said: string;
  children: ReactNode;
  act: () => Promise<unknown>;
  onDone: () => unknown;
  onClose: () => void;
}

/** Asks before what cannot be taken back; what goes wrong is said in the dialog. */
export function Confirm({ title, verb, said, children, act, onDone, onClose }: ConfirmProps) {
  const form = useForm({ draft: {}, act, said: () => said, onDone, onClose });
  return <FormDialog title={title} form={form} intro={children} verb={verb} look="danger" keep="Keep as it is" onClose={onClose} />;
}
