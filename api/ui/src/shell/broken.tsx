import type { ErrorComponentProps } from "@tanstack/react-router";
import { useRouter } from "@tanstack/react-router";
import { asProblem } from "../api/problem";
import { Button } from "../parts/button";
import { copy } from "../parts/copy";

/** What is left when a page throws: the reason, a way on, and the text for a bug report. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const report = `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n${window.location.href}\n${navigator.userAgent}`;
  return (
    <div role="alert" className="grid h-full place-items-center p-6">
      <div className="max-w-xl">
        <h1 className="text-lg font-semibold">This page broke</h1>
        <p className="mt-1.5 text-soft">The fault is in the console, not in the log: nothing was lost.</p>
        <pre className="mt-3 overflow-x-auto rounded border border-line bg-sunken p-3 text-xs whitespace-pre-wrap">
          {asProblem(error).message}
        </pre>
        <div className="mt-4 flex gap-2">
          <Button
            look="primary"
            onClick={() => {
              reset();
              void router.invalidate();
            }}
          >
            Try again
          </Button>
          <Button onClick={() => window.location.assign(window.location.pathname)}>Start afresh</Button>
          <Button onClick={() => void copy(report, "the report")}>Copy report</Button>
        </div>
      </div>
    </div>
  );
}
