import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "a rule is added, found, changed and removed, with the server's words at the field",
    open: { path: "rules" },
    expects: [/status of 422/],
    async run(visit) {
      const { page } = visit;
      const name = `rule-of-${Date.now()}`;
      await page.getByRole("button", { name: "New rule" }).click();
      await page.getByLabel(/^Package/).fill(name);
      await page.getByLabel(/^Versions/).fill("^1");
      await page.getByLabel(/^Reason/).fill("not reviewed yet");
      await page.keyboard.press("Enter");
      await until("the field to be marked", async () => {
        return (await page.getByLabel(/^Versions/).getAttribute("aria-invalid")) === "true";
      });
      await page.getByLabel(/^Versions/).fill(">=1");
      await page.getByLabel("Mask").selectOption("hide");
      await page.getByRole("button", { name: "Add" }).click();
      const row = page.locator(`[data-rule="${name}"]`);
      await row.getByText(">=1", { exact: true }).waitFor();
      await page.getByLabel("Find a rule").fill(`${name} reviewed`);
      await until("one row", async () => (await page.locator("[data-rule]").count()) === 1);
      assert.equal(visit.search().get("find"), `${name} reviewed`);
      await page.getByRole("button", { name: `Change the rule on ${name}` }).click();
      assert.equal(await page.getByLabel("Mask").inputValue(), "hide");
      await page.getByLabel(/^Versions/).fill(">=2");
      await page.getByRole("button", { name: "Change", exact: true }).click();
      await row.getByText(">=2", { exact: true }).waitFor();
      await page.getByRole("button", { name: `Remove the rule on ${name}` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await until("the row to go", async () => (await row.count()) === 0);
      const { rules } = await visit.api("rules");
      assert.ok(rules.every((rule) => rule.package !== name));
    },
  },
  {
    name: "what a rule would hit is shown before it is saved, and only as long as it is about that",
    mock: {},
    open: { path: "rules" },
    expects: [/status of 422/],
    async run({ page }, { mock }) {
      const before = mock.firewall.rules.length;
      await page.getByRole("button", { name: "New rule" }).click();
      await page.getByLabel(/^Package/).fill("six");
      await page.getByLabel(/^Versions/).fill("^1");
      const look = page.getByRole("button", { name: "What would it hit?" });
      await look.click();
      await page.getByText("no constraint of pypi").waitFor();
      await page.getByLabel(/^Versions/).fill(">=1.16");
      await look.click();
      await page.getByTestId("would-hit").getByText("1.17.0").waitFor();
      const versions = (testid) => page.getByTestId(testid).locator("[data-version]").allTextContents();
      assert.deepEqual((await versions("would-hit")).map((text) => text.split(" ")[0]), ["1.17.0", "1.16.0"]);
      assert.deepEqual((await versions("would-leave")).map((text) => text.split(" ")[0]), ["1.15.0"]);
      await page.getByLabel(/^Reason/).fill("not reviewed yet");
      assert.ok(await page.getByTestId("preview").isVisible(), "a reason hits nothing else");
      await page.getByLabel(/^Package/).fill("zlib");
      await page.getByTestId("preview").waitFor({ state: "detached" });
      await look.click();
      await page.getByTestId("preview").getByText(/Nothing like that was asked for/).waitFor();
      assert.equal(mock.firewall.rules.length, before);
    },
  },
  {
    name: "who may only read is told why the buttons do nothing",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "rules" },
    async run({ page }) {
      await page.getByTestId("rules").waitFor();
      for (const name of ["New rule", "Change the rule on six", "Remove the rule on six"]) {
        const button = page.getByRole("button", { name });
        assert.ok(await button.isDisabled(), name);
        assert.match(await button.getAttribute("title"), /rules:write/);
      }
    },
  },
  {
    name: "a block leads to the rule behind it, and the rule to its blocks",
    mock: { events: 130 },
    open: { path: "blocks?source=rules" },
    async run(visit) {
      const { page } = visit;
      await page.getByRole("link", { name: /^rule …/ }).first().click();
      await until("one rule", async () => (await page.locator("[data-rule]").count()) === 1);
      await page.getByRole("link", { name: "Blocks by the rule on six" }).click();
      await page.getByTestId("blocks").waitFor();
      assert.match(visit.search().get("rule"), /beef$/);
    },
  },
];
