import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "each source stands there as the API says",
    open: { path: "sources" },
    async run(visit) {
      const { page } = visit;
      await page.locator("[data-source]").first().waitFor();
      const { sources } = await visit.api("security-sources");
      const names = await page.locator("[data-source]").evaluateAll((all) => all.map((one) => one.dataset.source));
      assert.deepEqual(names, sources.map(({ name }) => name));
      for (const { name, n_advisories } of sources) {
        const said = await page.locator(`[data-source="${name}"]`).getByTestId("holds").textContent();
        assert.equal(Number(said.replaceAll(/\D/g, "")), n_advisories, name);
      }
    },
  },
  {
    name: "a failure stands with its cause until a visit that believes the losses, which is then in the history",
    mock: {},
    open: { path: "sources" },
    async run(visit, { mock }) {
      const { page } = visit;
      const openssf = page.locator('[data-source="openssf"]');
      await openssf.getByText("too many are gone").waitFor();
      await openssf.getByText(/^in \d+ min/).waitFor();
      await page.getByRole("button", { name: "History of openssf" }).click();
      await page.getByTestId("visits-openssf").waitFor();
      assert.equal(visit.search().get("open"), "openssf");
      const newest = page.getByTestId("visits-openssf").locator("tbody tr").first();
      const before = await newest.getAttribute("data-visit");
      const sync = async (believing) => {
        await page.getByRole("button", { name: "Sync now: openssf" }).click();
        if (believing) await page.getByRole("checkbox", { name: /Believe losses/ }).check();
        await page.getByRole("dialog").getByRole("button", { name: "Sync" }).click();
        await page.getByRole("dialog").waitFor({ state: "detached" });
      };
      await sync(false);
      await openssf.getByText(/asked for/).waitFor();
      assert.ok(await openssf.getByText("too many are gone").isVisible());
      await sync(true);
      await openssf.getByText("too many are gone").waitFor({ state: "detached" });
      await until("the new visit", async () => (await newest.getAttribute("data-visit")) !== before);
      assert.ok(mock.firewall.sources.sources[1].asked_at);
    },
  },
  {
    name: "the history goes on where it ended, and an open one is open again after a reload",
    mock: {},
    open: { path: "sources?open=osv" },
    async run({ page }) {
      const rows = page.getByTestId("visits-osv").locator("tbody tr");
      await until("a page", async () => (await rows.count()) === 20);
      await page.getByRole("button", { name: "Show older" }).click();
      await until("the rest", async () => (await rows.count()) === 23);
      await page.getByRole("button", { name: "Show older" }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Hide history of osv" }).click();
      await page.getByTestId("visits-osv").waitFor({ state: "detached" });
    },
  },
  {
    name: "who may only read is told why the button does nothing, as is who has disabled a source",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "sources" },
    async run({ page }) {
      const button = page.getByRole("button", { name: "Sync now: osv" });
      await button.waitFor();
      assert.ok(await button.isDisabled());
      assert.match(await button.getAttribute("title"), /scope admin/);
    },
  },
  {
    name: "a source that is not enabled says how to enable it",
    mock: {},
    open: { path: "sources" },
    async run({ page }) {
      const button = page.getByRole("button", { name: "Sync now: blocklist" });
      await button.waitFor();
      assert.ok(await button.isDisabled());
      assert.match(await button.getAttribute("title"), /sources\.blocklist/);
    },
  },
];
