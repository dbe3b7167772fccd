import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { answerApproval, type Approval, type Word } from "../api/approvals";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field, Select } from "../parts/field";
import { TIMES } from "./answers";

interface AnswerDialogProps {
  approval: Approval;
  word: Word;
  /** The agent, by name. */
  who: string;
  onDone: () => void;
  onClose: () => void;
}

/** Takes a person's word on a blocked request, with the reason and how long it holds. */
export function AnswerDialog({ approval, word, who, onDone, onClose }: AnswerDialogProps) {
  const [reason, setReason] = useState("");
  const [seconds, setSeconds] = useState("3600");
  // Only what this person sees is replaced: who answers a question that somebody answered meanwhile is told so.
  const replace = approval.state === "allowed" || approval.state === "denied";
  const answering = useMutation({
    mutationFn: () => answerApproval(approval.id, word, { reason: reason.trim(), seconds: Number(seconds), replace }),
    onSuccess: () => {
      toast(`${approval.host} ${word === "allow" ? "may be asked this" : "is not asked this"} by ${who}`);
      onClose();
      onDone();
    },
    // Perhaps somebody was faster: the list behind says so then.
    onError: onDone,
  });
  const problem = answering.error ? asProblem(answering.error) : undefined;
  const elsewhere = problem && !problem.of("reason") && !problem.of("seconds");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!answering.isPending) answering.mutate();
  };
  const verb = word === "allow" ? "Allow" : "Deny";
  return (
    <Dialog title={`${verb} this request to ${approval.host}?`} onClose={onClose} width="max-w-lg">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed break-words">
          <strong className="font-semibold">{who}</strong> asks for{" "}
          <code className="break-all">
            {approval.method} {approval.url}
          </code>
          ; its purpose: {approval.purpose}. It is blocked: {approval.reason}.{" "}
          {word === "allow"
            ? "This very request passes, when the agent sends it again; any other needs an answer of its own. The address is judged as ever, and its code is taken out."
            : "The agent is refused with your reason until the time is over, or somebody says otherwise."}
          {replace && ` This takes the place of what ${approval.answer?.by ?? "somebody"} said.`}
        </p>
        <div className="mt-3 grid gap-3">
          <Field
            label="Reason"
            hint="stands in the log"
            autoFocus
            maxLength={500}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
            problem={problem?.of("reason")}
          />
          <div>
            <Select visible label="It holds for" value={seconds} choices={TIMES} onChoose={setSeconds} />
            {problem?.of("seconds") && <p className="mt-0.5 text-xs text-bad">{problem.of("seconds")}</p>}
          </div>
        </div>
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {elsewhere ? problem.message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={word === "allow" ? "primary" : "danger"} disabled={reason.trim() === "" || answering.isPending}>
            {answering.isPending ? "Recording…" : verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
