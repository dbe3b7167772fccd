// Every state of every page in both themes: no serious finding of axe, nothing in the console, and a picture to look at.

import assert from "node:assert/strict";
import { AGENT } from "../mock-web-rules.mjs";

const shown =
  (...names) =>
  async ({ page }) => {
    for (const name of names) await page.getByTestId(name).waitFor();
  };
const dialog = async ({ page }) => page.getByRole("dialog").waitFor();

/** The states that every page of the web gateway has. */
const webStates = (state, path, ...names) => [
  { state, mock: {}, open: { path }, reach: shown(...names) },
  { state: `${state}-narrow`, mock: {}, open: { path, width: 480, height: 860 }, reach: shown(...names) },
  { state: `${state}-empty`, mock: { firewall: { empty: true } }, open: { path }, reach: shown("empty") },
  { state: `${state}-forbidden`, mock: { firewall: { scopes: ["events:read"] } }, open: { path }, reach: shown("forbidden") },
  {
    state: `${state}-trouble`,
    mock: {},
    open: { path },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown(...names)(visit);
      mock.fault = [500, "Accident", "the read model cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
];
const filtered = (open) => ({
  mock: {},
  open: { path: "filter", ...open },
  reach: async (visit) => {
    const prose = "A queue keeps what comes in order; whoever takes from it gets what came first. ".repeat(4);
    const code = '```rust\nlet mut queue = Queue::new();\nqueue.push("first");\nassert_eq!(queue.pop(), Some("first"));\n```';
    await visit.page.getByLabel(/^Text/).fill(`# A queue\n\n${prose}\n\n${code}\n\n## Bounds\n\n${prose}\n\n${code}\n`);
    await visit.page.getByRole("button", { name: "Filter it" }).click();
    await shown("outcome")(visit);
  },
});

const WEB = [
  ...webStates("web-rules", "web-rules", "web-rules"),
  ...webStates("web-waivers", "web-rules?tab=waivers", "web-waivers"),
  ...webStates("pages", "pages", "web-pages"),
  ...webStates("reports", "reports", "plots", "cycles"),
  { state: "web-rules-no-match", mock: {}, open: { path: "web-rules?search=zlib" }, reach: shown("no-match") },
  {
    state: "web-rules-refused",
    mock: {},
    open: { path: "web-rules" },
    expects: [/status of 422/],
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "New rule" }).click();
      await visit.page.getByLabel(/^Pattern/).fill("docs.example/path");
      await visit.page.getByRole("dialog").getByLabel(/^Category/).fill("documentation");
      await visit.page.getByLabel(/^Reason/).fill("our own");
      await visit.page.getByRole("button", { name: "Add" }).click();
      await visit.page.getByText("a host has no slash").waitFor();
    },
  },
  {
    state: "web-rules-import",
    mock: {},
    open: { path: "web-rules" },
    expects: [/status of 400/],
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Import" }).click();
      await visit.page.getByRole("dialog").getByLabel(/^Rules/).fill("no rule\n");
      await visit.page.getByRole("button", { name: "Import 1 rule" }).click();
      await visit.page.getByText(/line 1/).waitFor();
    },
  },
  { state: "web-test-empty", mock: {}, open: { path: "web-rules?tab=test" }, reach: shown("empty") },
  {
    state: "web-test-passes",
    mock: {},
    open: { path: `web-rules?tab=test&url=https://github.com/&agent=${AGENT}` },
    reach: shown("verdict", "gates", "waived"),
  },
  {
    state: "web-test-blocked",
    mock: {},
    open: { path: "web-rules?tab=test&url=https://files.packages.example/six" },
    reach: shown("verdict", "gates", "waived"),
  },
  {
    state: "web-test-narrow",
    mock: {},
    open: { path: `web-rules?tab=test&url=https://used.example/&agent=${AGENT}`, width: 480, height: 860 },
    reach: shown("verdict", "gates", "waived"),
  },
  {
    state: "web-test-refused",
    mock: {},
    open: { path: "web-rules?tab=test&url=docs.rs" },
    expects: [/status of 400/],
    reach: ({ page }) => page.getByText("has no scheme").waitFor(),
  },
  {
    state: "web-waivers-new",
    mock: {},
    open: { path: "web-rules?tab=waivers" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "New waiver" }).click();
      await visit.page.getByRole("dialog").getByLabel("It permits").selectOption("code");
    },
  },
  {
    state: "pages-purge",
    mock: {},
    open: { path: "pages" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: /^Purge https/ }).first().click();
      await dialog(visit);
    },
  },
  { state: "pages-search", mock: {}, open: { path: "pages?tab=search&words=queue" }, reach: shown("found") },
  {
    state: "pages-search-narrow",
    mock: {},
    open: { path: "pages?tab=search&words=queue", width: 480, height: 860 },
    reach: shown("found"),
  },
  { state: "pages-search-empty", mock: {}, open: { path: "pages?tab=search" }, reach: shown("empty") },
  { state: "reports-cycle", mock: {}, open: { path: "reports?cycle=38" }, reach: shown("state-hash", "plots") },
  { state: "filter", ...filtered({}) },
  { state: "filter-narrow", ...filtered({ width: 480, height: 860 }) },
  { state: "filter-empty", mock: {}, open: { path: "filter" }, reach: shown("empty") },
  {
    state: "filter-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "filter" },
    reach: shown("forbidden"),
  },
  {
    state: "filter-trouble",
    mock: {},
    open: { path: "filter" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      mock.fault = [500, "Accident", "the filter fell over"];
      await visit.page.getByLabel(/^Text/).fill("a text");
      await visit.page.getByRole("button", { name: "Filter it" }).click();
      await shown("trouble")(visit);
    },
  },
  {
    state: "web-menu",
    mock: {},
    open: { path: "reports" },
    reach: async (visit) => {
      await shown("plots")(visit);
      await visit.page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("button", { name: "Web" }).click();
      await visit.page.getByRole("list", { name: "Web" }).waitFor();
    },
  },
];

const STATES = [
  {
    state: "sign-in",
    mock: {},
    open: { signedIn: false },
    reach: ({ page }) => page.getByLabel("Access token").waitFor(),
  },
  {
    state: "tail",
    mock: { events: 400 },
    reach: async (visit, { mock }) => {
      await visit.live();
      mock.append(9);
      await visit.page.locator('[data-position="409"]').waitFor();
    },
  },
  {
    state: "tail-detail",
    mock: { events: 400 },
    open: { path: "?at=390" },
    reach: async (visit) => {
      await shown("detail", "events")(visit);
      await visit.page.getByRole("heading", { name: "Causation" }).waitFor();
      await visit.page.getByLabel("Loading the chain").waitFor({ state: "detached" });
    },
  },
  {
    state: "tail-paused",
    mock: { events: 400 },
    open: { path: "?q=subsystem:registry&paused=380" },
    reach: shown("events", "new-count"),
  },
  {
    state: "tail-suggestions",
    mock: { events: 400 },
    reach: async (visit) => {
      await shown("events")(visit);
      await visit.page.keyboard.press("/");
      await visit.page.keyboard.type("subsystem:registry kind:");
      await visit.page.getByRole("option").first().waitFor();
      await visit.page.keyboard.press("ArrowDown");
    },
  },
  {
    state: "tail-no-match",
    mock: { events: 400 },
    open: { path: "?q=kind:RuleAdded+nothing-like-it" },
    reach: shown("no-match"),
  },
  {
    state: "tail-empty",
    mock: { events: 0 },
    reach: async (visit) => {
      await visit.live();
      await shown("empty")(visit);
    },
  },
  { state: "tail-narrow", mock: { events: 400 }, open: { width: 480, height: 860 }, reach: shown("events") },
  {
    state: "tail-detail-narrow",
    mock: { events: 400 },
    open: { path: "?at=390", width: 480, height: 860 },
    reach: async (visit) => {
      await shown("detail")(visit);
      await visit.page.getByLabel("Loading the chain").waitFor({ state: "detached" });
    },
  },
  {
    state: "projections",
    mock: { events: 400 },
    open: { path: "projections" },
    reach: async (visit, { mock }) => {
      await shown("projections")(visit);
      mock.projections.startReplay("runs", 0, { steps: 0, share: 0.41 });
      mock.projections.startReplay("cache", 0, { state: "interrupted", share: 0.7 });
      await visit.page.getByRole("progressbar").nth(1).waitFor();
    },
  },
  {
    state: "projections-drawer",
    mock: { events: 400 },
    open: { path: "projections?open=block_log" },
    reach: async (visit, { mock }) => {
      mock.projections.startReplay("block_log", 0, { steps: 0, share: 0.41 });
      await dialog(visit);
      await visit.page.getByTestId("dead-letters").getByRole("listitem").first().waitFor();
      await visit.page.getByRole("progressbar").first().waitFor();
    },
  },
  {
    state: "projections-replay",
    mock: { events: 400 },
    open: { path: "projections" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Replay block_log" }).click();
      await dialog(visit);
    },
  },
  {
    state: "projections-empty",
    mock: { events: 0, projections: false },
    open: { path: "projections" },
    reach: shown("empty"),
  },
  {
    state: "dashboard",
    mock: { events: 40 },
    open: { path: "dashboard?range=7d" },
    reach: shown("chart", "top-packages", "ecosystems"),
  },
  {
    state: "dashboard-empty",
    mock: { firewall: { empty: true } },
    open: { path: "dashboard" },
    reach: shown("chart", "empty"),
  },
  {
    state: "dashboard-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "dashboard" },
    reach: shown("forbidden"),
  },
  {
    state: "dashboard-narrow",
    mock: { events: 40 },
    open: { path: "dashboard", width: 480, height: 860 },
    reach: shown("chart", "ecosystems"),
  },
  { state: "blocks", mock: { events: 40 }, open: { path: "blocks" }, reach: shown("blocks") },
  { state: "blocks-narrow", mock: { events: 40 }, open: { path: "blocks", width: 480, height: 860 }, reach: shown("blocks") },
  { state: "blocks-empty", mock: { firewall: { empty: true } }, open: { path: "blocks" }, reach: shown("empty") },
  { state: "blocks-no-match", mock: {}, open: { path: "blocks?package=zlib" }, reach: shown("no-match") },
  {
    state: "blocks-trouble",
    mock: {},
    open: { path: "blocks" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("blocks")(visit);
      mock.fault = [500, "Accident", "the block log cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  { state: "rules", mock: {}, open: { path: "rules" }, reach: shown("rules") },
  { state: "rules-narrow", mock: {}, open: { path: "rules", width: 480, height: 860 }, reach: shown("rules") },
  { state: "rules-empty", mock: { firewall: { empty: true } }, open: { path: "rules" }, reach: shown("empty") },
  { state: "rules-no-match", mock: {}, open: { path: "rules?find=zlib" }, reach: shown("no-match") },
  {
    state: "rules-read-only",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "rules" },
    reach: shown("rules"),
  },
  {
    state: "rules-preview",
    mock: {},
    open: { path: "rules" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "New rule" }).click();
      await visit.page.getByLabel(/^Package/).fill("six");
      await visit.page.getByLabel(/^Versions/).fill(">=1.16");
      await visit.page.getByRole("button", { name: "What would it hit?" }).click();
      await shown("preview")(visit);
    },
  },
  {
    state: "rules-refused",
    mock: {},
    open: { path: "rules" },
    expects: [/status of 422/],
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "New rule" }).click();
      await visit.page.getByLabel(/^Package/).fill("six");
      await visit.page.getByLabel(/^Versions/).fill("^1");
      await visit.page.getByRole("button", { name: "Add" }).click();
      await visit.page.getByText("no constraint of pypi").waitFor();
    },
  },
  { state: "waivers", mock: {}, open: { path: "waivers" }, reach: shown("waivers") },
  { state: "waivers-narrow", mock: {}, open: { path: "waivers", width: 480, height: 860 }, reach: shown("waivers") },
  { state: "waivers-empty", mock: { firewall: { empty: true } }, open: { path: "waivers" }, reach: shown("empty") },
  {
    state: "waivers-no-match",
    mock: { firewall: { empty: true } },
    open: { path: "waivers?state=expired" },
    reach: shown("no-match"),
  },
  {
    state: "waivers-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "waivers" },
    reach: shown("forbidden"),
  },
  {
    state: "waivers-new",
    mock: {},
    open: { path: "waivers" },
    expects: [/status of 422/],
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "New waiver" }).click();
      await visit.page.getByLabel(/^Package/).fill("six");
      await visit.page.getByLabel(/^Versions/).fill("^1");
      await visit.page.getByLabel(/^Reason/).fill("needed for the fair");
      await visit.page.getByLabel(/^Owner/).fill("team blue");
      await visit.page.getByRole("button", { name: "Ask for it" }).click();
      await visit.page.getByText("no constraint of pypi").waitFor();
    },
  },
  {
    state: "waivers-grant",
    mock: {},
    open: { path: "waivers" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: /^Grant the waiver of lodash/ }).click();
      await dialog(visit);
    },
  },
  {
    state: "waivers-trouble",
    mock: {},
    open: { path: "waivers" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("waivers")(visit);
      mock.fault = [500, "Accident", "the read model cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  { state: "holds", mock: {}, open: { path: "holds" }, reach: shown("waiting", "answered") },
  { state: "holds-narrow", mock: {}, open: { path: "holds", width: 480, height: 860 }, reach: shown("waiting") },
  { state: "holds-empty", mock: { firewall: { empty: true } }, open: { path: "holds" }, reach: shown("empty") },
  {
    state: "holds-read-only",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "holds" },
    reach: shown("waiting"),
  },
  {
    state: "holds-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "holds" },
    reach: shown("forbidden"),
  },
  {
    state: "holds-answer",
    mock: {},
    open: { path: "holds" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: /^Allow lodash/ }).click();
      await dialog(visit);
    },
  },
  {
    state: "holds-trouble",
    mock: {},
    open: { path: "holds" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("waiting")(visit);
      mock.fault = [500, "Accident", "the log cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  { state: "profiles", mock: {}, open: { path: "profiles" }, reach: shown("profiles") },
  { state: "profiles-narrow", mock: {}, open: { path: "profiles", width: 480, height: 860 }, reach: shown("profiles") },
  { state: "profiles-empty", mock: { firewall: { empty: true } }, open: { path: "profiles" }, reach: shown("empty") },
  {
    state: "profiles-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "profiles" },
    reach: shown("forbidden"),
  },
  {
    state: "profiles-change",
    mock: {},
    open: { path: "profiles" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Change agent" }).click();
      await dialog(visit);
    },
  },
  {
    state: "profiles-trouble",
    mock: {},
    open: { path: "profiles" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("profiles")(visit);
      mock.fault = [500, "Accident", "the log cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  { state: "sources", mock: {}, open: { path: "sources" }, reach: shown("parts-osv", "parts-openssf") },
  { state: "sources-history", mock: {}, open: { path: "sources?open=osv" }, reach: shown("visits-osv") },
  { state: "sources-narrow", mock: {}, open: { path: "sources", width: 480, height: 860 }, reach: shown("parts-osv") },
  { state: "sources-empty", mock: { firewall: { empty: true } }, open: { path: "sources" }, reach: shown("empty") },
  {
    state: "sources-read-only",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "sources" },
    reach: shown("parts-osv"),
  },
  {
    state: "sources-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "sources" },
    reach: shown("forbidden"),
  },
  {
    state: "sources-sync",
    mock: {},
    open: { path: "sources" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Sync now: openssf" }).click();
      await dialog(visit);
    },
  },
  {
    state: "sources-trouble",
    mock: {},
    open: { path: "sources" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("parts-osv")(visit);
      mock.fault = [500, "Accident", "the read model cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  { state: "cache", mock: {}, open: { path: "cache" }, reach: shown("cache") },
  { state: "cache-narrow", mock: {}, open: { path: "cache", width: 480, height: 860 }, reach: shown("cache") },
  { state: "cache-empty", mock: { firewall: { empty: true } }, open: { path: "cache" }, reach: shown("empty") },
  {
    state: "cache-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "cache" },
    reach: shown("forbidden"),
  },
  {
    state: "cache-purge",
    mock: {},
    open: { path: "cache" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Purge npm" }).click();
      await dialog(visit);
    },
  },
  {
    state: "cache-trouble",
    mock: {},
    open: { path: "cache" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("cache")(visit);
      mock.fault = [500, "Accident", "the folder cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  { state: "connect", mock: {}, open: { path: "connect?token=yes" }, reach: shown("ecosystems") },
  { state: "connect-waiting", mock: { firewall: { empty: true } }, open: { path: "connect" }, reach: shown("ecosystems") },
  { state: "connect-narrow", mock: {}, open: { path: "connect", width: 480, height: 860 }, reach: shown("ecosystems") },
  { state: "requests", mock: {}, open: { path: "requests" }, reach: shown("requests") },
  { state: "requests-narrow", mock: {}, open: { path: "requests", width: 480, height: 860 }, reach: shown("requests") },
  {
    state: "requests-paused",
    mock: {},
    open: { path: "requests?paused=yes&state=blocked" },
    reach: shown("requests", "new-count"),
  },
  { state: "requests-empty", mock: { firewall: { empty: true } }, open: { path: "requests" }, reach: shown("empty") },
  { state: "requests-no-match", mock: {}, open: { path: "requests?host=nowhere.example" }, reach: shown("no-match") },
  {
    state: "requests-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "requests" },
    reach: shown("forbidden"),
  },
  {
    state: "requests-blocked",
    mock: {},
    open: { path: "requests?state=blocked&host=github.com" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "https://github.com/tokio-rs/tokio" }).first().click();
      await shown("verdict")(visit);
    },
  },
  {
    state: "requests-given",
    mock: {},
    open: { path: "requests?state=completed&q=semaphore" },
    reach: async (visit) => {
      await visit.page.locator("[data-request]").filter({ hasText: "200" }).first().getByRole("button").last().click();
      await visit.page.getByRole("button", { name: /as plain text/ }).click();
      await shown("content", "verdict")(visit);
      await visit.page.getByTestId("content").scrollIntoViewIfNeeded();
    },
  },
  {
    state: "requests-detail-narrow",
    mock: {},
    open: { path: "requests?state=failed", width: 480, height: 860 },
    reach: async (visit) => {
      await visit.page.locator("[data-request]").first().getByRole("button").last().click();
      await shown("verdict")(visit);
    },
  },
  {
    state: "requests-trouble",
    mock: {},
    open: { path: "requests" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("requests")(visit);
      mock.fault = [500, "Accident", "the read model cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  { state: "agents", mock: {}, open: { path: "agents" }, reach: shown("world", "agents") },
  { state: "agents-narrow", mock: {}, open: { path: "agents", width: 480, height: 860 }, reach: shown("world", "agents") },
  {
    state: "agents-empty",
    mock: { firewall: { empty: true }, web: { epoch: 2 } },
    open: { path: "agents" },
    reach: shown("world", "empty"),
  },
  {
    state: "agents-read-only",
    mock: { firewall: { scopes: ["agents:read"] } },
    open: { path: "agents" },
    reach: shown("world", "agents"),
  },
  {
    state: "agents-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "agents" },
    reach: shown("forbidden"),
  },
  {
    state: "agents-detail",
    mock: {},
    open: { path: "agents" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "reader", exact: true }).click();
      await shown("cycles")(visit);
    },
  },
  {
    state: "agents-register",
    mock: {},
    open: { path: "agents" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Register agent" }).click();
      await visit.page.getByLabel(/^Public key/).fill("no key");
    },
  },
  {
    state: "agents-grant",
    mock: {},
    open: { path: "agents" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Grant spark to reader" }).click();
      await dialog(visit);
    },
  },
  {
    state: "agents-advance",
    mock: {},
    open: { path: "agents" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Advance the epoch" }).click();
      await dialog(visit);
    },
  },
  {
    state: "agents-clock",
    mock: { web: { driven: true } },
    open: { path: "agents" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Move the clock" }).click();
      await dialog(visit);
    },
  },
  {
    state: "agents-trouble",
    mock: {},
    open: { path: "agents" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("agents")(visit);
      mock.fault = [500, "Accident", "the read model cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  { state: "approvals", mock: {}, open: { path: "approvals" }, reach: shown("waiting", "answered") },
  { state: "approvals-narrow", mock: {}, open: { path: "approvals", width: 480, height: 860 }, reach: shown("waiting") },
  { state: "approvals-empty", mock: { firewall: { empty: true } }, open: { path: "approvals" }, reach: shown("empty") },
  {
    state: "approvals-read-only",
    mock: { firewall: { scopes: ["web:read"] } },
    open: { path: "approvals" },
    reach: shown("waiting"),
  },
  {
    state: "approvals-forbidden",
    mock: { firewall: { scopes: ["events:read"] } },
    open: { path: "approvals" },
    reach: shown("forbidden"),
  },
  {
    state: "approvals-answer",
    mock: {},
    open: { path: "approvals" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: /^Allow GET https:\/\/github.com/ }).click();
      await dialog(visit);
    },
  },
  {
    state: "approvals-trouble",
    mock: {},
    open: { path: "approvals" },
    expects: [/status of 500/],
    reach: async (visit, { mock }) => {
      await shown("waiting")(visit);
      mock.fault = [500, "Accident", "the read model cannot be read"];
      await visit.page.reload();
      await shown("trouble")(visit);
    },
  },
  {
    state: "web-pages",
    mock: {},
    open: { path: "approvals" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: /^Web/ }).click();
      await visit.page.getByRole("link", { name: "Requests" }).waitFor();
    },
  },
  { state: "tokens", mock: {}, open: { path: "tokens?show=all" }, reach: shown("tokens") },
  { state: "tokens-narrow", mock: {}, open: { path: "tokens", width: 480, height: 860 }, reach: shown("tokens") },
  {
    state: "tokens-forbidden",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "tokens" },
    reach: shown("forbidden"),
  },
  {
    state: "tokens-new",
    mock: { firewall: { scopes: ["tokens:write", "registry:npm"] } },
    open: { path: "tokens" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "New token" }).click();
      await dialog(visit);
    },
  },
  {
    state: "tokens-secret",
    mock: {},
    open: { path: "tokens" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "New token" }).click();
      await visit.page.getByLabel(/^Name/).fill("nightly");
      await visit.page.getByRole("checkbox", { name: /registry:npm/ }).check();
      await visit.page.getByRole("button", { name: "Issue" }).click();
      await shown("secret")(visit);
    },
  },
  {
    state: "impact",
    mock: {},
    open: { path: "impact?name=GHSA-35jh-r3h4-6jhm" },
    reach: shown("impact", "affected", "downloads"),
  },
  { state: "impact-empty", mock: {}, open: { path: "impact" }, reach: shown("empty") },
  { state: "impact-nobody", mock: {}, open: { path: "impact?name=GHSA-none" }, reach: shown("impact") },
  { state: "what-if", mock: {}, open: { path: "what-if" }, reach: ({ page }) => page.getByLabel(/^Policy/).waitFor() },
  {
    state: "what-if-working",
    mock: {},
    open: { path: "what-if" },
    reach: async (visit) => {
      await visit.page.getByLabel(/^Policy/).fill("# slow");
      await visit.page.getByRole("button", { name: "Try it" }).click();
      await shown("working")(visit);
    },
  },
  {
    state: "what-if-difference",
    mock: {},
    open: { path: "what-if" },
    reach: async (visit) => {
      await visit.page.getByRole("button", { name: "Try it" }).click();
      await shown("by-versions", "by-tokens", "by-days")(visit);
    },
  },
  {
    state: "what-if-refused",
    mock: {},
    open: { path: "what-if" },
    expects: [/422/],
    reach: async (visit) => {
      await visit.page.getByLabel(/^Policy/).fill("policy:\n  severity_floor: awful\n");
      await visit.page.getByRole("button", { name: "Try it" }).click();
      await visit.page.getByText("is none of low").waitFor();
    },
  },
  ...WEB,
  {
    state: "help",
    mock: { events: 40 },
    reach: async (visit) => {
      await shown("events")(visit);
      await visit.page.keyboard.press("?");
      await dialog(visit);
      await visit.page.getByText("incarnation").waitFor();
    },
  },
  {
    state: "palette",
    mock: { events: 40 },
    reach: async (visit) => {
      await shown("events")(visit);
      await visit.page.keyboard.press("Control+k");
      await dialog(visit);
      await visit.page.getByText("subsystem:registry", { exact: true }).waitFor();
    },
  },
  {
    state: "not-found",
    mock: {},
    open: { path: "nowhere" },
    reach: ({ page }) => page.getByText("No page lives").waitFor(),
  },
];

export default STATES.flatMap(({ state, mock, open, expects, reach }) =>
  ["light", "dark"].map((theme) => ({
    name: `${state}, ${theme}`,
    mock,
    open: { ...open, theme },
    ...(expects ? { expects } : {}),
    async run(visit, world) {
      await reach(visit, world);
      await visit.page.evaluate(() => document.fonts.ready);
      await visit.shot(`${state}-${theme}`);
      assert.deepEqual(await visit.axe(), []);
    },
  })),
);
