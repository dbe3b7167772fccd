import type { Agent } from "../api/agents";
import { grantSpark, type SparkAccount } from "../api/mint";
import { Field } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { grouped } from "../parts/format";
import { whole } from "./words";

interface GrantDialogProps {
  agent: Agent;
  account: SparkAccount | undefined;
  onDone: () => unknown;
  onClose: () => void;
}

export function GrantDialog({ agent, account, onDone, onClose }: GrantDialogProps) {
  const form = useForm({
    draft: { amount: "100", reason: "" },
    act: ({ amount, reason }) => grantSpark(agent.id, Number(amount), reason),
    said: (balance) => `${agent.name} has ${grouped(balance)} spark`,
    onDone,
    onClose,
  });
  return (
    <FormDialog
      title={`Grant spark to ${agent.name}`}
      form={form}
      intro={
        <>
          {account
            ? `It has ${grouped(account.balance)} spark, ${grouped(account.reserved)} of it set aside.`
            : "It was never granted any, as far as this page knows."}{" "}
          A page costs 2 spark, a POST 3, a HEAD 1; what is cached costs none.
        </>
      }
      verb="Grant"
      doing="Granting…"
      ready={whole(form.values.amount) !== undefined && form.values.reason !== ""}
      onClose={onClose}
    >
      <Field label="Spark" inputMode="numeric" {...form.field("amount")} />
      <Field label="Reason" hint="stands in the log" autoFocus maxLength={500} {...form.field("reason")} />
    </FormDialog>
  );
}
