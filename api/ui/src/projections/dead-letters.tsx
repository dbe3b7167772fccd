// Events a projection could not apply: why, how often it tried, and the button that tries again.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { toast } from "sonner";
import { asProblem } from "../api/problem";
import { getDeadLetters, redeliver, type DeadLetter } from "../api/projections";
import { Ago } from "../parts/ago";
import { usePages } from "../parts/asking";
import { Button } from "../parts/button";
import { grouped, plural } from "../parts/format";
import { More } from "../parts/list";

interface DeadLettersProps {
  projection: string;
  count: number;
  mayRedeliver: boolean;
}

export function DeadLetters({ projection, count, mayRedeliver }: DeadLettersProps) {
  const client = useQueryClient();
  const key = ["dead letters", projection];
  const query = usePages({
    key,
    read: (cursor: string | undefined, signal) => getDeadLetters(projection, cursor, signal),
  });
  const { refetch } = query;
  const shown = useRef(count);
  useEffect(() => {
    if (shown.current !== count) void refetch();
    shown.current = count;
  }, [count, refetch]);

  const letters = query.data?.pages.flatMap(({ letters }) => letters) ?? [];
  return (
    <section aria-labelledby="dead-letters" className="p-4" data-testid="dead-letters">
      <h3 id="dead-letters" className="mb-2 text-2xs font-semibold tracking-wider text-soft uppercase">
        Dead letters <span className="numbers">{grouped(count)}</span>
      </h3>
      {query.error ? (
        <p role="alert" className="flex items-center gap-3 text-warn">
          {asProblem(query.error).message} <Button onClick={() => void refetch()}>Retry</Button>
        </p>
      ) : !query.data ? (
        <div role="status" aria-label="Loading dead letters" className="skeleton h-20" />
      ) : letters.length === 0 ? (
        <p className="text-soft">Every event was applied.</p>
      ) : (
        <>
          <ol className="grid gap-2.5">
            {letters.map((letter) => (
              <Letter
                key={String(letter.position)}
                projection={projection}
                letter={letter}
                mayRedeliver={mayRedeliver}
                onDone={() =>
                  Promise.all([
                    client.invalidateQueries({ queryKey: key }),
                    client.invalidateQueries({ queryKey: ["projections"] }),
                  ])
                }
              />
            ))}
          </ol>
          <More of={query} word="Load more" className="mt-3" />
        </>
      )}
    </section>
  );
}

interface LetterProps {
  projection: string;
  letter: DeadLetter;
  mayRedeliver: boolean;
  onDone: () => Promise<unknown>;
}

function Letter({ projection, letter, mayRedeliver, onDone }: LetterProps) {
  const { position, kind, stream, error, attempts, parkedAt } = letter;
  const again = useMutation({
    mutationFn: () => redeliver(projection, position),
    onSuccess: () => {
      toast.success(`Event ${grouped(position)} applied`);
      return onDone();
    },
    onError: (fault) =>
      toast.error(`Event ${grouped(position)} not applied`, { description: asProblem(fault).message }),
  });
  return (
    <li data-position={String(position)} className="rounded border border-line bg-paper">
      <div className="flex items-center gap-3 px-3 py-1.5">
        <Link to="/" search={{ at: String(position) }} className="numbers text-accent underline underline-offset-2">
          {grouped(position)}
        </Link>
        <span className="font-medium">{kind}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-soft" title={stream}>
          {stream}
        </span>
        <Button
          onClick={() => again.mutate()}
          disabled={!mayRedeliver || again.isPending}
          aria-label={`Redeliver event ${position}`}
        >
          {again.isPending ? "Trying…" : "Redeliver"}
        </Button>
      </div>
      <pre className="border-t border-line px-3 py-2 font-mono text-xs break-words whitespace-pre-wrap text-bad">
        {error}
      </pre>
      <p className="border-t border-line px-3 py-1.5 text-xs text-soft" title={`${letter.actor}, ${parkedAt}`}>
        parked <Ago at={parkedAt} /> after {plural(attempts, "attempt")}
      </p>
    </li>
  );
}
