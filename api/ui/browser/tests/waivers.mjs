import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "a waiver is asked for, stands there with its owner, and is revoked with a reason",
    open: { path: "waivers" },
    async run(visit) {
      const { page } = visit;
      const name = `waived-${Date.now()}`;
      await page.getByRole("button", { name: "New waiver" }).click();
      await page.getByLabel(/^Package/).fill(name);
      await page.getByLabel(/^Versions/).fill("==1.0");
      await page.getByLabel(/^Waives/).fill("GHSA-1, CVE-2");
      await page.getByLabel(/^Reason/).fill("needed for the fair");
      await page.getByLabel(/^Owner/).fill("team blue");
      await page.getByLabel("It ends in").selectOption({ label: "one day" });
      await page.getByRole("button", { name: "Ask for it" }).click();
      const row = page.locator("[data-waiver]").filter({ hasText: name });
      await row.getByText("granted", { exact: true }).waitFor();
      await row.getByText("team blue answers for it").waitFor();
      await row.getByText("none was needed").waitFor();
      const { waivers } = await visit.api("registry/waivers");
      const made = waivers.find((waiver) => waiver.package === name);
      assert.deepEqual(made.waives.toSorted(), ["CVE-2", "GHSA-1"]);
      await page.getByRole("button", { name: `Revoke the waiver of ${name} ==1.0` }).click();
      await page.getByLabel(/^Reason/).fill("the fair is over");
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await row.getByText("revoked", { exact: true }).waitFor();
      await row.getByText("the fair is over").waitFor();
      await page.getByLabel("State").selectOption("granted");
      await until("the row to go", async () => (await row.count()) === 0);
      assert.equal(visit.search().get("state"), "granted");
    },
  },
  {
    name: "what another asked for is granted by the second person; what one asked for oneself is not",
    mock: {},
    open: { path: "waivers" },
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: "Grant the waiver of lodash <4.17.21" }).click();
      await page.getByRole("dialog").getByText("mira asked that").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Grant" }).click();
      const row = page.locator("[data-waiver]").filter({ hasText: "lodash" });
      await row.getByText("granted", { exact: true }).waitFor();
      await row.getByRole("cell", { name: "admin", exact: true }).waitFor();
      assert.equal(mock.firewall.waivers.waivers[1].granted_by, "admin");
      const own = page.getByRole("button", { name: "Grant the waiver of @scope/* *" });
      assert.ok(await own.isDisabled());
      assert.match(await own.getAttribute("title"), /somebody else/);
    },
  },
  {
    name: "what needs a second person waits, and can be refused",
    mock: {},
    open: { path: "waivers" },
    async run({ page }) {
      await page.getByRole("button", { name: "New waiver" }).click();
      await page.getByLabel(/^Package/).fill("quite-evil");
      await page.getByLabel(/^Reason/).fill("to look at it");
      await page.getByLabel(/^Owner/).fill("team red");
      await page.getByRole("button", { name: "Ask for it" }).click();
      await page.getByText("It waits for a second person").waitFor();
      const row = page.locator("[data-waiver]").filter({ hasText: "quite-evil" });
      await row.getByText("waiting", { exact: true }).waitFor();
      await row.getByText("nobody yet").waitFor();
      await page.getByRole("button", { name: "Refuse the waiver of quite-evil *" }).click();
      await page.getByLabel(/^Reason/).fill("look elsewhere");
      await page.getByRole("dialog").getByRole("button", { name: "Refuse" }).click();
      await row.getByText("revoked", { exact: true }).waitFor();
    },
  },
  {
    name: "who may only read is told why the buttons do nothing",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "waivers" },
    async run({ page }) {
      await page.getByTestId("waivers").waitFor();
      for (const name of ["New waiver", "Grant the waiver of lodash <4.17.21", "Revoke the waiver of six ==1.17.0"]) {
        const button = page.getByRole("button", { name });
        assert.ok(await button.isDisabled(), name);
        assert.match(await button.getAttribute("title"), /rules:write/);
      }
    },
  },
];
