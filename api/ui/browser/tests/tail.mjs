import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const first = ({ page }) => page.locator("[data-position]").first();

export default [
  {
    name: "events arrive live, newest on top",
    needs: ["append"],
    async run(visit, world) {
      await visit.live();
      await world.append(3, "RuleAdded");
      const { head } = await visit.api("events?limit=1");
      await visit.page.locator(`[data-position="${head}"]`).waitFor();
      assert.equal(await first(visit).getAttribute("aria-rowindex").then(Boolean), true);
      const [newest] = await visit.positions();
      assert.equal(newest, head);
    },
  },
  {
    name: "a filter typed with suggestions stands in the address and is what the API filters",
    needs: ["append"],
    async run(visit, world) {
      const { page } = visit;
      await visit.live();
      await world.append(3, "RuleAdded");
      await page.keyboard.press("/");
      await page.keyboard.type("sub");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      await page.keyboard.type("regi");
      await page.getByRole("option", { name: /^registry/ }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      await page.keyboard.type("kind:RuleAdded");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Enter");
      await until("the address", () => visit.search().get("q") === "subsystem:registry kind:RuleAdded");
      const expected = (await visit.api("events?subsystem=registry&kind=RuleAdded&limit=200")).events
        .map(({ position }) => position)
        .reverse();
      await until("the filtered list", async () => (await visit.positions()).join() === expected.join());
      assert.ok(expected.length >= 3);
    },
  },
  {
    name: "a deep link shows the same after a reload: filter, pause, event",
    needs: ["append"],
    async run(visit, world) {
      const { page } = visit;
      await visit.live();
      await world.append(5, "RuleAdded");
      const { events, head } = await visit.api("events?kind=RuleAdded&limit=5");
      const at = events[1].position;
      await page.goto(`${world.url}?q=kind:RuleAdded&paused=${head}&at=${at}`);
      const check = async () => {
        await page
          .getByRole("complementary", { name: `Event ${at}` })
          .getByRole("heading", { name: "RuleAdded" })
          .waitFor();
        assert.equal(await page.getByRole("combobox", { name: "Filter events" }).inputValue(), "kind:RuleAdded");
        await page.getByRole("button", { name: /Resume/ }).waitFor();
        assert.equal((await visit.positions())[0], events.at(-1).position);
      };
      await check();
      await world.append(2, "RuleAdded");
      await page.reload();
      await check();
      await until(
        "the count of new events",
        async () => (await page.getByTestId("new-count").textContent()) === "2 new",
      );
    },
  },
  {
    name: "the detail pane shows facts, payload and the chain, and copies every form",
    mock: { events: 40 },
    async run(visit, { mock, url }) {
      const { page } = visit;
      const chained = mock.events.find(({ kind }) => kind === "RunStarted");
      await page.goto(`${url}?at=${chained.position}`);
      const pane = page.getByTestId("detail");
      await pane.getByTestId("chain").getByRole("link").first().waitFor();
      const size = mock.events.filter(({ meta }) => meta.correlation_id === chained.meta.correlation_id).length;
      assert.equal(await pane.getByTestId("chain").getByRole("link").count(), size);
      await pane.getByTestId("chain").getByRole("link").nth(1).click();
      await until("the next event of the chain", () => visit.search().get("at") === String(chained.position + 1));
      const copied = async (name) => {
        await pane.getByRole("button", { name: `Copy ${name}` }).click();
        await page.getByText(`Copied ${name}`).first().waitFor();
        return page.evaluate(() => navigator.clipboard.readText());
      };
      assert.deepEqual(JSON.parse(await copied("the event as JSON")), mock.events[chained.position]);
      assert.match(
        await copied("a curl command"),
        new RegExp(`^curl .*Bearer \\$WEIR_TOKEN" '${url}api/events/${chained.position + 1}'$`),
      );
      assert.equal(await copied("a weir command"), `weir events get ${chained.position + 1}`);
      assert.equal(await copied("a link to the event"), `${url}?at=${chained.position + 1}`);
    },
  },
  {
    name: "copying works without the clipboard API, as on plain http",
    mock: { events: 5 },
    async run(visit, { url }) {
      const { page } = visit;
      await page.addInitScript(() => Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined }));
      await page.goto(`${url}?at=3`);
      await page.getByRole("button", { name: "Copy a weir command" }).click();
      await page.getByText("Copied a weir command").waitFor();
      // Read back by pasting, as a person would.
      await page.getByRole("combobox", { name: "Filter events" }).focus();
      await page.keyboard.press("Control+V");
      assert.equal(await page.getByRole("combobox", { name: "Filter events" }).inputValue(), "weir events get 3");
    },
  },
  {
    name: "numbers beyond 2^53 are shown and copied digit by digit",
    mock: { events: 2 },
    async run(visit, { mock, url }) {
      await visit.live();
      mock.appendRaw("RuleAdded", '{"big":18446744073709551615,"small":1.10,"deep":[-9007199254740993]}');
      await visit.page.goto(`${url}?at=3`);
      await visit.page.getByTestId("detail").getByText("18446744073709551615").waitFor();
      await visit.page.getByTestId("detail").getByText("-9007199254740993").waitFor();
      await visit.page.getByRole("button", { name: "Copy the event as JSON" }).click();
      await visit.page.getByText("Copied the event as JSON").waitFor();
      assert.match(await visit.page.evaluate(() => navigator.clipboard.readText()), /"big": 18446744073709551615,/);
    },
  },
  {
    name: "free text filters what is loaded and looks further back on demand",
    mock: { events: 900 },
    async run(visit, { mock }) {
      const { page } = visit;
      mock.events[100].payload.reason = "a needle in it";
      await page.goto(`${page.url()}?q=needle`);
      const older = page.getByRole("button", { name: "Search older events" });
      await until("the needle", async () => {
        if (await page.locator('[data-position="101"]').isVisible()) return true;
        if (await older.isEnabled({ timeout: 100 }).catch(() => false))
          await older.click({ timeout: 500 }).catch(() => {});
        return false;
      });
    },
  },
  {
    name: "two tabs share one stream, and the second takes over when the first closes",
    mock: { events: 10 },
    async run(visit, { mock }) {
      await visit.live();
      const second = await visit.tab();
      await second.goto(visit.page.url());
      await second.getByTestId("events").waitFor();
      mock.append(2, "RuleAdded");
      await second.locator('[data-position="12"]').waitFor();
      await visit.page.locator('[data-position="12"]').waitFor();
      assert.equal(mock.streamsOpened, 1);
      await visit.page.close();
      visit.page = second;
      await until("the second stream", () => mock.streamsOpened === 2 && mock.streams.size === 1);
      mock.append(1, "RuleAdded");
      await second.locator('[data-position="13"]').waitFor();
      assert.deepEqual((await visit.positions()).slice(0, 3), [13, 12, 11]);
    },
  },
  {
    name: "what is read stays in place while events arrive above it",
    mock: { events: 400 },
    async run(visit, { mock }) {
      const { page } = visit;
      await visit.live();
      const row = page.locator('[data-position="370"]');
      await page.evaluate(() => (document.querySelector("[data-testid=events]").scrollTop = 500));
      await row.waitFor();
      const before = (await row.boundingBox()).y;
      mock.append(25, "RuleAdded");
      await until(
        "the new rows",
        async () => (await page.getByTestId("events").getAttribute("aria-rowcount")) === "226",
      );
      assert.equal((await row.boundingBox()).y, before);
    },
  },
  {
    name: "scrolling to the end loads older events",
    mock: { events: 500 },
    async run(visit) {
      await visit.page.getByTestId("events").waitFor();
      await until("all events", async () => (await visit.positions()).length === 500);
      await visit.page.evaluate(() => (document.querySelector("[data-testid=events]").scrollTop = 1e6));
      await visit.page.getByText("The oldest event that matches").waitFor();
    },
  },
  {
    name: "new events are announced politely, as a count",
    mock: { events: 3 },
    async run(visit, { mock }) {
      await visit.live();
      mock.append(4, "RuleAdded");
      await until(
        "the announcement",
        async () => (await visit.page.getByTestId("announcer").textContent()) === "4 new events",
      );
      assert.equal(await visit.page.getByTestId("announcer").getAttribute("aria-live"), "polite");
    },
  },
];
