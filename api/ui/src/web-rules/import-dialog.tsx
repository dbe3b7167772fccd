import { useMutation } from "@tanstack/react-query";
import { useId, useState, type ChangeEvent, type FormEvent } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { importWebRules } from "../api/web-rules";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { grouped, plural } from "../parts/format";
import { counted } from "./words";

const EXAMPLE = '{"pattern": "docs.example.org", "action": "allow", "category": "documentation", "reason": "our own"}';

/** Sets many rules at once. One line that makes no sense changes nothing, and is named. */
export function ImportDialog({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const id = useId();
  const [lines, setLines] = useState("");
  const importing = useMutation({
    mutationFn: () => importWebRules(lines),
    onSuccess: ({ rules, changed }) => {
      toast(`${plural(rules, "rule")} in force, ${grouped(changed)} of them new or changed`);
      onClose();
      onDone();
    },
  });
  const write = (text: string) => {
    setLines(text);
    importing.reset();
  };
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (file) write(await file.text());
  };
  const count = counted(lines);
  const fault = "fault" in count ? count.fault : importing.error ? asProblem(importing.error).message : "";
  const ready = "rules" in count && count.rules > 0 && !importing.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) importing.mutate();
  };
  return (
    <Dialog
      title="Import rules"
      description="One rule a line, as JSON; each takes the place of what its pattern said before"
      onClose={onClose}
      width="max-w-2xl"
    >
      <form onSubmit={submit} className="p-4">
        <label htmlFor={id} className="block text-xs font-medium">
          Rules <span className="font-normal text-soft">at most 5,000 lines and 4 MiB</span>
        </label>
        <textarea
          id={id}
          value={lines}
          onChange={({ target }) => write(target.value)}
          rows={10}
          wrap="off"
          autoFocus
          spellCheck={false}
          placeholder={EXAMPLE}
          aria-invalid={fault !== ""}
          aria-describedby={`${id}-fault`}
          className="mt-1 w-full rounded border border-line-strong bg-paper p-2 font-mono text-xs placeholder:text-soft"
        />
        <p id={`${id}-fault`} role="alert" data-testid="import-fault" className="min-h-5 text-xs text-bad">
          {fault}
        </p>
        <div className="mt-1 flex flex-wrap items-center gap-2">
          <input
            type="file"
            aria-label="A file with rules"
            accept=".ndjson,.jsonl,.json,.txt"
            onChange={(event) => void choose(event)}
            className="min-w-0 flex-1 text-xs file:mr-2 file:rounded file:border file:border-line-strong file:bg-sheet file:px-2 file:py-1 file:text-ink"
          />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={!ready}>
            {importing.isPending ? "Importing…" : "rules" in count && count.rules > 0 ? `Import ${plural(count.rules, "rule")}` : "Import"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
