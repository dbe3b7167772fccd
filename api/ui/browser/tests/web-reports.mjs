import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "the present cycle so far is shown, and what has ended as bars and rows",
    mock: {},
    open: { path: "reports" },
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("plots").waitFor();
      const said = await visit.api("web/reports/47");
      const figure = async (name) => (await page.locator(`[data-figure="${name}"] .numbers`).textContent()).replaceAll(",", "");
      assert.equal(Number(await figure("Requests")), said.total_requests);
      assert.equal(Number(await figure("Cost")), said.spark_cost);
      assert.equal(await figure("Hit rate"), `${(said.cache_hit_rate * 100).toFixed(1)}%`);
      assert.equal(await page.getByTestId("state-hash").count(), 0, "it has not ended");
      assert.equal(await page.locator("[data-cycle]").count(), 47);
      for (const chart of ["requests", "hit-rate", "cost", "code"])
        assert.equal(await page.getByTestId(`chart-${chart}`).locator("g").count(), 48, chart);
      const bars = await page.getByTestId("chart-requests").locator("g").evaluateAll((groups) =>
        groups.map(({ dataset }) => Number(dataset.letThrough) + Number(dataset.blocked)),
      );
      assert.equal(bars.at(-1), said.total_requests, "the newest stands at the right");
    },
  },
  {
    name: "a cycle is looked at in full, stands in the address, and its hash can be copied",
    mock: {},
    open: { path: "reports" },
    async run(visit) {
      const { page } = visit;
      await page.locator('[data-cycle="40"]').getByRole("link").click();
      await page.getByTestId("state-hash").waitFor();
      assert.equal(visit.search().get("cycle"), "40");
      const { state_hash, top_users } = await visit.api("web/reports/40");
      assert.equal(await page.getByTestId("state-hash").textContent(), state_hash);
      await page.getByRole("button", { name: "Copy the hash", exact: true }).click();
      await until("the hash on the clipboard", async () => {
        return (await page.evaluate(() => navigator.clipboard.readText())) === state_hash;
      });
      await page.getByRole("button", { name: "Copy the hash of cycle 35" }).click();
      const { state_hash: other } = await visit.api("web/reports/35");
      await until("another", async () => (await page.evaluate(() => navigator.clipboard.readText())) === other);
      const users = await page.locator("[data-agent]").evaluateAll((all) => all.map(({ dataset }) => dataset.agent));
      assert.deepEqual(users, top_users.map(({ agent }) => agent));
      await page.getByRole("link", { name: "the present cycle" }).click();
      await until("the present cycle", () => visit.search().get("cycle") === null);
      await page.getByTestId("domains").getByRole("link", { name: "docs.rs", exact: true }).click();
      await page.getByTestId("web-pages").waitFor();
      assert.equal(visit.search().get("host"), "docs.rs");
    },
  },
  {
    name: "the page speaks with a server in which nothing was asked",
    open: { path: "reports" },
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("cycle").waitFor();
      const { cycle } = await visit.api("web/access");
      await page.getByRole("heading", { name: new RegExp(`^Cycle [\\d,]+`) }).waitFor();
      const report = await visit.api(`web/reports/${cycle}`);
      const shown = await page.locator('[data-figure="Requests"] .numbers').textContent();
      assert.equal(Number(shown.replaceAll(",", "")), report.total_requests);
    },
  },
  {
    name: "a cycle that has not begun is said to be none",
    mock: {},
    open: { path: "reports?cycle=999" },
    expects: [/status of 404/],
    async run({ page }) {
      await page.getByTestId("trouble").getByText(/no report of cycle/).waitFor();
    },
  },
];
