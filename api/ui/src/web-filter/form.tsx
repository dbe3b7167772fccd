import { Filter as Icon } from "lucide-react";
import { useRef, useState, type ChangeEvent, type FormEvent } from "react";
import type { Problem } from "../api/problem";
import { DEFAULT_FILTER, FORMATS, type Filter, type PreviewDraft } from "../api/web-preview";
import { Button } from "../parts/button";
import { Field, Select } from "../parts/field";
import { bytes } from "../parts/format";
import { useKeys } from "../shell/keys";
import { MAX_BYTES, sizeFrom, sizeOf, TYPES, typeOf } from "./text";

const CHOICES = FORMATS.map((value) => ({ value, label: value }));
const SWITCHES = [
  { name: "strip_code_blocks", label: "take out blocks of code", off: "only where a waiver lets an agent have it" },
  { name: "strip_inline_code", label: "take out code within sentences", off: "" },
  { name: "transform_apis", label: "describe signatures in words", off: "" },
  { name: "transform_examples", label: "describe examples in words", off: "" },
] as const;
const TOO_LONG = `This is more than 2 MiB, which is all that the gateway takes in of a page`;

interface FilterFormProps {
  working: boolean;
  /** What the server found wrong with what was sent. */
  refused: Problem | undefined;
  onTry: (draft: PreviewDraft) => void;
}

export function FilterForm({ working, refused, onTry }: FilterFormProps) {
  const [content, setContent] = useState("");
  const [contentType, setContentType] = useState("");
  const [url, setUrl] = useState("");
  const [filter, setFilter] = useState<Filter>(DEFAULT_FILTER);
  const [size, setSize] = useState(String(DEFAULT_FILTER.max_size));
  const [fault, setFault] = useState("");
  const editor = useRef<HTMLTextAreaElement>(null);
  useKeys({ "/": () => editor.current?.focus() });
  const maxSize = sizeFrom(size);
  const tooLong = sizeOf(content) > MAX_BYTES;
  const ready = content !== "" && !tooLong && maxSize !== undefined && !working;

  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (!file) return;
    if (file.size > MAX_BYTES) return setFault(`${file.name} is ${bytes(file.size)}; ${TOO_LONG.toLowerCase()}`);
    setFault("");
    setContent(await file.text());
    setContentType(typeOf(file.name));
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready) onTry({ content, contentType, url: url.trim(), filter: { ...filter, max_size: maxSize } });
  };
  const wrong = fault || (tooLong ? TOO_LONG : (refused?.message ?? ""));
  return (
    <form onSubmit={submit} className="grid gap-x-6 gap-y-3 border-y border-line px-4 py-3 lg:grid-cols-[1fr_22rem]">
      <div className="min-w-0">
        <label htmlFor="content" className="block text-xs font-medium">
          Text <span className="font-normal text-soft">a page as it comes from the outside, at most 2 MiB</span>
        </label>
        <textarea
          id="content"
          ref={editor}
          value={content}
          onChange={({ target }) => {
            setContent(target.value);
            setFault("");
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
          }}
          rows={9}
          spellCheck={false}
          placeholder={"# A queue\n\nIt keeps what comes in order.\n\n```rust\nlet queue = Queue::new();\n```"}
          aria-invalid={wrong !== ""}
          aria-describedby="content-wrong"
          className="mt-1 w-full rounded border border-line-strong bg-paper p-2 font-mono text-xs placeholder:text-soft"
        />
        <p id="content-wrong" role="alert" data-testid="refused" className="text-xs text-bad empty:hidden">
          {wrong}
        </p>
        <input
          type="file"
          aria-label="A file to filter"
          accept=".html,.htm,.xhtml,.md,.markdown,.txt,.json,.xml,.atom,.rss,text/*"
          onChange={(event) => void choose(event)}
          className="mt-2 w-full text-xs file:mr-2 file:rounded file:border file:border-line-strong file:bg-sheet file:px-2 file:py-1 file:text-ink"
        />
      </div>
      <fieldset className="grid content-start gap-3">
        <legend className="sr-only">How it is filtered</legend>
        <div className="grid grid-cols-2 gap-3">
          <Select visible label="It is" value={contentType} choices={TYPES} onChoose={setContentType} />
          <Select
            visible
            label="Format"
            value={filter.format}
            choices={CHOICES}
            onChoose={(format) => setFilter({ ...filter, format })}
          />
          <Field
            label="Longest"
            hint="bytes"
            inputMode="numeric"
            value={size}
            onChange={({ target }) => setSize(target.value)}
            problem={maxSize === undefined ? "from 1 to 2097152" : undefined}
          />
          <Field
            label="Address"
            hint="it would be from"
            placeholder="https://…"
            value={url}
            onChange={({ target }) => setUrl(target.value)}
          />
        </div>
        <div className="grid gap-1.5">
          {SWITCHES.map(({ name, label, off }) => (
            <label key={name} className="flex items-start gap-2">
              <input
                type="checkbox"
                checked={filter[name]}
                onChange={({ target }) => setFilter({ ...filter, [name]: target.checked })}
                className="mt-1"
              />
              <span>
                {label}
                {off !== "" && !filter[name] && <span className="block text-xs text-warn">{off}</span>}
              </span>
            </label>
          ))}
        </div>
        <div>
          <Button type="submit" look="primary" className="h-8" disabled={!ready} title="Ctrl+Enter">
            <Icon aria-hidden size={13} /> {working ? "Filtering…" : "Filter it"}
          </Button>
        </div>
      </fieldset>
    </form>
  );
}
