import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { registerAgent } from "../api/agents";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { Command } from "../parts/command";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { keyLines } from "./lines";
import { looksLikeKey, short } from "./words";

/** Takes a public key; the secret one stays where the agent runs, and the lines to make it stand beside. */
export function RegisterDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const registering = useMutation({
    mutationFn: () => registerAgent(name.trim(), key.trim()),
    onSuccess: (id) => {
      toast(`${name.trim()} is registered as ${short(id)}`);
      onClose();
      onDone();
    },
  });
  const problem = registering.error ? asProblem(registering.error) : undefined;
  const elsewhere = problem && !problem.of("name") && !problem.of("public_key");
  const shape = key.trim() === "" || looksLikeKey(key) ? undefined : "a key is 64 lower-case hexadecimal digits";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!registering.isPending) registering.mutate();
  };
  return (
    <Dialog title="Register an agent" onClose={onClose} width="max-w-xl">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          An agent is its ed25519 key: what it asks of the outside is signed with the secret half, which never leaves it.
        </p>
        <div className="mt-3 grid gap-3">
          <Field
            label="Name"
            hint="what it is called here"
            autoFocus
            maxLength={80}
            value={name}
            onChange={({ target }) => setName(target.value)}
            problem={problem?.of("name")}
          />
          <Field
            label="Public key"
            hint="64 hexadecimal digits, as weir agent keygen shows it"
            className="[&_input]:font-mono [&_input]:text-xs"
            value={key}
            onChange={({ target }) => setKey(target.value)}
            problem={problem?.of("public_key") ?? shape}
          />
        </div>
        <p className="mt-4 mb-1 text-xs text-soft">
          Or where the agent runs, in one go: makes a key, registers it, and issues a token of the agent’s own.
        </p>
        <Command what="make and register a key" lines={keyLines(name.trim() || "reader")} />
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {elsewhere ? problem.message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={name.trim() === "" || key.trim() === "" || registering.isPending}>
            {registering.isPending ? "Registering…" : "Register"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
