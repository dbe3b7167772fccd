import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const unbroken = (positions) =>
  positions.every((position, index) => index === 0 || positions[index - 1] === position + 1);

export default [
  {
    name: "a pause freezes the view, counts what is new, and resumes without a gap",
    needs: ["append"],
    async run(visit, world) {
      const { page } = visit;
      await visit.live();
      await world.append(2, "RuleAdded");
      const { head } = await visit.api("events?limit=1");
      await page.locator(`[data-position="${head}"]`).waitFor();
      await page.keyboard.press("p");
      await until("the pause in the address", () => visit.search().get("paused") === String(head));
      await world.append(12, "RuleAdded");
      const { head: then } = await visit.api("events?limit=1");
      await until(
        "the count",
        async () => (await page.getByTestId("new-count").textContent()) === `${then - head} new`,
      );
      assert.equal((await visit.positions())[0], head);
      await page.keyboard.press("p");
      await page.locator(`[data-position="${then}"]`).waitFor();
      const positions = await visit.positions();
      assert.equal(positions[0], then);
      assert.ok(unbroken(positions), `gap in ${positions.slice(0, 30)}`);
      assert.equal(visit.search().get("paused"), null);
    },
  },
  {
    name: "no gap under a running stream with forced disconnects, paused and resumed again and again",
    mock: { events: 20 },
    expects: [/ERR_(INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)/],
    async run(visit, { mock }) {
      const { page } = visit;
      await visit.live();
      const feed = setInterval(() => mock.append(1 + (mock.events.length % 4)), 15);
      try {
        for (let round = 0; round < 4; round += 1) {
          const opened = mock.streamsOpened;
          await page.keyboard.press("p");
          await page.getByRole("button", { name: /Resume/ }).waitFor();
          if (round % 2 === 0) mock.dropStreams();
          else mock.closeStreams();
          await until("the stream to be back", () => mock.streamsOpened > opened);
          await until(
            "new events",
            async () => !/^0 /.test((await page.getByTestId("new-count").textContent()) ?? "0 "),
          );
          await page.keyboard.press("p");
          await page.getByRole("button", { name: "Pause" }).waitFor();
        }
      } finally {
        clearInterval(feed);
      }
      const head = mock.events.length;
      await page.locator(`[data-position="${head}"]`).waitFor();
      const positions = await visit.positions();
      assert.equal(positions[0], head);
      assert.equal(positions.at(-1), 1);
      assert.ok(unbroken(positions));
    },
  },
  {
    name: "a resync starts the view again, paused or not",
    mock: { events: 50 },
    async run(visit, { mock }) {
      const { page } = visit;
      await visit.live();
      await page.keyboard.press("p");
      await until("the pause in the address", () => visit.search().get("paused") === "50");
      mock.resync(7);
      await page.getByText("The stream started again").waitFor();
      await until("the new place of the pause", () => visit.search().get("paused") === "7");
      assert.deepEqual(await visit.positions(), [7, 6, 5, 4, 3, 2, 1]);
      await page.keyboard.press("p");
      mock.append(1, "RuleAdded");
      await page.locator('[data-position="8"]').waitFor();
    },
  },
];
