import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const rows = (page) => page.locator("[data-block]").evaluateAll((all) => all.map((row) => Number(row.dataset.block)));

export default [
  {
    name: "pages go back to the first block, without a hole or a repetition",
    mock: { events: 200 },
    open: { path: "blocks" },
    async run({ page }) {
      await page.getByTestId("blocks").waitFor();
      assert.equal((await rows(page)).length, 50);
      await page.getByRole("button", { name: "Show older" }).click();
      await until("100 rows", async () => (await rows(page)).length === 100);
      await page.getByRole("button", { name: "Show older" }).click();
      await page.getByText("no older ones").waitFor();
      assert.deepEqual(
        await rows(page),
        Array.from({ length: 120 }, (_, index) => 120 - index),
      );
    },
  },
  {
    name: "a filter stands in the address, survives a reload and can be cleared",
    mock: { events: 200 },
    open: { path: "blocks" },
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("blocks").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("lodash");
      await page.keyboard.press("Enter");
      await until("lodash only", async () =>
        (await page.locator("[data-block]").allTextContents()).every((row) => row.includes("lodash")),
      );
      assert.equal(visit.search().get("package"), "lodash");
      await page.reload();
      await page.getByTestId("blocks").waitFor();
      assert.equal(await page.getByLabel("Filter by package").inputValue(), "lodash");
      await page.getByRole("link", { name: "GHSA-35jh-r3h4-6jhm" }).first().click();
      await until("the advisory in the address", () => visit.search().get("advisory") === "GHSA-35jh-r3h4-6jhm");
      assert.ok((await page.locator("[data-block]").count()) > 0);
      await page.getByRole("button", { name: "Clear" }).click();
      await until("everything", async () => (await rows(page)).length === 50);
      assert.equal(visit.search().toString(), "");
    },
  },
  {
    name: "a block leads to its event in the tail",
    mock: { events: 200 },
    open: { path: "blocks?principal=ci" },
    async run(visit) {
      const { page } = visit;
      const link = page.locator("[data-block]").first().getByRole("link", { name: /^Event / });
      const position = await link.textContent();
      await link.click();
      await page.getByRole("complementary", { name: `Event ${position}` }).waitFor();
      assert.equal(visit.search().get("at"), position);
    },
  },
  {
    name: "a Weir that blocked nothing says so",
    ...(process.env.WEIR_BIN || process.env.WEIR_URL ? {} : { mock: { firewall: { empty: true } } }),
    open: { path: "blocks?package=never-asked-for" },
    async run({ page }) {
      await page.getByTestId("no-match").waitFor();
      await page.getByRole("button", { name: "Clear" }).click();
      await page.getByTestId("empty").waitFor();
    },
  },
];
