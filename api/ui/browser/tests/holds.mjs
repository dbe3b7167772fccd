import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const waiting = (page, name) => page.getByTestId("waiting").locator(`[data-hold="${name}"]`);
const answered = (page, name) => page.getByTestId("answered").locator(`[data-hold="${name}"]`);

export default [
  {
    name: "what the API says of holds stands there",
    open: { path: "holds" },
    async run(visit) {
      await visit.page.getByRole("heading", { name: "Holds" }).waitFor();
      const { holds } = await visit.api("registry/holds");
      await until("as many rows", async () => (await visit.page.locator("[data-hold]").count()) === holds.length);
    },
  },
  {
    name: "a question comes in by the stream, is allowed with a reason, and denied after that",
    mock: {},
    open: { path: "holds" },
    expects: [/status of 422/],
    async run(visit, { mock }) {
      const { page } = visit;
      await visit.live();
      await waiting(page, "six").waitFor();
      const asked = [];
      page.on("request", (request) => request.url().endsWith("registry/holds") && asked.push(request.url()));
      mock.firewall.holds.ask("pypi", "numpy", "2.0.0", "new-package");
      const before = asked.length;
      mock.append(1, "PackageRequested");
      await waiting(page, "numpy").waitFor();
      assert.ok(asked.length > before, "it was read anew");
      const order = await page.getByTestId("waiting").locator("[data-hold]").evaluateAll((rows) => rows.map((row) => row.dataset.hold));
      assert.deepEqual(order, ["six", "lodash", "admin-tools", "numpy"], "who waits longest comes first");

      await page.getByRole("button", { name: "Allow numpy 2.0.0 for agent-7" }).click();
      await page.getByLabel(/^Reason/).fill("because");
      await page.keyboard.press("Enter");
      await page.getByText("that is no reason").waitFor();
      assert.equal(await page.getByLabel(/^Reason/).getAttribute("aria-invalid"), "true");
      await page.getByLabel(/^Reason/).fill("looked at it");
      await page.getByLabel("It holds for").selectOption({ label: "one day" });
      await page.getByRole("dialog").getByRole("button", { name: "Allow" }).click();
      await answered(page, "numpy").getByText("allowed").waitFor();
      await waiting(page, "numpy").waitFor({ state: "detached" });
      const { until: ends } = mock.firewall.holds.holds.at(-1);
      assert.ok(Math.abs(Date.parse(ends) - Date.now() - 86_400_000) < 60_000, ends);

      await page.getByRole("button", { name: "Deny numpy 2.0.0 for agent-7" }).click();
      await page.getByLabel(/^Reason/).fill("not after all");
      await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
      await answered(page, "numpy").getByText("denied").waitFor();
      await answered(page, "numpy").getByText("not after all").waitFor();
    },
  },
  {
    name: "who answers what somebody else has just answered otherwise is told so, and sees it",
    mock: {},
    open: { path: "holds" },
    expects: [/status of 409/],
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: "Allow six 1.17.0 for agent-7" }).click();
      await page.getByLabel(/^Reason/).fill("looked at it");
      const hold = mock.firewall.holds.holds.find((hold) => hold.package === "six");
      Object.assign(hold, { state: "denied", answered_by: "mira", reason: "not reviewed" });
      await page.keyboard.press("Enter");
      await page.getByText("`mira` has denied it: not reviewed").waitFor();
      await answered(page, "six").getByText("by mira").waitFor();
      assert.equal(hold.state, "denied");
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Allow six 1.17.0 for agent-7" }).click();
      await page.getByText("takes the place of what mira said").waitFor();
      await page.getByLabel(/^Reason/).fill("reviewed by now");
      await page.keyboard.press("Enter");
      await answered(page, "six").getByText("allowed").waitFor();
    },
  },
  {
    name: "who asked, and who may only read, is told why the buttons do nothing",
    mock: {},
    open: { path: "holds" },
    async run({ page }, { mock, url }) {
      const own = page.getByRole("button", { name: "Allow admin-tools 0.1.0 for admin" });
      await own.waitFor();
      assert.ok(await own.isDisabled());
      assert.match(await own.getAttribute("title"), /somebody else/);
      mock.firewall.scopes = ["rules:read"];
      await page.goto(`${url}holds`);
      const other = page.getByRole("button", { name: "Deny six 1.17.0 for agent-7" });
      await other.waitFor();
      assert.ok(await other.isDisabled());
      assert.match(await other.getAttribute("title"), /rules:write/);
    },
  },
  {
    name: "what is over is found in the log",
    mock: { events: 20 },
    open: { path: "holds" },
    async run(visit, { mock }) {
      const { page } = visit;
      mock.append(1, "HoldAnswered");
      await page.getByRole("link", { name: "the log" }).click();
      await page.locator('[data-position="21"]').waitFor();
      assert.equal(visit.search().get("q"), "kind:PackageRequested,HoldAnswered");
    },
  },
];
