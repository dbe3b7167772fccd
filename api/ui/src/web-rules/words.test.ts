import { expect, test } from "vitest";
import type { Gate } from "../api/web-rules";
import { counted, ofWaivers, stopper, waiverPattern } from "./words";

const gate = (name: string, outcome: Gate["outcome"]): Gate => ({ gate: name, outcome, detail: "", error: null, wireCode: null });

test("a request is stopped by the first gate that refuses; what is said later stops nothing", () => {
  const gates = [gate("epoch", "passes"), gate("address", "later"), gate("quota", "refuses"), gate("host", "refuses")];
  expect(stopper({ gates })?.gate).toBe("quota");
  expect(stopper({ gates: gates.slice(0, 2) })).toBeUndefined();
});

test("a waiver names the port where it is none of the web's", () => {
  expect(waiverPattern({ host: "docs.example", port: 443 })).toBe("docs.example");
  expect(waiverPattern({ host: "docs.example", port: 8443 })).toBe("docs.example:8443");
  expect(waiverPattern({ host: "2001:db8::1", port: 8443 })).toBe("2001:db8::1");
});

test("what waivers change is said of the host as it stands", () => {
  const github = { host: "github.com", rule: "github.com" };
  expect(ofWaivers({ ...github, action: "allow", waivedBy: "019a" })).toContain("without it, rule github.com blocks it");
  expect(ofWaivers({ ...github, rule: null, action: "block", waivedBy: null })).toMatch(/no rule names it\. A waiver/);
  expect(ofWaivers({ ...github, action: "allow", waivedBy: null })).toContain("Nothing is waived");
});

test("an import is counted before it is sent", () => {
  expect(counted("{}\r\n\n  \n{}")).toEqual({ rules: 2 });
  expect(counted("")).toEqual({ rules: 0 });
  expect(counted("{}\n".repeat(5_001))).toEqual({ fault: "These are 5001 rules; an import has at most 5000" });
  expect(counted("é".repeat(2_200_000))).toEqual({ fault: "This is more than 4 MiB; send it in parts" });
});
