// The content filter, tried on a text: what came, what an agent would get, and what was taken out.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { asProblem } from "../api/problem";
import { may } from "../api/session";
import { previewFilter, type PreviewDraft } from "../api/web-preview";
import { Forbidden, Nothing } from "../parts/page";
import { TroubleStrip, wordsOf } from "../parts/trouble";
import { useSession } from "../session/context";
import { FilterForm } from "./form";
import { Outcome } from "./outcome";

/** No text, no such filter, too long, or code that no waiver lets through. */
const REFUSED = [400, 403, 413, 422];

export function FilterPage() {
  const allowed = may(useSession(), "web:read");
  const [asked, setAsked] = useState<PreviewDraft>();
  const trying = useMutation({ mutationFn: previewFilter });
  const begin = (draft: PreviewDraft) => {
    setAsked(draft);
    trying.mutate(draft);
  };
  const problem = trying.error ? asProblem(trying.error) : undefined;
  // What is wrong with what was sent stands at the form; everything else above the page.
  const refused = problem && REFUSED.includes(problem.status) ? problem : undefined;
  return (
    <div className="flex h-full flex-col">
      {problem && !refused && (
        <TroubleStrip
          {...wordsOf(problem)}
          retryAt={undefined}
          retrying={false}
          onRetry={asked ? () => begin(asked) : undefined}
        />
      )}
      <div className="min-h-0 flex-1 overflow-auto bg-sheet" tabIndex={0} role="region" aria-label="Filter preview">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-4 pb-3">
          <h1 className="text-lg font-semibold">Filter preview</h1>
          <p className="text-soft">What an agent would get of a page, and what the filter takes out of it. Nothing is recorded.</p>
        </div>
        {allowed ? (
          <>
            <FilterForm working={trying.isPending} refused={refused} onTry={begin} />
            {trying.isPending ? (
              <Working />
            ) : trying.data && asked ? (
              <Outcome original={asked.content} preview={trying.data} />
            ) : (
              !problem && (
                <Nothing title="Nothing is filtered yet">
                  Paste a page or choose a file, say what it is, and press <kbd>Ctrl</kbd>+<kbd>Enter</kbd>.
                </Nothing>
              )
            )}
          </>
        ) : (
          <Forbidden scope="web:read" />
        )}
      </div>
    </div>
  );
}

function Working() {
  return (
    <div role="status" aria-label="Filtering" className="grid gap-4 p-4 lg:grid-cols-3">
      {[0, 1, 2].map((column) => (
        <div key={column} className="grid gap-2">
          {[72, 90, 64, 80].map((width) => (
            <div key={width} className="skeleton h-3" style={{ width: `${width}%` }} />
          ))}
        </div>
      ))}
    </div>
  );
}
