// What the operator's pages share: the frame, badges, and what stands there when there is nothing.

import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { may } from "../api/session";
import { useSession } from "../session/context";
import { clock } from "./format";
import { useRetrying, type Asked } from "./retrying";
import { TroublePage, TroubleStrip, wordsOf } from "./trouble";

export interface PageProps<T> {
  title: string;
  /** One sentence beside the title. */
  about?: ReactNode;
  /** What a token must hold to see the page. */
  scope: string;
  query: Asked & { data: T | undefined; dataUpdatedAt: number };
  /** Filters and buttons, at the right of the title. */
  tools?: ReactNode;
  /** The views of the page, below its title. */
  tabs?: ReactNode;
  children: (data: T) => ReactNode;
}

/** A page that shows one answer: loading, forbidden, failed, failed again while something is known, or there. */
export function Page<T>({ title, about, scope, query, tools, tabs, children }: PageProps<T>) {
  const retry = useRetrying(query);
  const session = useSession();
  const words = query.error && wordsOf(asProblem(query.error));
  let body: ReactNode;
  if (!may(session, scope)) body = <Forbidden scope={scope} />;
  else if (query.data !== undefined) body = children(query.data);
  else if (words) body = <TroublePage {...words} {...retry} />;
  else body = <Skeleton what={title} />;
  return (
    <div className="flex h-full flex-col">
      {words && query.data !== undefined && (
        <TroubleStrip
          {...words}
          detail={`Showing what was known at ${clock(new Date(query.dataUpdatedAt).toISOString()).slice(0, 8)}.`}
          {...retry}
        />
      )}
      <div className="min-h-0 flex-1 overflow-auto bg-sheet" tabIndex={0} role="region" aria-label={title}>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-4 pb-3">
          <h1 className="text-lg font-semibold">{title}</h1>
          {about && <p className="text-soft">{about}</p>}
          {tools && <div className="ml-auto flex flex-wrap items-center gap-2">{tools}</div>}
        </div>
        {tabs}
        {body}
      </div>
    </div>
  );
}

export function Forbidden({ scope }: { scope: string }) {
  return (
    <Nothing title="Not with this token" testid="forbidden">
      This page needs the scope <code>{scope}</code>, which the token you signed in with does not have. Sign in with
      another, or ask an admin for one.
    </Nothing>
  );
}

/** An empty state: what is not there, and what would bring it. */
export function Nothing({
  title,
  testid = "empty",
  children,
}: {
  title: string;
  testid?: string;
  children?: ReactNode;
}) {
  return (
    <div data-testid={testid} className="mx-auto max-w-lg px-6 py-16 text-center">
      <h2 className="text-lg font-semibold">{title}</h2>
      <div className="mt-1.5 text-soft">{children}</div>
    </div>
  );
}

/** There is something, but not what was asked for. */
export function NoMatch({ children }: { children: ReactNode }) {
  return (
    <Nothing title="Nothing matches" testid="no-match">
      {children}
    </Nothing>
  );
}

function Skeleton({ what }: { what: string }) {
  return (
    <div role="status" aria-label={`Loading ${what}`} className="px-4">
      {Array.from({ length: 6 }, (_, index) => (
        <div key={index} className="flex h-10 items-center gap-8 border-b border-line/60">
          <div className="skeleton h-3 w-40" />
          <div className="skeleton h-3 w-16" />
          <div className="skeleton ml-auto h-3 w-40" />
        </div>
      ))}
    </div>
  );
}

const TONE = {
  good: "border-good/50 text-good",
  warn: "border-warn/50 bg-warn-wash text-warn",
  bad: "border-bad/50 bg-bad-wash text-bad",
  soft: "border-line-strong/60 text-soft",
};

export function Badge({ tone = "soft", children }: { tone?: keyof typeof TONE; children: ReactNode }) {
  return (
    <span className={`inline-flex h-5 items-center rounded-sm border px-1.5 text-2xs whitespace-nowrap ${TONE[tone]}`}>
      {children}
    </span>
  );
}
