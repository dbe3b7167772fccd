import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { answerHold, type Hold, type Word } from "../api/holds";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field, Select } from "../parts/field";
import { askedBecause, TIMES } from "./answers";

interface AnswerDialogProps {
  hold: Hold;
  word: Word;
  onDone: () => void;
  onClose: () => void;
}

/** Takes a person's word on what waits, with the reason and how long it holds. */
export function AnswerDialog({ hold, word, onDone, onClose }: AnswerDialogProps) {
  const [reason, setReason] = useState("");
  const [hours, setHours] = useState("168");
  // Only what this person sees is replaced: who answers a question that somebody answered meanwhile is told so.
  const replace = hold.state !== "pending";
  const answering = useMutation({
    mutationFn: () => answerHold(hold.id, word, { reason: reason.trim(), hours: Number(hours), replace }),
    onSuccess: () => {
      toast(`${hold.package} ${word === "allow" ? "may pass" : "does not pass"} for ${hold.principal}`);
      onClose();
      onDone();
    },
    // Perhaps somebody was faster: the list behind says so then.
    onError: onDone,
  });
  const problem = answering.error ? asProblem(answering.error) : undefined;
  const elsewhere = problem && !problem.of("reason") && !problem.of("hours");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!answering.isPending) answering.mutate();
  };
  const verb = word === "allow" ? "Allow" : "Deny";
  return (
    <Dialog title={`${verb} ${hold.package} ${hold.version ?? ""}?`} onClose={onClose} width="max-w-md">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          <strong className="font-semibold">{hold.principal}</strong> asked for <code className="break-all">{hold.file}</code>{" "}
          of {hold.ecosystem}; {askedBecause(hold)}.{" "}
          {word === "allow"
            ? "It passes for this one token, on every instance within a second."
            : "The token is refused with your reason until the time is over, or somebody says otherwise."}
          {replace && ` This takes the place of what ${hold.answeredBy ?? "somebody"} said.`}
        </p>
        <div className="mt-3 grid gap-3">
          <Field
            label="Reason"
            hint={word === "allow" ? "stands in the log" : "the agent is told it, and it stands in the log"}
            autoFocus
            maxLength={300}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
            problem={problem?.of("reason")}
          />
          <div>
            <Select visible label="It holds for" value={hours} choices={TIMES} onChoose={setHours} />
            {problem?.of("hours") && <p className="mt-0.5 text-xs text-bad">{problem.of("hours")}</p>}
          </div>
        </div>
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {elsewhere ? problem.message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look={word === "allow" ? "primary" : "danger"}
            disabled={reason.trim() === "" || answering.isPending}
          >
            {answering.isPending ? "Recording…" : verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
