import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleX } from "lucide-react";
import type { Check, WebRuleDraft } from "../api/web-rules";
import { Button } from "../parts/button";
import { plural } from "../parts/format";
import { Badge } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useLacking } from "../session/context";
import { GATES, ofWaivers, stopper, TONE } from "./words";

/** What would become of a request: in one sentence, then gate by gate, then by which rules, and what waivers change. */
export function Verdict({ check, onWaive }: { check: Check; onWaive: () => void }) {
  return (
    <div className="pb-6">
      <Sentence check={check} />
      <Gates check={check} />
      <h2 className="px-4 pt-5 pb-2 font-semibold">
        Rules that match{" "}
        <span className="text-xs font-normal text-soft">the first decides; a Block stands before an Allow</span>
      </h2>
      {check.matching.length === 0 ? (
        <p className="px-4 text-soft">
          None: what no rule names follows <code>web.default_action</code>.
        </p>
      ) : (
        <Matching rules={check.matching} />
      )}
      <Waived check={check} onWaive={onWaive} />
    </div>
  );
}

function Sentence({ check }: { check: Check }) {
  const stop = stopper(check);
  const open = check.gates.filter(({ outcome }) => outcome === "later");
  const Icon = check.passes ? CircleCheck : CircleX;
  return (
    <div role="status" data-testid="verdict" className="flex items-start gap-3 px-4 py-4">
      <Icon aria-hidden size={26} strokeWidth={1.6} className={`mt-0.5 shrink-0 ${check.passes ? "text-good" : "text-bad"}`} />
      <div className="min-w-0">
        <p className="text-lg font-semibold">
          {check.passes ? "It would pass" : "It would not pass"}
          {check.cached === true && check.passes && ", and the cache would answer"}
        </p>
        <p className="text-soft">
          <code className="break-all text-ink">
            {check.method} {check.url}
          </code>{" "}
          {stop ? stop.detail : check.reason}
        </p>
        <p className="numbers mt-1 text-xs text-soft">
          epoch {check.epoch}, cycle {check.cycle}, tick {check.tick}
          {check.passes && open.length > 0 && `; ${plural(open.length, "gate")} has its say only when it is asked`}
        </p>
      </div>
    </div>
  );
}

function Gates({ check }: { check: Check }) {
  return (
    <>
      <Table testid="gates" className="min-w-[34rem] md:min-w-[44rem]" heads={["gate", "says", "why", "error"]} region="Gates">
        {check.gates.map(({ gate, outcome, detail, error, wireCode }) => (
          <tr key={gate} data-gate={gate} data-outcome={outcome} className={ROW}>
            <td className="whitespace-nowrap">
              <span className="font-medium">{gate}</span>{" "}
              <span className="ml-2 hidden text-xs text-soft md:inline">{GATES[gate]}</span>
            </td>
            <td>
              <Badge tone={TONE[outcome]}>{outcome}</Badge>
            </td>
            <td className="max-w-xl py-1 break-words">{detail}</td>
            <td className="numbers text-xs whitespace-nowrap text-soft">
              {error !== null && `${error} 0x${(wireCode ?? 0).toString(16).padStart(4, "0")}`}
            </td>
          </tr>
        ))}
      </Table>
      {check.agent === null && (
        <p className="px-4 py-2 text-xs text-soft">
          No agent is named: whether it is known, asks too often, has quota left and can pay is not looked at.
        </p>
      )}
    </>
  );
}

function Matching({ rules }: { rules: readonly WebRuleDraft[] }) {
  return (
    <Table
      testid="matching"
      className="min-w-[36rem]"
      heads={["pattern", "action", "category", "reason"]}
      region="Rules that match"
    >
      {rules.map(({ pattern, action, category, reason }, at) => (
        <tr key={`${at} ${pattern}`} className={ROW}>
          <td className="font-mono font-medium break-all">
            <Link to="/web-rules" search={{ search: pattern }} className="text-accent underline">
              {pattern}
            </Link>
          </td>
          <td>
            <Badge tone={action === "allow" ? "good" : "bad"}>{action}</Badge>
          </td>
          <td className="font-mono text-xs">{category}</td>
          <td className="py-1">{reason}</td>
        </tr>
      ))}
    </Table>
  );
}

function Waived({ check, onWaive }: { check: Check; onWaive: () => void }) {
  const lacking = useLacking("web:write");
  return (
    <section data-testid="waived" aria-labelledby="waived" className="px-4 pt-5">
      <h2 id="waived" className="pb-1 font-semibold">
        What waivers change
      </h2>
      <p className="max-w-3xl">{ofWaivers(check)}</p>
      {check.keepsCode !== null && (
        <p className="max-w-3xl text-soft">
          {check.keepsCode
            ? "A waiver lets this agent have the code of the page, if it asks for it."
            : "No waiver lets this agent have the code of the page: it is taken out, whatever it asks for."}
        </p>
      )}
      <p className="mt-1 text-xs text-soft">No waiver changes what the epoch, the pace, the quota or the balance say.</p>
      <p className="mt-3 flex flex-wrap gap-2">
        {check.action === "block" && (
          <Button lacking={lacking} onClick={onWaive}>
            Ask for a waiver
          </Button>
        )}
        <Link to="/web-rules" search={{ tab: "waivers" }} className="self-center text-xs text-accent underline">
          {check.waivers.length > 0 ? `${plural(check.waivers.length, "waiver")} in force for it` : "waivers"}
        </Link>
      </p>
    </section>
  );
}
