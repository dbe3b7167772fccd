import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const row = (page, ecosystem) => page.locator(`[data-ecosystem="${ecosystem}"]`);

export default [
  {
    name: "a row waits until a client of its ecosystem asks, and then turns green",
    mock: { firewall: { empty: true } },
    open: { path: "connect" },
    async run({ page }, { mock }) {
      await row(page, "npm").getByText("waiting for the first request").waitFor();
      mock.firewall.seen.add("npm");
      await row(page, "npm").locator("[data-seen=true]").getByText("1 request answered").waitFor();
      assert.equal(await row(page, "pypi").locator("[data-seen=true]").count(), 0);
      await row(page, "docker").getByText("registries.docker.upstream").waitFor();
    },
  },
  {
    name: "the real Weir's row turns green at the first request of a package client",
    open: { path: "connect" },
    async run({ page }, world) {
      await page.getByTestId("ecosystems").waitFor();
      if (world.name !== "weir") return;
      const served = page.locator("[data-ecosystem]:has([data-seen])");
      // Without an upstream nothing is served, and every row says how to change that.
      if ((await served.count()) === 0) return void (await page.getByText("Not served").first().waitFor());
      const ecosystem = await served.first().getAttribute("data-ecosystem");
      await fetch(`${world.url}${ecosystem}/`, { headers: { authorization: `Bearer ${world.token}` } });
      await row(page, ecosystem).locator("[data-seen=true]").waitFor();
    },
  },
  {
    name: "the lines are for this address, are copied as they are, and take a token",
    mock: { prefix: "/behind/a/proxy/" },
    open: { path: "connect" },
    async run(visit, { url }) {
      const { page } = visit;
      await page.getByRole("button", { name: "Copy the lines for pip" }).click();
      const copied = () => page.evaluate(() => navigator.clipboard.readText());
      assert.equal(await copied(), `pip config set global.index-url ${url}pypi/simple/`);
      await page.getByLabel("Token").selectOption("yes");
      await until("the token in the lines", async () =>
        (await page.getByRole("region", { name: /^Lines for npm/ }).textContent()).includes("_authToken=YOUR_TOKEN"),
      );
      assert.equal(visit.search().get("token"), "yes");
    },
  },
];
