import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const focused = (page) =>
  page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.id ?? "");
const at = (visit) => visit.search().get("at");

export default [
  {
    name: "the tail can be walked without a mouse",
    needs: ["append"],
    async run(visit, world) {
      const { page } = visit;
      await visit.live();
      await world.append(8, "RuleAdded");
      const { events } = await visit.api("events?kind=RuleAdded&limit=8");
      const newest = events.map(({ position }) => position).reverse();

      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to the page");
      await page.keyboard.press("Enter");
      assert.equal(await focused(page), "page");

      await page.keyboard.press("/");
      assert.equal(await focused(page), "Filter events");
      await page.keyboard.type("kind:RuleAdded ");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Enter");
      await until("the filter", () => visit.search().get("q") === "kind:RuleAdded");
      await page.locator(`[data-position="${newest[0]}"]`).waitFor();

      for (const key of ["j", "j", "j", "k"]) await page.keyboard.press(key);
      await page.keyboard.press("Enter");
      await until("the third event in the address", () => at(visit) === String(newest[1]));
      await page.getByRole("complementary").getByRole("heading", { name: "RuleAdded" }).waitFor();
      await page.keyboard.press("j");
      await until("the pane to follow", () => at(visit) === String(newest[2]));
      await page.keyboard.press("Escape");
      await until("the pane to close", () => at(visit) === null);
      assert.equal(await focused(page), "Events, newest first");
      await page.keyboard.press("End");
      await page.keyboard.press("Home");
      await until(
        "the first row under the cursor",
        async () => (await page.locator('[aria-selected="true"]').getAttribute("data-position")) === String(newest[0]),
      );

      await page.keyboard.press("p");
      await page.getByRole("button", { name: /Resume/ }).waitFor();
      await page.keyboard.press("p");
      await page.getByRole("button", { name: "Pause" }).waitFor();

      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard and query" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });

      await page.keyboard.press("t");
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
      await page.keyboard.press("t");
      assert.equal(await page.evaluate(() => localStorage.getItem("weir.theme")), "dark");
      await page.reload();
      await page.getByTestId("events").waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");

      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Command palette" }).waitFor();
      await page.keyboard.type(String(newest[3]));
      await page.keyboard.press("Enter");
      await until("the event by number", () => at(visit) === String(newest[3]));
    },
  },
  {
    name: "projections can be walked without a mouse",
    async run(visit) {
      const { page } = visit;
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("p");
      await page.getByTestId("projections").waitFor();
      const names = await page
        .locator("[data-projection]")
        .evaluateAll((rows) => rows.map((row) => row.dataset.projection));
      assert.ok(names.length > 1);
      for (const key of ["j", "j", "k", "j"]) await page.keyboard.press(key);
      await until(
        "the second row",
        async () => (await page.locator('[data-current="true"]').first().getAttribute("data-projection")) === names[1],
      );
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: names[1] }).waitFor();
      assert.equal(visit.search().get("open"), names[1]);
      await page.reload();
      await page.getByRole("dialog", { name: names[1] }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      assert.equal(visit.search().get("open"), null);
      await page.keyboard.press("r");
      await page.getByRole("dialog", { name: `Replay ${names[1]}?` }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("g");
      await page.keyboard.press("t");
      await page.getByRole("combobox", { name: "Filter events" }).waitFor();
    },
  },
];
