// What if: a policy is tried on the decisions of the past, before it is switched on. Nothing is recorded.

import { Play, Square } from "lucide-react";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { asProblem, type Problem } from "../api/problem";
import { may } from "../api/session";
import { tryPolicy, type Changed, type Listed, type Outcome, type Progress } from "../api/what-if";
import { Button } from "../parts/button";
import { Select } from "../parts/field";
import { clock, day, grouped, plural } from "../parts/format";
import { Forbidden, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { TroubleStrip, wordsOf } from "../parts/trouble";
import { useSession } from "../session/context";
import { useKeys } from "../shell/keys";

const EXAMPLE = `# What is not named stays as it is.
policy:
  severity_floor: low
registries:
  npm:
    min_age_hours: 72
rules:
  - {ecosystem: npm, package: left-pad, versions: "<1.3.0", reason: unmaintained}
`;
const DAYS = [1, 7, 30, 90, 366].map((days) => ({ value: String(days), label: plural(days, "day") }));
const FACTS = [
  { value: "today", label: "by what is known today" },
  { value: "then", label: "by what was known then" },
];

type State =
  | { at: "rest" }
  | { at: "work"; progress: Progress | undefined }
  | { at: "stopped" }
  | { at: "failed"; problem: Problem }
  | { at: "done"; outcome: Outcome };

export function WhatIfPage() {
  const allowed = may(useSession(), "rules:read");
  const [policy, setPolicy] = useState(EXAMPLE);
  const [days, setDays] = useState("30");
  const [facts, setFacts] = useState("today");
  const [state, setState] = useState<State>({ at: "rest" });
  const work = useRef<AbortController>(undefined);
  const editor = useRef<HTMLTextAreaElement>(null);
  // Who leaves the page ends the work.
  useEffect(() => () => work.current?.abort(), []);
  useKeys({ "/": () => editor.current?.focus() });

  const begin = async () => {
    const own = new AbortController();
    work.current = own;
    setState({ at: "work", progress: undefined });
    try {
      const onProgress = (progress: Progress) => setState({ at: "work", progress });
      const outcome = await tryPolicy({ policy, days: Number(days), facts }, onProgress, own.signal);
      setState({ at: "done", outcome });
    } catch (fault) {
      setState(own.signal.aborted ? { at: "stopped" } : { at: "failed", problem: asProblem(fault) });
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (state.at === "work") work.current?.abort();
    else void begin();
  };
  const refused = state.at === "failed" && state.problem.status === 422 ? state.problem : undefined;
  return (
    <div className="flex h-full flex-col">
      {state.at === "failed" && !refused && <TroubleStrip {...wordsOf(state.problem)} retryAt={undefined} onRetry={() => void begin()} />}
      <div className="min-h-0 flex-1 overflow-auto bg-sheet" tabIndex={0} role="region" aria-label="What if">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-4 pb-3">
          <h1 className="text-lg font-semibold">What if</h1>
          <p className="text-soft">A policy, tried on what was asked for, before it is switched on. Nothing is recorded.</p>
        </div>
        {allowed ? (
          <>
            <form onSubmit={submit} className="border-t border-line px-4 py-3">
              <label htmlFor="policy" className="block text-xs font-medium">
                Policy <span className="font-normal text-soft">keys of weir.yaml, rules as in a blocklist, and `without`</span>
              </label>
              <textarea
                id="policy"
                ref={editor}
                value={policy}
                onChange={({ target }) => setPolicy(target.value)}
                onKeyDown={(event) => {
                  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
                }}
                rows={10}
                spellCheck={false}
                aria-invalid={refused !== undefined}
                aria-describedby="policy-problem"
                className="mt-1 w-full max-w-3xl rounded border border-line-strong bg-paper p-2 font-mono text-xs"
              />
              <p id="policy-problem" data-testid="refused" className="text-xs text-bad empty:hidden">
                {refused?.message}
              </p>
              <div className="mt-2 flex flex-wrap items-center gap-2">
                <Select label="Days" value={days} choices={DAYS} onChoose={setDays} />
                <Select label="Facts" value={facts} choices={FACTS} onChoose={setFacts} />
                <Button type="submit" className="h-8" title="Ctrl+Enter">
                  {state.at === "work" ? (
                    <>
                      <Square aria-hidden size={13} /> Stop
                    </>
                  ) : (
                    <>
                      <Play aria-hidden size={13} /> Try it
                    </>
                  )}
                </Button>
              </div>
            </form>
            {state.at === "work" && <Working progress={state.progress} />}
            {state.at === "stopped" && <p className="px-4 py-2 text-soft">Stopped; nothing was found out.</p>}
            {state.at === "done" && <Difference outcome={state.outcome} />}
          </>
        ) : (
          <Forbidden scope="rules:read" />
        )}
      </div>
    </div>
  );
}

function Working({ progress }: { progress: Progress | undefined }) {
  const { looked = 0, toLook = 1, judged = 0, blocked = 0, allowed = 0, rate = 0 } = progress ?? {};
  return (
    <div data-testid="working" className="px-4 py-3">
      <progress aria-label="How much of the log was looked at" value={looked} max={Math.max(toLook, 1)} className="w-full max-w-3xl" />
      <p className="numbers text-xs text-soft">
        {plural(judged, "decision")} judged, {grouped(rate)} a second; {grouped(blocked)} newly blocked, {grouped(allowed)} newly
        allowed so far
      </p>
    </div>
  );
}

function Difference({ outcome }: { outcome: Outcome }) {
  const notes = [
    [outcome.otherwise, "were answered otherwise than the policy in force answers them"],
    [outcome.ageUnknown, "are too young, for nobody told their age"],
    [outcome.versionUnknown, "have no version that a file’s name tells"],
    [outcome.unreadable, "cannot be read by this build, and were not judged"],
  ] as const;
  const same = outcome.blocked + outcome.allowed === 0;
  return (
    <div data-testid="difference">
      <div role="status" className="border-t border-line px-4 py-3">
        <p>
          Of <strong className="numbers">{plural(outcome.judged, "decision")}</strong> since {day(outcome.since)}{" "}
          {clock(outcome.since).slice(0, 5)}, judged by what {outcome.facts === "then" ? "was known then" : "is known today"}:{" "}
          <strong className="numbers text-bad">{grouped(outcome.blocked)} newly blocked</strong>,{" "}
          <strong className="numbers text-good">{grouped(outcome.allowed)} newly allowed</strong>.
        </p>
        {notes
          .filter(([count]) => count > 0)
          .map(([count, what]) => (
            <p key={what} className="text-xs text-soft">
              {grouped(count)} {what}.
            </p>
          ))}
        {!outcome.complete && <p className="text-warn">The time ran out: the latest decisions were not judged.</p>}
        {!outcome.byOnePolicy && <p className="text-warn">The policy in force became another meanwhile: try it again.</p>}
        <p className="numbers text-xs text-soft">{grouped(outcome.rate)} decisions a second</p>
      </div>
      {same ? (
        <Nothing title="Nothing would be other" testid="same">
          Every decision of that time would be what it is by the policy in force.
        </Nothing>
      ) : (
        <>
          <Changes
            name="versions"
            of={outcome.versions}
            heads={["package", "version", "told"]}
            cells={(row) => [
              <>
                <span className="font-mono">{row.package}</span> <span className="text-xs text-soft">{row.ecosystem}</span>
              </>,
              <span className="font-mono">{row.version ?? "any"}</span>,
              row.told ?? "",
            ]}
          />
          <Changes
            name="tokens"
            of={outcome.tokens}
            heads={["who", "token"]}
            cells={(row) => [row.principal, <span className="font-mono text-xs">{row.token ?? "none"}</span>]}
          />
          <Changes
            name="days"
            of={{ rows: outcome.days, total: outcome.days.length, beyond: 0 }}
            heads={["day"]}
            cells={(row) => [row.day]}
          />
        </>
      )}
    </div>
  );
}

function Changes<T extends Changed>({
  name,
  of: { rows, total, beyond },
  heads,
  cells,
}: {
  name: string;
  of: Listed<T>;
  heads: readonly string[];
  cells: (row: T) => React.ReactNode[];
}) {
  return (
    <section aria-labelledby={`by-${name}`} className="mt-3">
      <h2 id={`by-${name}`} className="px-4 pb-1 font-semibold">
        By {name.slice(0, -1)}
      </h2>
      <Table testid={`by-${name}`} className="min-w-[40rem]" heads={["newly blocked", "newly allowed", ...heads]}>
        {rows.map((row, index) => (
          <tr key={index} className={ROW}>
            <td className="numbers">{grouped(row.blocked)}</td>
            <td className="numbers">{grouped(row.allowed)}</td>
            {cells(row).map((cell, at) => (
              <td key={heads[at]} className="py-1">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {(total > rows.length || beyond > 0) && (
        <p className="px-4 py-1 text-xs text-soft">
          {rows.length} of {grouped(total)} rows{beyond > 0 && `; ${grouped(beyond)} decisions are in no row`}
        </p>
      )}
    </section>
  );
}
