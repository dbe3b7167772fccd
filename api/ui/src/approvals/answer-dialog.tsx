import { answerApproval, type Approval, type Word } from "../api/approvals";
import { Field, Select } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { TIMES } from "./answers";

interface AnswerDialogProps {
  approval: Approval;
  word: Word;
  /** The agent, by name. */
  who: string;
  onDone: () => unknown;
  onClose: () => void;
}

/** Takes a person's word on a blocked request, with the reason and how long it holds. */
export function AnswerDialog({ approval, word, who, onDone, onClose }: AnswerDialogProps) {
  const allows = word === "allow";
  // Only what this person sees is replaced: who answers a question that somebody answered meanwhile is told so.
  const replace = approval.state === "allowed" || approval.state === "denied";
  const form = useForm({
    draft: { reason: "", seconds: "3600" },
    act: ({ reason, seconds }) => answerApproval(approval.id, word, { reason, seconds: Number(seconds), replace }),
    said: () => `${approval.host} ${allows ? "may be asked this" : "is not asked this"} by ${who}`,
    onDone,
    onFault: onDone,
    onClose,
  });
  const verb = allows ? "Allow" : "Deny";
  return (
    <FormDialog
      title={`${verb} this request to ${approval.host}?`}
      width="max-w-lg"
      form={form}
      intro={
        <p className="break-words">
          <strong className="font-semibold">{who}</strong> asks for{" "}
          <code className="break-all">
            {approval.method} {approval.url}
          </code>
          ; its purpose: {approval.purpose}. It is blocked: {approval.reason}.{" "}
          {allows
            ? "This very request passes, when the agent sends it again; any other needs an answer of its own. The address is judged as ever, and its code is taken out."
            : "The agent is refused with your reason until the time is over, or somebody says otherwise."}
          {replace && ` This takes the place of what ${approval.answer?.by ?? "somebody"} said.`}
        </p>
      }
      verb={verb}
      doing="Recording…"
      look={allows ? "primary" : "danger"}
      ready={form.values.reason !== ""}
      onClose={onClose}
    >
      <Field label="Reason" hint="stands in the log" autoFocus maxLength={500} {...form.field("reason")} />
      <Select visible label="It holds for" choices={TIMES} {...form.choice("seconds")} />
    </FormDialog>
  );
}
