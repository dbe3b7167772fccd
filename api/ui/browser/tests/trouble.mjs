import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const AWAY = [
  /ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE|CONNECTION_CLOSED)/,
  /status of 50[0-9]/,
];

export default [
  {
    name: "the tail says that the server is away, keeps what it had, and goes on when it is back",
    needs: ["append", "away"],
    expects: AWAY,
    async run(visit, world) {
      const { page } = visit;
      await visit.live();
      await world.append(3, "RuleAdded");
      const { head } = await visit.api("events?limit=1");
      await page.locator(`[data-position="${head}"]`).waitFor();
      await world.goAway();
      await page.getByTestId("trouble").getByText("Weir does not answer").waitFor();
      await page.getByTestId("countdown").waitFor();
      assert.ok(await page.locator(`[data-position="${head}"]`).isVisible());
      if (world.mock) await visit.shot("tail-away");
      await world.comeBack();
      await page
        .getByRole("button", { name: "Retry now" })
        .click({ timeout: 2_000 })
        .catch(() => {});
      await visit.live();
      await page.getByTestId("trouble").waitFor({ state: "detached" });
      await world.append(1, "RuleAdded");
      await page.locator(`[data-position="${head + 1}"]`).waitFor();
    },
  },
  {
    name: "projections keep the last answer while the server is away, and say from when it is",
    needs: ["away"],
    open: { path: "projections" },
    expects: AWAY,
    async run(visit, world) {
      const { page } = visit;
      await page.getByTestId("projections").waitFor();
      const rows = await page.locator("[data-projection]").count();
      await world.goAway();
      await page
        .getByTestId("trouble")
        .getByText(/Showing what was known at \d\d:\d\d:\d\d/)
        .waitFor();
      await page.getByTestId("countdown").waitFor();
      assert.equal(await page.locator("[data-projection]").count(), rows);
      if (world.mock) await visit.shot("projections-away");
      await world.comeBack();
      await page.getByTestId("trouble").waitFor({ state: "detached", timeout: 40_000 });
    },
  },
  {
    name: "a page opened while the server fails says so and recovers by itself",
    mock: { events: 20 },
    open: { signedIn: true },
    expects: AWAY,
    async run(visit, { mock, url }) {
      const { page } = visit;
      await page.getByTestId("events").waitFor();
      mock.fault = [503, "Starting", "the projections are catching up", { "retry-after": "2" }];
      for (const path of ["", "projections"]) {
        await page.goto(url + path);
        await page.getByRole("alert").getByText("the projections are catching up").waitFor();
        await page.getByTestId("countdown").waitFor();
        await visit.shot(`${path || "tail"}-error`);
      }
      mock.fault = undefined;
      await page.getByTestId("projections").waitFor();
    },
  },
  {
    name: "a filter the server refuses is explained, and not tried again and again",
    mock: { events: 20 },
    expects: [/status of 400/],
    async run(visit, { url }) {
      const { page } = visit;
      const asked = [];
      page.on("request", (request) => request.url().includes("kind=Nonsense") && asked.push(request.url()));
      await page.goto(`${url}?q=kind:Nonsense`);
      await page.getByRole("alert").getByText("no kind is called `Nonsense`").waitFor();
      assert.equal(await page.getByTestId("countdown").count(), 0);
      await page.getByRole("button", { name: "Clear the filter" }).first().click();
      await page.getByTestId("events").waitFor();
      assert.equal(asked.length, 1);
    },
  },
  {
    name: "an event that does not exist is said to be missing, next to the list",
    mock: { events: 20 },
    open: { path: "?at=9000" },
    expects: [/status of 404/],
    async run({ page }) {
      await page.getByText("There is no event 9,000").waitFor();
      await page.getByTestId("events").waitFor();
      await page.getByRole("link", { name: "Back to the tail" }).click();
      await page.getByTestId("detail").waitFor({ state: "detached" });
    },
  },
  {
    name: "an address that leads nowhere says so",
    open: { path: "nowhere" },
    async run({ page }) {
      await page.getByText("No page lives at this address").waitFor();
      await page.getByRole("main").getByRole("link", { name: "projections" }).click();
      await page.getByTestId("projections").waitFor();
    },
  },
  {
    name: "an empty log says what to do, with the real address, and comes alive with the first event",
    mock: { events: 0 },
    async run(visit, { mock, url }) {
      const { page } = visit;
      await visit.live();
      const command = `pip install --index-url ${url}pypi/simple/ six`;
      await page.getByText(command).waitFor();
      await page.getByRole("button", { name: "Copy the command" }).click();
      await page.getByText("Copied the command").waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), command);
      mock.append(1, "PackageAllowed");
      await page.locator('[data-position="1"]').waitFor();
    },
  },
  {
    name: "a page that breaks leaves the console standing",
    mock: { events: 3 },
    open: { path: "projections" },
    expects: [/./],
    async run(visit, { mock }) {
      const { page } = visit;
      await page.getByTestId("projections").waitFor();
      // An answer no version of the server gives: the page must say so instead of going blank.
      mock.projections.views = () => [{ name: "broken" }];
      await page.reload();
      await page.getByRole("alert").getByText("position is not an integer").waitFor();
      await page.getByRole("link", { name: "Live tail", exact: true }).click();
      await page.getByTestId("events").waitFor();
      await until("the address", () => new URL(page.url()).pathname === "/");
    },
  },
];
