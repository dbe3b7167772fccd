import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "a block leads to who has what its advisory is about, and a download to its event",
    mock: { events: 200 },
    open: { path: "blocks?advisory=GHSA-35jh-r3h4-6jhm" },
    async run(visit) {
      const { page } = visit;
      await page.getByRole("link", { name: "Impact of GHSA-35jh-r3h4-6jhm" }).first().click();
      await page.getByTestId("impact").waitFor();
      assert.equal(visit.search().get("name"), "GHSA-35jh-r3h4-6jhm");
      assert.equal(await page.getByTestId("affected").locator("tbody tr").count(), 2);
      const who = await page.locator("[data-download]").evaluateAll((all) => all.map((row) => row.dataset.download));
      assert.deepEqual(who, ["ci", "agent-7"]);
      await page.getByRole("link", { name: "Event 40 in the tail" }).click();
      await page.getByRole("complementary", { name: "Event 40" }).waitFor();
    },
  },
  {
    name: "an id is asked for by keyboard, stands in the address, and one that nobody knows is said",
    mock: {},
    expects: [/404/],
    open: { path: "impact" },
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("empty").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("GHSA-none");
      await page.keyboard.press("Enter");
      await page.getByText("Nobody was let through").waitFor();
      await page.reload();
      await page.getByText("Nobody was let through").waitFor();
      await page.getByLabel("Advisory or rule").fill("CVE-0000-1");
      await page.keyboard.press("Enter");
      await page.getByTestId("unknown").waitFor();
      assert.equal(visit.search().get("name"), "CVE-0000-1");
    },
  },
  {
    name: "a policy is tried, and the difference stands in its tables",
    open: { path: "what-if" },
    mock: {},
    async run({ page }) {
      await page.keyboard.press("/");
      await page.keyboard.press("Control+Enter");
      await page.getByTestId("difference").waitFor();
      const status = await page.getByTestId("difference").getByRole("status").textContent();
      assert.match(status, /37 newly blocked.*2 newly allowed/);
      assert.equal(await page.getByTestId("by-versions").locator("tbody tr").count(), 2);
      await page.getByLabel(/^Policy/).fill("");
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByTestId("same").waitFor();
    },
  },
  {
    name: "a trial under way is stopped by a button, and by leaving the page",
    open: { path: "what-if" },
    mock: {},
    async run({ page }, { mock }) {
      await page.getByLabel(/^Policy/).fill("# slow");
      for (const leave of [
        () => page.getByRole("button", { name: "Stop" }).click(),
        () => page.getByRole("link", { name: "Block log" }).click(),
      ]) {
        mock.ended = undefined;
        await page.getByRole("button", { name: "Try it" }).click();
        await page.getByTestId("working").waitFor();
        await leave();
        await until("the server to be told", () => mock.ended !== undefined);
      }
    },
  },
  {
    name: "a policy that makes no sense is said with its line, and nothing is lost",
    open: { path: "what-if" },
    mock: {},
    expects: [/422/],
    async run({ page }) {
      const policy = "policy:\n  unrated: allow\n  severity_floor: awful\n";
      await page.getByLabel(/^Policy/).fill(policy);
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByText("policy:3:19: `awful` is none of").waitFor();
      assert.equal(await page.getByLabel(/^Policy/).inputValue(), policy);
      assert.equal(await page.getByLabel(/^Policy/).getAttribute("aria-invalid"), "true");
    },
  },
];
