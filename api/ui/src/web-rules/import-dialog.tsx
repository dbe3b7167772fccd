import { useId, type ChangeEvent } from "react";
import { importWebRules } from "../api/web-rules";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { grouped, plural } from "../parts/format";
import { counted } from "./words";

const EXAMPLE = '{"pattern": "docs.example.org", "action": "allow", "category": "documentation", "reason": "our own"}';

/** Sets many rules at once. One line that makes no sense changes nothing, and is named. */
export function ImportDialog({ onDone, onClose }: { onDone: () => unknown; onClose: () => void }) {
  const id = useId();
  const form = useForm({
    draft: { lines: "" },
    // As they are written: what is wrong is said by the number of the line.
    act: (_, { lines }) => importWebRules(lines),
    said: ({ rules, changed }) => `${plural(rules, "rule")} in force, ${grouped(changed)} of them new or changed`,
    onDone,
    onClose,
  });
  const write = (lines: string) => {
    form.set({ lines });
    form.reset();
  };
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (file) write(await file.text());
  };
  const { lines } = form.draft;
  const count = counted(lines);
  const many = "rules" in count ? count.rules : 0;
  const fault = "fault" in count ? count.fault : form.elsewhere();
  return (
    <FormDialog
      title="Import rules"
      description="One rule a line, as JSON; each takes the place of what its pattern said before"
      width="max-w-2xl"
      form={{ ...form, elsewhere: () => fault }}
      alertId={`${id}-fault`}
      verb={many > 0 ? `Import ${plural(many, "rule")}` : "Import"}
      doing="Importing…"
      ready={many > 0}
      beside={
        <input
          type="file"
          aria-label="A file with rules"
          accept=".ndjson,.jsonl,.json,.txt"
          onChange={(event) => void choose(event)}
          className="min-w-0 flex-1 text-xs file:mr-2 file:rounded file:border file:border-line-strong file:bg-sheet file:px-2 file:py-1 file:text-ink"
        />
      }
      onClose={onClose}
    >
      <div>
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
      </div>
    </FormDialog>
  );
}
