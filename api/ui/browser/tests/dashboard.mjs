import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "the figures are those of the API, and the filters stand in the address",
    open: { path: "dashboard?range=7d" },
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("chart").waitFor();
      const said = await visit.api("dashboard?range=7d");
      const figure = async (name) => Number((await page.getByTestId(`figure-${name}`).textContent()).replaceAll(",", ""));
      assert.equal(await figure("Downloads"), said.recorded.allowed + said.recorded.blocked);
      assert.equal(await figure("Blocked"), said.recorded.blocked);
      assert.equal(await page.getByTestId("chart").locator("g").count(), 168);
      await page.getByLabel("Range").selectOption("30d");
      await until("30 steps", async () => (await page.getByTestId("chart").locator("g").count()) === 30);
      assert.equal(visit.search().get("range"), "30d");
      await page.getByRole("combobox", { name: "Ecosystem" }).selectOption("npm");
      await until("the filter in the address", () => visit.search().get("ecosystem") === "npm");
      await page.reload();
      await page.getByTestId("chart").waitFor();
      assert.equal(await page.getByLabel("Range").inputValue(), "30d");
    },
  },
  {
    name: "bars are as high as their numbers, and what cannot be read in the address is left out",
    mock: { events: 5 },
    open: { path: "dashboard?range=1y" },
    async run({ page }) {
      await page.getByTestId("chart").waitFor();
      assert.equal(await page.getByLabel("Range").inputValue(), "24h");
      const bars = await page.getByTestId("chart").locator("g").evaluateAll((groups) =>
        groups.map((group) => ({
          allowed: Number(group.dataset.allowed),
          height: Number(group.querySelectorAll("rect")[1].getAttribute("height")),
        })),
      );
      const most = bars.reduce((one, other) => (other.allowed > one.allowed ? other : one));
      for (const { allowed, height } of bars)
        assert.ok(Math.abs(height / most.height - allowed / most.allowed) < 0.001, `${allowed}: ${height}`);
    },
  },
  {
    name: "a token that may not see it is told which scope is missing, and nothing is asked",
    mock: { firewall: { scopes: ["events:read"] } },
    async run({ page }) {
      const asked = [];
      page.on("request", (request) => request.url().includes("/api/dashboard") && asked.push(request.url()));
      await page.keyboard.press("g");
      await page.keyboard.press("d");
      await page.getByTestId("forbidden").getByText("rules:read").waitFor();
      assert.deepEqual(asked, []);
    },
  },
  {
    name: "what was known stays while the server is in trouble",
    mock: { events: 5 },
    open: { path: "dashboard" },
    expects: [/status of 503/],
    async run({ page }, { mock }) {
      await page.getByTestId("chart").waitFor();
      mock.fault = [503, "Not built", "`registry.traffic_hours` is not built yet: a worker must run"];
      await page.getByTestId("trouble").getByText("Showing what was known").waitFor();
      assert.ok(await page.getByTestId("chart").isVisible());
    },
  },
];
