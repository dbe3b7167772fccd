// Parts of a page: each with its title, and what is asked for by itself fails by itself.

import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { Button } from "./button";
import { More, type Paged } from "./list";

interface SectionProps {
  title: string;
  about: string;
  children: ReactNode;
}

export function Section({ title, about, children }: SectionProps) {
  return (
    <section aria-label={title} className="border-t border-line pb-4">
      <div className="flex items-baseline gap-3 px-4 py-2.5">
        <h2 className="font-semibold">{title}</h2>
        <p className="text-xs text-soft">{about}</p>
      </div>
      {children}
    </section>
  );
}

interface SublistProps<P, R> {
  query: Paged & { data: { pages: P[] } | undefined; error: Error | null; refetch: () => Promise<unknown> };
  rows: (page: P) => readonly R[];
  /** Said while it is read, and when there is nothing. */
  loading: string;
  nothing: ReactNode;
  children: (rows: readonly R[]) => ReactNode;
}

/** A list within a page: the rest of the page stands, whatever becomes of it. */
export function Sublist<P, R>({ query, rows, loading, nothing, children }: SublistProps<P, R>) {
  const shown = query.data?.pages.flatMap(rows);
  return (
    <>
      {query.error && (
        <p role="alert" className="flex items-center gap-3 px-4 pb-2 text-xs text-bad">
          {asProblem(query.error).message}
          <Button onClick={() => void query.refetch()}>Try again</Button>
        </p>
      )}
      {shown === undefined ? (
        !query.error && (
          <p role="status" className="px-4 text-soft">
            {loading}
          </p>
        )
      ) : shown.length === 0 ? (
        <p className="px-4 text-soft">{nothing}</p>
      ) : (
        children(shown)
      )}
      <More of={query} className="mx-4 mt-3" />
    </>
  );
}
