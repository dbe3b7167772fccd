import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { advanceEpoch, type Access, type Nexus } from "../api/nexus";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { plural } from "../parts/format";
import { levelOf, levelWords, quotaOf, whole } from "./words";

interface AdvanceDialogProps {
  nexus: Nexus;
  access: Access | undefined;
  onDone: () => void;
  onClose: () => void;
}

/** Asks for the epoch and the reason, says what it lets agents do, and that nothing takes it back. */
export function AdvanceDialog({ nexus, access, onDone, onClose }: AdvanceDialogProps) {
  const [epoch, setEpoch] = useState(String(nexus.epoch + 1));
  const [reason, setReason] = useState("");
  const advancing = useMutation({
    mutationFn: () => advanceEpoch(Number(epoch), reason.trim()),
    onSuccess: (now) => {
      toast(`It is epoch ${now.epoch}`);
      onClose();
      onDone();
    },
    // Perhaps somebody was faster: what stands behind says so then.
    onError: onDone,
  });
  const problem = advancing.error ? asProblem(advancing.error) : undefined;
  const elsewhere = problem && !problem.of("epoch") && !problem.of("reason");
  const wanted = whole(epoch);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!advancing.isPending) advancing.mutate();
  };
  return (
    <Dialog title="Advance the epoch?" onClose={onClose} width="max-w-md">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          It is epoch {nexus.epoch}: {levelWords(access?.level ?? levelOf(nexus.epoch))}.
          {wanted !== undefined && wanted > nexus.epoch && (
            <>
              {" "}
              From epoch {wanted} on, <strong className="font-semibold">{levelWords(levelOf(wanted))}</strong>, and each has{" "}
              {plural(quotaOf(wanted), "request")} in a cycle.
            </>
          )}{" "}
          Epochs only advance: nothing takes this back.
        </p>
        <div className="mt-3 grid gap-3">
          <Field
            label="Epoch"
            hint={`later than ${nexus.epoch}`}
            inputMode="numeric"
            value={epoch}
            onChange={({ target }) => setEpoch(target.value)}
            problem={problem?.of("epoch")}
          />
          <Field
            label="Reason"
            hint="stands in the log"
            autoFocus
            maxLength={500}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
            problem={problem?.of("reason")}
          />
        </div>
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {elsewhere ? problem.message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Keep as it is</Button>
          <Button type="submit" look="danger" disabled={wanted === undefined || reason.trim() === "" || advancing.isPending}>
            {advancing.isPending ? "Advancing…" : `Advance to epoch ${wanted ?? "…"}`}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
