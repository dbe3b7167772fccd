import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "the table says what the API says",
    open: { path: "projections" },
    async run(visit) {
      await visit.page.getByTestId("projections").waitFor();
      const { projections } = await visit.api("projections");
      const names = await visit.page
        .locator("[data-projection]")
        .evaluateAll((rows) => rows.map((row) => row.dataset.projection));
      assert.deepEqual(
        names,
        projections.map(({ name }) => name),
      );
    },
  },
  {
    name: "a replay asks first, starts, and is seen to run or to have run",
    open: { path: "projections" },
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("projections").waitFor();
      const button = page.getByRole("button", { name: /^Replay / }).first();
      const started = page.waitForResponse(
        (answer) => answer.request().method() === "POST" && answer.url().endsWith("/replay"),
      );
      await button.click();
      await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
      assert.equal((await started).status(), 202);
      await page
        .getByText(/^Replay of \w+ (started|has ended)/)
        .first()
        .waitFor();
      await until(
        "the end of the replay",
        async () => (await visit.api("projections")).projections.every(({ replay }) => replay === null),
        30_000,
      );
      await until("a button that can be pressed again", () => button.isEnabled());
    },
  },
  {
    name: "progress moves, with percent, rate and time left, and cancelling ends it",
    mock: { events: 50 },
    open: { path: "projections" },
    async run({ page }, { mock }) {
      await page.getByTestId("projections").waitFor();
      await page.getByRole("button", { name: "Replay block_log" }).click();
      await page.getByLabel(/From position/).fill("12x");
      await page.getByText("A position is a whole number.").waitFor();
      await page.getByLabel(/From position/).fill("");
      await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
      const bar = page.getByRole("progressbar", { name: "Replay of block_log" });
      const share = async () => Number(await bar.getAttribute("aria-valuenow"));
      await bar.waitFor();
      const first = await share();
      await until("the bar to move", async () => (await share()) > first);
      assert.match(await page.getByTestId("replay").textContent(), /%.*48,201 events\/s.*left/);
      await page.getByRole("button", { name: "Cancel the replay of block_log" }).click();
      await page.getByText("Replay of block_log cancelled").waitFor();
      await bar.waitFor({ state: "detached" });
      assert.equal(mock.projections.get("block_log").replay, null);
    },
  },
  {
    name: "a replay that is refused says why, in the dialog",
    mock: { events: 50 },
    open: { path: "projections" },
    expects: [/status of 400/],
    async run({ page }) {
      await page.getByRole("button", { name: "Replay runs", exact: true }).click();
      await page.getByLabel(/From position/).fill("9,000");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({ hasText: "the log ends at 50" }).waitFor();
      assert.ok(await page.getByRole("dialog").isVisible());
    },
  },
  {
    name: "a dead letter is redelivered, one that fails again stays with its reason",
    mock: { events: 400 },
    open: { path: "projections?open=block_log" },
    expects: [/status of 409/],
    async run(visit, { mock, url }) {
      const { page } = visit;
      const letters = page.getByTestId("dead-letters").getByRole("listitem");
      await until("three letters", async () => (await letters.count()) === 3);
      await page.getByText("value too long for type").waitFor();
      await page.getByRole("button", { name: "Redeliver event 204" }).click();
      await page.getByText("Event 204 applied").waitFor();
      await until("two letters", async () => (await letters.count()) === 2);
      assert.equal(mock.projections.get("block_log").letters.length, 2);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Dead letters of block_log: 2" }).waitFor();
      await page.goto(`${url}projections?open=authorities`);
      await page.getByRole("button", { name: "Redeliver event 90" }).click();
      await page.getByText("applying 90 failed again: deadlock detected").waitFor();
      assert.equal(await letters.count(), 1);
      await letters.getByRole("link", { name: "90" }).click();
      await page.getByRole("complementary", { name: "Event 90" }).waitFor();
    },
  },
  {
    name: "polls while it is shown, and not otherwise",
    mock: { events: 5 },
    open: { path: "projections" },
    async run({ page }) {
      const asked = [];
      page.on("request", (request) => request.url().endsWith("/api/projections") && asked.push(request.url()));
      await until("two polls", () => asked.length >= 2);
      await page.getByRole("link", { name: "Live tail", exact: true }).click();
      await page.getByTestId("events").waitFor();
      const before = asked.length;
      // Three intervals: a poll that still ran would be among them.
      await page
        .waitForRequest((request) => request.url().endsWith("/api/projections"), { timeout: 3_000 })
        .then(
          () => assert.fail("asked for projections on another page"),
          () => assert.equal(asked.length, before),
        );
    },
  },
];
