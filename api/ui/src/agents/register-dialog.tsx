import { registerAgent } from "../api/agents";
import { Command } from "../parts/command";
import { Field } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { keyLines } from "./lines";
import { looksLikeKey, short } from "./words";

/** Takes a public key; the secret one stays where the agent runs, and the lines to make it stand beside. */
export function RegisterDialog({ onDone, onClose }: { onDone: () => unknown; onClose: () => void }) {
  const form = useForm({
    draft: { name: "", public_key: "" },
    act: ({ name, public_key }) => registerAgent(name, public_key),
    said: (id, { name }) => `${name} is registered as ${short(id)}`,
    onDone,
    onClose,
  });
  const { name, public_key } = form.values;
  const shape = public_key === "" || looksLikeKey(public_key) ? undefined : "a key is 64 lower-case hexadecimal digits";
  const key = form.field("public_key");
  return (
    <FormDialog
      title="Register an agent"
      width="max-w-xl"
      form={form}
      intro="An agent is its ed25519 key: what it asks of the outside is signed with the secret half, which never leaves it."
      verb="Register"
      doing="Registering…"
      ready={name !== "" && public_key !== ""}
      onClose={onClose}
    >
      <Field label="Name" hint="what it is called here" autoFocus maxLength={80} {...form.field("name")} />
      <Field
        label="Public key"
        hint="64 hexadecimal digits, as weir agent keygen shows it"
        className="[&_input]:font-mono [&_input]:text-xs"
        {...key}
        problem={key.problem ?? shape}
      />
      <div className="min-w-0">
        <p className="mb-1 text-xs text-soft">
          Or where the agent runs, in one go: makes a key, registers it, and issues a token of the agent’s own.
        </p>
        <Command what="make and register a key" lines={keyLines(name || "reader")} />
      </div>
    </FormDialog>
  );
}
