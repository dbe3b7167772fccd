// How the console says that something is wrong: as a strip above what is still known, or as a page of its own.

import { CloudOff, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { Problem } from "../api/problem";
import { Button } from "./button";
import { useCountdown } from "./countdown";

interface TroubleProps {
  title: string;
  detail?: ReactNode;
  away: boolean;
  retryAt: number | undefined;
  /** A try is under way. */
  retrying?: boolean;
  onRetry?: (() => void) | undefined;
}

function Retry({ retryAt, retrying = false, onRetry }: Pick<TroubleProps, "retryAt" | "retrying" | "onRetry">) {
  const seconds = useCountdown(retryAt);
  return (
    <>
      {(retryAt !== undefined || retrying) && (
        // The count is for eyes only: spoken every second it would drown the message.
        <span aria-hidden className="numbers text-xs" data-testid="countdown">
          {seconds > 0 ? `retrying in ${seconds} s` : "retrying…"}
        </span>
      )}
      {onRetry && <Button onClick={onRetry}>Retry now</Button>}
    </>
  );
}

export function TroubleStrip({ title, detail, away, ...retry }: TroubleProps) {
  const Icon = away ? CloudOff : TriangleAlert;
  return (
    <div
      data-testid="trouble"
      className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-warn-wash px-3 py-1 text-warn"
    >
      <Icon aria-hidden size={15} className="shrink-0" />
      <p role="alert" className="min-w-0 flex-1">
        <strong className="font-semibold">{title}</strong>
        {detail && <span className="ml-2">{detail}</span>}
      </p>
      <Retry {...retry} />
    </div>
  );
}

export function TroublePage({ title, detail, away, children, ...retry }: TroubleProps & { children?: ReactNode }) {
  const Icon = away ? CloudOff : TriangleAlert;
  return (
    <div data-testid="trouble" className="grid h-full place-items-center p-6">
      <div className="max-w-lg text-center">
        <Icon aria-hidden size={30} strokeWidth={1.4} className="mx-auto mb-3 text-warn" />
        <div role="alert">
          <h2 className="text-lg font-semibold">{title}</h2>
          {detail && <p className="mt-1.5 text-soft">{detail}</p>}
        </div>
        <div className="mt-4 flex items-center justify-center gap-3 text-soft">
          <Retry {...retry} />
        </div>
        {children}
      </div>
    </div>
  );
}

/** The words for a problem: its title, its detail where that adds something, and the id to ask the operator about. */
export function wordsOf(problem: Problem): { title: string; detail: ReactNode; away: boolean } {
  return {
    title: problem.title,
    detail: (
      <>
        {problem.message !== problem.title && problem.message}
        {problem.requestId && (
          <span className="ml-2 font-mono text-2xs whitespace-nowrap">(request {problem.requestId})</span>
        )}
      </>
    ),
    away: problem.away,
  };
}
