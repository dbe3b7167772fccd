import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "the cache stands there as the API says",
    open: { path: "cache" },
    async run(visit) {
      const { page } = visit;
      await page.locator("[data-figure]").first().waitFor();
      const { ecosystems } = await visit.api("cache/stats");
      for (const { ecosystem, files } of ecosystems) {
        const kept = page.locator(`[data-cache="${ecosystem}/files"] td`).nth(1);
        assert.equal(Number((await kept.textContent()).replaceAll(",", "")), files.n, ecosystem);
      }
    },
  },
  {
    name: "an ecosystem is forgotten after it was confirmed, by the keyboard alone",
    mock: {},
    open: { path: "cache" },
    async run({ page }, { mock }) {
      const button = page.getByRole("button", { name: "Purge npm" });
      await button.focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      assert.deepEqual(mock.firewall.cache.queries, []);
      await button.focus();
      await page.keyboard.press("Enter");
      await dialog.getByLabel(/^Package/).fill("left-*");
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      await page.getByText("3,400 files (340 MB) and 900 lists are forgotten").waitFor();
      assert.deepEqual(mock.firewall.cache.queries, ["ecosystem=npm&package=left-*"]);
      const kept = page.locator('[data-cache="npm/files"] td').nth(1);
      await until("it is gone", async () => (await kept.textContent()) === "0");
    },
  },
  {
    name: "everything goes only where that is said twice, and what goes wrong is said in the dialog",
    mock: {},
    open: { path: "cache" },
    expects: [/status of 400/],
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: "Purge", exact: true }).first().click();
      const dialog = page.getByRole("dialog");
      const forget = dialog.getByRole("button", { name: "Forget everything" });
      await forget.waitFor();
      assert.ok(await forget.isDisabled());
      await dialog.getByLabel("Ecosystem", { exact: true }).selectOption("pypi");
      await dialog.getByLabel(/^Package/).fill("six");
      await dialog.getByLabel(/^Versions/).fill("^1");
      await dialog.getByRole("button", { name: "Forget" }).click();
      await dialog.getByText("no constraint on versions").waitFor();
      await dialog.getByLabel("Ecosystem", { exact: true }).selectOption("");
      await dialog.getByRole("checkbox", { name: /I mean everything/ }).check();
      await forget.click();
      await dialog.waitFor({ state: "detached" });
      assert.equal(mock.firewall.cache.queries.at(-1), "all=true");
      await page.getByTestId("empty").waitFor();
    },
  },
  {
    name: "who may only read is told why the buttons do nothing",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "cache" },
    async run({ page }) {
      const button = page.getByRole("button", { name: "Purge npm" });
      await button.waitFor();
      assert.ok(await button.isDisabled());
      assert.match(await button.getAttribute("title"), /scope admin/);
    },
  },
];
