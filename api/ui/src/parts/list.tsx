// A page that is a list: what stands in it or that nothing does, how to see more of it, and its dialogs.

import type { ReactNode } from "react";
import { Button } from "./button";
import { plural } from "./format";
import { Page, type PageProps } from "./page";

/** A question whose answer comes page by page. */
export interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

interface ListPageProps<T, R> extends Omit<PageProps<T>, "query" | "children"> {
  query: PageProps<T>["query"] & Partial<Paged>;
  rows: (data: T) => readonly R[];
  /** Stands above the list, whatever is in it. */
  above?: ReactNode;
  /** Stands in place of the list when it is empty. */
  nothing: ReactNode;
  /** What one of them is called, where it is said how many are shown. */
  one?: string;
  /** Said when there are no more of them. */
  end?: string;
  /** What else is said below. */
  note?: ReactNode;
  /** The word for reading on. */
  more?: string;
  dialogs?: ReactNode;
  children: (rows: readonly R[]) => ReactNode;
}

export function ListPage<T, R>(props: ListPageProps<T, R>) {
  const { query, rows, above, nothing, one, end, note, more, dialogs, children, ...page } = props;
  return (
    <Page query={query} {...page}>
      {(data) => {
        const shown = rows(data);
        return (
          <>
            {above}
            {shown.length > 0 ? children(shown) : nothing}
            {(query.hasNextPage || (end !== undefined && shown.length > 0)) && (
              <p className="flex flex-wrap items-center gap-3 p-4 text-xs text-soft">
                {one && `${plural(shown.length, one)} shown${query.hasNextPage ? "" : `, ${end}`}`}
                <More of={query} {...(more && { word: more })} />
                {note}
              </p>
            )}
            {dialogs}
          </>
        );
      }}
    </Page>
  );
}

interface MoreProps {
  of: Partial<Paged>;
  word?: string;
  className?: string;
}

/** Reads on, where there is more. */
export function More({ of: { hasNextPage, isFetchingNextPage, fetchNextPage }, word = "Show older", className }: MoreProps) {
  if (!hasNextPage) return null;
  return (
    <Button className={className} onClick={() => void fetchNextPage?.()} disabled={isFetchingNextPage}>
      {isFetchingNextPage ? "Loading…" : word}
    </Button>
  );
}
