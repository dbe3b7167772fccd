import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import type { Agent } from "../api/agents";
import { grantSpark, type SparkAccount } from "../api/mint";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { grouped } from "../parts/format";
import { whole } from "./words";

interface GrantDialogProps {
  agent: Agent;
  account: SparkAccount | undefined;
  onDone: () => void;
  onClose: () => void;
}

export function GrantDialog({ agent, account, onDone, onClose }: GrantDialogProps) {
  const [amount, setAmount] = useState("100");
  const [reason, setReason] = useState("");
  const granting = useMutation({
    mutationFn: () => grantSpark(agent.id, Number(amount), reason.trim()),
    onSuccess: (balance) => {
      toast(`${agent.name} has ${grouped(balance)} spark`);
      onClose();
      onDone();
    },
  });
  const problem = granting.error ? asProblem(granting.error) : undefined;
  const elsewhere = problem && !problem.of("amount") && !problem.of("reason");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!granting.isPending) granting.mutate();
  };
  return (
    <Dialog title={`Grant spark to ${agent.name}`} onClose={onClose} width="max-w-md">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          {account
            ? `It has ${grouped(account.balance)} spark, ${grouped(account.reserved)} of it set aside.`
            : "It was never granted any, as far as this page knows."}{" "}
          A page costs 2 spark, a POST 3, a HEAD 1; what is cached costs none.
        </p>
        <div className="mt-3 grid gap-3">
          <Field
            label="Spark"
            inputMode="numeric"
            value={amount}
            onChange={({ target }) => setAmount(target.value)}
            problem={problem?.of("amount")}
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
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={whole(amount) === undefined || reason.trim() === "" || granting.isPending}>
            {granting.isPending ? "Granting…" : "Grant"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
