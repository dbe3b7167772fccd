import { Copy } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { Preview, Removed } from "../api/web-preview";
import { Button, IconButton } from "../parts/button";
import { copy } from "../parts/copy";
import { Figure } from "../parts/figure";
import { bytes, grouped, plural, share } from "../parts/format";
import { Badge } from "../parts/page";
import { drawn, sizeOf } from "./text";

const VIEWS = ["original", "filtered", "removed"] as const;
type View = (typeof VIEWS)[number];
const NAMES: Record<View, string> = { original: "Original", filtered: "Filtered", removed: "What was removed" };

/** Three columns, or one at a time where there is no room. Everything is shown as text, whatever it says it is. */
export function Outcome({ original, preview }: { original: string; preview: Preview }) {
  const [view, setView] = useState<View>("filtered");
  return (
    <div data-testid="outcome">
      <div role="status">
        <Counts original={original} preview={preview} />
      </div>
      <div role="group" aria-label="What is shown" className="flex gap-2 px-4 pt-3 lg:hidden">
        {VIEWS.map((one) => (
          <Button
            key={one}
            aria-pressed={view === one}
            onClick={() => setView(one)}
            className={view === one ? "border-accent! text-accent!" : ""}
          >
            {NAMES[one]}
          </Button>
        ))}
      </div>
      <div className="grid items-start lg:grid-cols-3 lg:divide-x lg:divide-line">
        <Column view="original" shown={view} note={bytes(sizeOf(original))} text={original}>
          <Text text={original} />
        </Column>
        <Column view="filtered" shown={view} note={`${preview.contentType}, ${bytes(sizeOf(preview.content))}`} text={preview.content}>
          {preview.content === "" ? <p className="text-soft">Nothing is left.</p> : <Text text={preview.content} />}
        </Column>
        <Column view="removed" shown={view} note={plural(preview.removed.length + preview.beyond, "piece")}>
          {preview.removed.length === 0 ? (
            <p className="text-soft">Nothing was removed: the filter found no code in it.</p>
          ) : (
            <ol data-testid="removed" className="grid gap-3">
              {preview.removed.map((piece, at) => (
                <Piece key={at} piece={piece} />
              ))}
              {preview.beyond > 0 && <li className="text-xs text-soft">and {grouped(preview.beyond)} more</li>}
            </ol>
          )}
        </Column>
      </div>
    </div>
  );
}

function Counts({ original, preview }: { original: string; preview: Preview }) {
  const { codeBlocksRemoved, bytesStripped, transformations, density, warnings, truncated, title } = preview;
  return (
    <>
      <dl className="grid grid-cols-2 gap-px border-b border-line bg-line md:grid-cols-4">
        <Figure name="Removed" value={grouped(codeBlocksRemoved)} what="blocks and spans of code" />
        <Figure name="Stripped" value={bytes(bytesStripped)} what={`of ${bytes(sizeOf(original))}`} />
        <Figure name="Described" value={grouped(transformations)} what="in words instead" />
        <Figure name="Density of code" value={share(density)} what="a warning above 50%" />
      </dl>
      {title !== null && (
        <p className="px-4 pt-3">
          <span className="text-xs text-soft">Title</span> <span className="font-medium">{title}</span>
        </p>
      )}
      {(warnings.length > 0 || truncated) && (
        <ul data-testid="warnings" className="mx-4 mt-3 rounded border border-warn/50 bg-warn-wash px-3 py-2 text-warn">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
          {truncated && <li>it was cut to the longest size</li>}
        </ul>
      )}
    </>
  );
}

interface ColumnProps {
  view: View;
  shown: View;
  note: string;
  /** What can be copied. */
  text?: string;
  children: ReactNode;
}

function Column({ view, shown, note, text, children }: ColumnProps) {
  return (
    <section
      data-column={view}
      aria-labelledby={`column-${view}`}
      className={`min-w-0 px-4 py-3 lg:block ${view === shown ? "" : "hidden"}`}
    >
      <div className="flex min-h-7 items-center gap-2">
        <h2 id={`column-${view}`} className="font-semibold">
          {NAMES[view]}
        </h2>
        <span className="min-w-0 truncate text-xs text-soft">{note}</span>
        {text !== undefined && text !== "" && (
          <IconButton
            label={`Copy: ${NAMES[view].toLowerCase()}`}
            className="ml-auto"
            onClick={() => void copy(text, `the ${view} text`)}
          >
            <Copy aria-hidden size={14} />
          </IconButton>
        )}
      </div>
      <div
        tabIndex={0}
        role="region"
        aria-label={NAMES[view]}
        className="mt-1 max-h-[70vh] overflow-auto rounded border border-line bg-paper p-3"
      >
        {children}
      </div>
    </section>
  );
}

function Text({ text }: { text: string }) {
  const { shown, beyond } = drawn(text);
  return (
    <>
      <pre className="text-xs leading-relaxed break-words whitespace-pre-wrap">{shown}</pre>
      {beyond > 0 && <p className="mt-2 text-xs text-soft">and {plural(beyond, "character")} more, which are not drawn</p>}
    </>
  );
}

function Piece({ piece: { kind, language, lines, text, cut } }: { piece: Removed }) {
  return (
    <li data-removed={kind} className="min-w-0">
      <p className="flex flex-wrap items-center gap-2 text-xs">
        <Badge tone="warn">{kind}</Badge>
        {language !== null && <span className="font-medium">{language}</span>}
        <span className="text-soft">{plural(lines, "line")}</span>
      </p>
      <pre className="mt-1 border-l-2 border-warn/50 pl-2 text-xs break-words whitespace-pre-wrap">{text}</pre>
      {cut && <p className="text-2xs text-soft">there is more of it</p>}
    </li>
  );
}
