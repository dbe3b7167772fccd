// What stands between the gateway's answers and its readers: names, and what to ask a waiver for.

import type { Check, Gate, Outcome } from "../api/web-rules";

export const GATES: Record<string, string> = {
  agent: "Is the agent known?",
  epoch: "Does the epoch allow it?",
  pace: "Does it ask too often?",
  quota: "Is there quota left?",
  host: "What do rules say of the host?",
  spark: "Can it pay?",
  address: "Where does the host stand?",
};

export const TONE: Record<Outcome, "good" | "bad" | "warn" | "soft"> = {
  passes: "good",
  refuses: "bad",
  later: "warn",
  unneeded: "soft",
};

/** The gate that a request would be stopped by: the first that refuses. */
export function stopper({ gates }: Pick<Check, "gates">): Gate | undefined {
  return gates.find(({ outcome }) => outcome === "refuses");
}

const WEB_PORTS = [80, 443];

/** The pattern of a waiver that would let this host through, at this port. */
export function waiverPattern({ host, port }: Pick<Check, "host" | "port">): string {
  return WEB_PORTS.includes(port) || host.includes(":") ? host : `${host}:${port}`;
}

/** What waivers do to the verdict on the host, or could do; nothing where there is nothing to waive. */
export function ofWaivers({ action, host, rule, waivedBy }: Pick<Check, "action" | "host" | "rule" | "waivedBy">): string {
  const by = rule === null ? "no rule names it" : `rule ${rule} blocks it`;
  if (waivedBy !== null) return `Waiver ${waivedBy} lets ${host} through; without it, ${by}.`;
  if (action === "allow") return `Nothing is waived: ${host} is allowed as it is.`;
  return `${host} is blocked: ${by}. A waiver of its host lets it through, for a while, once a second person has granted it.`;
}

const MAX_LINES = 5_000;
const MAX_BYTES = 4 * 1_024 * 1_024;

/** Why lines cannot be sent as an import, or how many rules they are. What is in them, the server judges. */
export function counted(lines: string): { rules: number } | { fault: string } {
  const rules = lines.split("\n").filter((line) => line.trim() !== "").length;
  if (rules > MAX_LINES) return { fault: `These are ${rules} rules; an import has at most ${MAX_LINES}` };
  if (new TextEncoder().encode(lines).length > MAX_BYTES) return { fault: "This is more than 4 MiB; send it in parts" };
  return { rules };
}
