import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { startReplay, type Projection } from "../api/projections";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { grouped } from "../parts/format";

/** Asks before a rebuild, and says what it does and does not do. */
export function ReplayDialog({ projection, onClose }: { projection: Projection; onClose: () => void }) {
  const { name, position, version } = projection;
  const client = useQueryClient();
  const [from, setFrom] = useState("");
  const digits = from.replaceAll(/[\s,_]/g, "");
  const valid = /^\d{0,19}$/.test(digits);
  const replay = useMutation({
    mutationFn: () => startReplay(name, digits === "" ? undefined : BigInt(digits)),
    onSuccess: async () => {
      toast(`Replay of ${name} started`, { id: `replay ${name}` });
      onClose();
      await client.invalidateQueries({ queryKey: ["projections"] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (valid && !replay.isPending) replay.mutate();
  };
  return (
    <Dialog title={`Replay ${name}?`} onClose={onClose} width="max-w-md">
      <form onSubmit={submit} className="p-4">
        <p className="leading-relaxed">
          A new build of <code>{name}</code> v{version} is made from the log beside the live one, up to{" "}
          <span className="numbers">{grouped(position)}</span> and beyond, and swapped in at the end. Readers see no
          gap, and cancelling leaves everything as it is.
        </p>
        <label htmlFor="from" className="mt-4 block text-xs font-medium">
          From position <span className="font-normal text-soft">(empty: from the beginning)</span>
        </label>
        <input
          id="from"
          inputMode="numeric"
          autoComplete="off"
          placeholder="0"
          value={from}
          onChange={({ target }) => setFrom(target.value)}
          aria-invalid={!valid}
          aria-describedby="from-problem"
          className="numbers mt-1 h-8 w-40 rounded border border-line-strong bg-paper px-2 placeholder:text-soft"
        />
        <p id="from-problem" role="alert" className="mt-1.5 min-h-5 text-xs text-bad">
          {!valid ? "A position is a whole number." : replay.error ? asProblem(replay.error).message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Keep as it is</Button>
          <Button type="submit" look="primary" disabled={!valid || replay.isPending}>
            {replay.isPending ? "Starting…" : "Replay"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
