import assert from "node:assert/strict";
import { until } from "../driver.mjs";
import { AGENT } from "../mock-web-rules.mjs";

const outcomes = (page) =>
  page.locator("[data-gate]").evaluateAll((rows) => rows.map(({ dataset }) => `${dataset.gate} ${dataset.outcome}`));

export default [
  {
    name: "a rule is added, found, changed and removed, with the server's words at the field",
    open: { path: "web-rules" },
    expects: [/status of 422/],
    async run(visit) {
      const { page } = visit;
      const host = `docs-${Date.now()}.example`;
      await page.getByRole("button", { name: "New rule" }).click();
      await page.getByLabel(/^Pattern/).fill(`${host}/path`);
      await page.getByRole("dialog").getByLabel(/^Category/).fill("documentation");
      await page.getByLabel(/^Reason/).fill("our own documentation");
      await page.keyboard.press("Enter");
      await until("the field to be marked", async () => {
        return (await page.getByLabel(/^Pattern/).getAttribute("aria-invalid")) === "true";
      });
      await page.getByLabel(/^Pattern/).fill(host);
      await page.getByRole("button", { name: "Add" }).click();
      // Until it is closed, the dialog holds the focus, and what is typed goes there.
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByLabel("Find a pattern").fill(host);
      await page.getByRole("button", { name: "Search" }).click();
      await until("the pattern in the address", () => visit.search().get("search") === host);
      const row = page.locator(`[data-rule="${host}"]`);
      await row.getByText("allow", { exact: true }).waitFor();
      await row.getByText("operator", { exact: true }).waitFor();
      assert.equal(await page.locator("[data-rule]").count(), 1);
      await page.getByRole("button", { name: `Change the rule on ${host}` }).click();
      await page.getByRole("dialog").getByLabel("Action").selectOption("block");
      await page.getByRole("button", { name: "Change", exact: true }).click();
      await row.getByText("block", { exact: true }).waitFor();
      await page.getByRole("button", { name: `Remove the rule on ${host}` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByTestId("no-match").waitFor();
      const { rules } = await visit.api(`web/rules?search=${host}`);
      assert.deepEqual(rules, []);
    },
  },
  {
    name: "many rules come by an import; a line that is none is named and changes nothing",
    open: { path: "web-rules" },
    expects: [/status of 400/],
    async run(visit) {
      const { page } = visit;
      const name = `many-${Date.now()}`;
      const rule = (n) =>
        JSON.stringify({ pattern: `${n}.${name}.example`, action: "block", category: "test", reason: "one of many" });
      await page.getByRole("button", { name: "Import" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("A file with rules").setInputFiles({
        name: "rules.ndjson",
        mimeType: "application/x-ndjson",
        buffer: Buffer.from(`${rule(1)}\nno rule\n${rule(2)}\n`),
      });
      await dialog.getByRole("button", { name: "Import 3 rules" }).click();
      await dialog.getByText(/line 2/).waitFor();
      assert.deepEqual((await visit.api(`web/rules?search=${name}`)).rules, []);
      await dialog.getByLabel(/^Rules/).fill(`${rule(1)}\n\n${rule(2)}\n`);
      await dialog.getByRole("button", { name: "Import 2 rules" }).click();
      await dialog.waitFor({ state: "detached" });
      await page.locator(`[data-rule="2.${name}.example"]`).waitFor();
      for (const n of [1, 2]) {
        await page.getByRole("button", { name: `Remove the rule on ${n}.${name}.example` }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
        await page.locator(`[data-rule="${n}.${name}.example"]`).waitFor({ state: "detached" });
      }
    },
  },
  {
    name: "an address is tried by keyboard, and what is wrong with the question is said at its field",
    open: { path: "web-rules?tab=test" },
    expects: [/status of 400/],
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("empty").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("docs.rs");
      await page.keyboard.press("Enter");
      const address = page.getByLabel(/^Address/);
      await until("the field to be marked", async () => (await address.getAttribute("aria-invalid")) === "true");
      await address.fill("https://api.openai.com/v1");
      await page.keyboard.press("Enter");
      await page.getByTestId("verdict").getByText("It would not pass").waitFor();
      await page.getByTestId("matching").getByText("api.openai.com").waitFor();
      assert.equal(visit.search().get("url"), "https://api.openai.com/v1");
      const gates = await outcomes(page);
      assert.ok(gates.includes("host refuses"), gates.join(", "));
      assert.ok(!gates.some((gate) => gate.startsWith("quota")), "no agent is named");
      await page.reload();
      await page.getByTestId("verdict").waitFor();
      assert.equal(await address.inputValue(), "https://api.openai.com/v1");
    },
  },
  {
    name: "for an agent every gate of its own is asked, and the first that refuses is told",
    mock: {},
    open: { path: `web-rules?tab=test&url=https://docs.rs/&agent=${AGENT}` },
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("verdict").getByText("It would pass").waitFor();
      const gates = ["agent passes", "epoch passes", "pace passes", "quota passes", "host passes", "spark passes", "address later"];
      assert.deepEqual(await outcomes(page), gates);
      await page.getByLabel("Method").selectOption("POST");
      await page.getByRole("button", { name: "Would it pass?" }).click();
      await page.getByTestId("verdict").getByText("epoch 3 is read-only: no POST").waitFor();
      assert.equal(visit.search().get("method"), "POST");
      await page.locator('[data-gate="epoch"]').getByText("ReadOnlyEpoch 0x0700").waitFor();
      await page.getByLabel("Method").selectOption("GET");
      await page.getByLabel(/^Address/).fill("https://used.example/");
      await page.keyboard.press("Enter");
      await page.getByTestId("verdict").getByText("5 of 5 requests of this cycle are used").waitFor();
    },
  },
  {
    name: "a blocked address leads to a waiver, which a second person grants and which then lets it through",
    mock: {},
    open: { path: "web-rules?tab=test&url=https://api.openai.com/" },
    async run({ page }, { mock }) {
      await page.getByTestId("waived").getByText(/rule api.openai.com blocks it/).waitFor();
      await page.getByRole("button", { name: "Ask for a waiver" }).click();
      const dialog = page.getByRole("dialog");
      assert.equal(await dialog.getByLabel(/^Hosts/).inputValue(), "api.openai.com");
      await dialog.getByLabel(/^Reason/).fill("the price list");
      await dialog.getByLabel(/^Owner/).fill("team blue");
      await dialog.getByRole("button", { name: "Ask for it" }).click();
      await page.getByText("It waits for a second person").waitFor();
      await page.getByTestId("waived").getByRole("link", { name: "waivers" }).click();
      const own = page.getByRole("button", { name: "Grant the waiver of api.openai.com" });
      await own.waitFor();
      assert.ok(await own.isDisabled());
      assert.match(await own.getAttribute("title"), /somebody else/);
      mock.web.rules.waivers.at(-1).requested_by = "mira";
      await until("somebody else has asked", () => own.isEnabled());
      await own.click();
      await page.getByRole("dialog").getByRole("button", { name: "Grant" }).click();
      const row = page.locator("[data-waiver]").filter({ hasText: "api.openai.com" });
      await row.getByText("granted", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Would it pass?" }).click();
      await page.getByLabel(/^Address/).fill("https://api.openai.com/");
      await page.keyboard.press("Enter");
      await page.getByTestId("verdict").getByText("It would pass").waitFor();
      await page.getByTestId("waived").getByText(/without it, rule api.openai.com blocks it/).waitFor();
    },
  },
  {
    name: "a waiver is refused with a reason, and one of code names its agent",
    mock: {},
    open: { path: "web-rules?tab=waivers" },
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: "Refuse the waiver of api.gitlab.com:8443" }).click();
      await page.getByLabel(/^Reason/).fill("look elsewhere");
      await page.getByRole("dialog").getByRole("button", { name: "Refuse" }).click();
      // The dialog, which names it, too, is gone first.
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByTestId("web-waivers").getByText("api.gitlab.com:8443").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "New waiver" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("It permits").selectOption("code");
      await dialog.getByLabel(/^Agent/).fill(AGENT.toUpperCase());
      await dialog.getByLabel(/^Reason/).fill("to review what it reads");
      await dialog.getByLabel(/^Owner/).fill("team red");
      await dialog.getByRole("button", { name: "Ask for it" }).click();
      await dialog.waitFor({ state: "detached" });
      const made = mock.web.rules.waivers.at(-1);
      assert.deepEqual([made.permits, made.pattern, made.agent], ["code", null, AGENT]);
    },
  },
  {
    name: "what packages come from is a rule that nobody changes",
    mock: {},
    open: { path: "web-rules?category=package_mgr" },
    async run({ page }) {
      const row = page.locator('[data-rule="**.packages.example"]');
      await row.getByText("derived", { exact: true }).waitFor();
      assert.equal(await row.getByRole("button").count(), 0);
      await page.getByRole("button", { name: "Clear" }).click();
      await page.locator('[data-rule="docs.rs"]').getByText("default", { exact: true }).waitFor();
    },
  },
  {
    name: "who may only read is told why the buttons do nothing",
    mock: { firewall: { scopes: ["web:read"] } },
    open: { path: "web-rules" },
    async run({ page }) {
      await page.getByTestId("web-rules").waitFor();
      const told = async (...names) => {
        for (const name of names) {
          const button = page.getByRole("button", { name });
          await button.waitFor();
          assert.ok(await button.isDisabled(), name);
          assert.match(await button.getAttribute("title"), /web:write/);
        }
      };
      await told("Import", "New rule", "Change the rule on docs.rs", "Remove the rule on docs.rs");
      await page.getByRole("link", { name: "Waivers", exact: true }).nth(1).click();
      await told("New waiver", "Grant the waiver of api.gitlab.com:8443", "Revoke the waiver of github.com");
    },
  },
];
