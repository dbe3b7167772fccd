import { answerHold, type Hold, type Word } from "../api/holds";
import { Field, Select } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { askedBecause, TIMES } from "./answers";

interface AnswerDialogProps {
  hold: Hold;
  word: Word;
  onDone: () => unknown;
  onClose: () => void;
}

/** Takes a person's word on what waits, with the reason and how long it holds. */
export function AnswerDialog({ hold, word, onDone, onClose }: AnswerDialogProps) {
  const allows = word === "allow";
  // Only what this person sees is replaced: who answers a question that somebody answered meanwhile is told so.
  const replace = hold.state !== "pending";
  const form = useForm({
    draft: { reason: "", hours: "168" },
    act: ({ reason, hours }) => answerHold(hold.id, word, { reason, hours: Number(hours), replace }),
    said: () => `${hold.package} ${allows ? "may pass" : "does not pass"} for ${hold.principal}`,
    onDone,
    onFault: onDone,
    onClose,
  });
  const verb = allows ? "Allow" : "Deny";
  return (
    <FormDialog
      title={`${verb} ${hold.package} ${hold.version ?? ""}?`}
      form={form}
      intro={
        <>
          <strong className="font-semibold">{hold.principal}</strong> asked for <code className="break-all">{hold.file}</code>{" "}
          of {hold.ecosystem}; {askedBecause(hold)}.{" "}
          {allows
            ? "It passes for this one token, on every instance within a second."
            : "The token is refused with your reason until the time is over, or somebody says otherwise."}
          {replace && ` This takes the place of what ${hold.answeredBy ?? "somebody"} said.`}
        </>
      }
      verb={verb}
      doing="Recording…"
      look={allows ? "primary" : "danger"}
      ready={form.values.reason !== ""}
      onClose={onClose}
    >
      <Field
        label="Reason"
        hint={allows ? "stands in the log" : "the agent is told it, and it stands in the log"}
        autoFocus
        maxLength={300}
        {...form.field("reason")}
      />
      <Select visible label="It holds for" choices={TIMES} {...form.choice("hours")} />
    </FormDialog>
  );
}
