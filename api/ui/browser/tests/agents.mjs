import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { until } from "../driver.mjs";

const row = (page, name) => page.locator(`[data-agent="${name}"]`);
const KEY = createHash("sha256").update("a new key").digest("hex");

export default [
  {
    name: "the world's time stands there as the API says it",
    open: { path: "agents" },
    async run(visit) {
      const { page } = visit;
      await page.getByTestId("world").waitFor();
      const [{ epoch }, { quota, access_level }] = [await visit.api("nexus"), await visit.api("web/access")];
      await page.locator("[data-figure=epoch]").getByText(String(epoch), { exact: true }).waitFor();
      await page.locator("[data-figure=epoch]").getByText(access_level, { exact: true }).waitFor();
      await page.locator("[data-figure=quota]").getByText(String(quota), { exact: true }).waitFor();
    },
  },
  {
    name: "an agent is registered, given spark, and revoked",
    mock: {},
    open: { path: "agents" },
    expects: [/status of 422/],
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: "Register agent" }).click();
      await page.getByLabel(/^Name/).fill("new one");
      await page.getByRole("region", { name: "Command: make and register a key" }).getByText("weir agent keygen 'new one.pem'").waitFor();
      await page.getByLabel(/^Public key/).fill("no key");
      await page.getByText("a key is 64 lower-case hexadecimal digits").waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("expected 64 lower-case hexadecimal digits").waitFor();
      await page.getByLabel(/^Public key/).fill(KEY);
      await page.getByRole("dialog").getByRole("button", { name: "Register", exact: true }).click();
      await row(page, "new one").getByText("registered").waitFor();
      await row(page, "new one").getByText("none", { exact: true }).waitFor();

      await page.getByRole("button", { name: "Grant spark to new one" }).click();
      await page.getByLabel("Spark", { exact: true }).fill("2000000");
      await page.getByLabel(/^Reason/).fill("a month");
      await page.keyboard.press("Enter");
      await page.getByText("at most 1000000 at once here").waitFor();
      await page.getByLabel("Spark", { exact: true }).fill("250");
      await page.getByRole("dialog").getByRole("button", { name: "Grant" }).click();
      await row(page, "new one").getByText("250", { exact: true }).waitFor();

      await page.getByRole("button", { name: "Revoke new one" }).click();
      await page.getByRole("dialog").getByText("every token of it ends").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await row(page, "new one").getByText("revoked").waitFor();
      assert.ok(mock.webRequests.people.agents[0].revoked_at);
      assert.ok(await page.getByRole("button", { name: "Grant spark to new one" }).isDisabled());
    },
  },
  {
    name: "a key that is registered already is refused, and the dialog stays",
    mock: {},
    open: { path: "agents" },
    expects: [/status of 409/],
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: "Register agent" }).click();
      await page.getByLabel(/^Name/).fill("again");
      await page.getByLabel(/^Public key/).fill(mock.webRequests.people.agents[0].public_key);
      await page.keyboard.press("Enter");
      await page.getByRole("alert").getByText("this key is registered as `reader`").waitFor();
    },
  },
  {
    name: "the epoch advances with a reason, after it is said what that lets agents do",
    mock: {},
    open: { path: "agents" },
    expects: [/status of 422/],
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: "Advance the epoch" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("agents may read pages, send (POST) and use APIs").waitFor();
      await dialog.getByText("each has 7 requests in a cycle").waitFor();
      assert.ok(await dialog.getByRole("button", { name: "Advance to epoch 4" }).isDisabled(), "without a reason");
      await page.getByLabel(/^Reason/).fill("the rules were read");
      await page.getByLabel(/^Epoch/).fill("3");
      await dialog.getByRole("button", { name: "Advance to epoch 3" }).click();
      await dialog.getByText("3 is not after it").waitFor();
      await page.getByLabel(/^Epoch/).fill("4");
      await page.keyboard.press("Enter");
      await page.locator("[data-figure=epoch]").getByText("read-write", { exact: true }).waitFor();
      await page.locator("[data-figure=quota]").getByText("7", { exact: true }).waitFor();
      assert.equal(mock.webRequests.people.nexus.epoch, 4);
      assert.equal(await page.getByRole("button", { name: "Move the clock" }).count(), 0, "it follows the wall");
    },
  },
  {
    name: "a driven clock is moved by a whole cycle",
    mock: { web: { driven: true } },
    open: { path: "agents" },
    async run({ page }) {
      await page.locator("[data-figure=cycle]").getByText("47", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Move the clock" }).click();
      await page.getByRole("button", { name: "A whole cycle" }).click();
      assert.equal(await page.getByLabel(/^By how many ticks/).inputValue(), "100");
      await page.getByRole("button", { name: "Move on" }).click();
      await page.locator("[data-figure=cycle]").getByText("48", { exact: true }).waitFor();
    },
  },
  {
    name: "what agents used stands there by cycle, for all with a question a cycle, and in full for one",
    mock: {},
    open: { path: "agents" },
    async run(visit, { mock }) {
      const { page } = visit;
      const [reader] = mock.webRequests.people.agents;
      await row(page, "reader").getByTestId("used").getByText("5 of 5").waitFor();
      await row(page, "reader").getByText("4 set aside").waitFor();
      const { quotas } = await visit.api(`web/quotas?agent=${reader.id}`);
      const bars = await row(page, "reader").locator("[data-cycle]").evaluateAll((all) => all.map((bar) => [bar.dataset.cycle, bar.dataset.used]));
      assert.equal(bars.length, 12);
      for (const { cycle, used } of quotas) assert.ok(bars.some((bar) => bar.join() === `${cycle},${used}`), `cycle ${cycle}`);
      assert.deepEqual(bars[0], ["36", ""], "nothing was used then");

      await page.getByRole("button", { name: "reader", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "reader" });
      await dialog.getByText(reader.public_key).waitFor();
      await dialog.getByTestId("cycles").waitFor();
      assert.equal(await dialog.locator("tr[data-cycle]").count(), 5);
      await dialog.getByRole("button", { name: "Show older" }).click();
      await until("older ones", async () => (await dialog.locator("tr[data-cycle]").count()) > 5);
      await dialog.locator("tr[data-cycle]").first().getByRole("link").click();
      await page.getByRole("heading", { name: "Requests" }).waitFor();
      assert.equal(visit.search().get("agent"), reader.id);
      assert.equal(visit.search().get("cycle"), "47");
    },
  },
  {
    name: "news of spark and of the epoch are seen at once",
    mock: {},
    open: { path: "agents" },
    async run(visit, { mock }) {
      const { page } = visit;
      const { people } = mock.webRequests;
      await visit.live();
      await row(page, "reader").getByText("73").waitFor();
      people.accounts.get(people.agents[0].id).balance = 71;
      people.nexus.epoch = 5;
      mock.append(1, "SparkGranted");
      await row(page, "reader").getByText("71").waitFor({ timeout: 3_000 });
      await page.locator("[data-figure=epoch]").getByText("5", { exact: true }).waitFor({ timeout: 3_000 });
    },
  },
  {
    name: "who may only see agents is told what the rest needs",
    mock: { firewall: { scopes: ["agents:read"] } },
    open: { path: "agents" },
    async run({ page }) {
      await row(page, "reader").waitFor();
      assert.equal(await page.getByRole("button", { name: "Register agent" }).count(), 0);
      for (const [name, scope] of [
        ["Revoke reader", "agents:write"],
        ["Grant spark to reader", "mint:write"],
        ["Advance the epoch", "nexus:write"],
      ]) {
        const button = page.getByRole("button", { name });
        assert.ok(await button.isDisabled());
        assert.ok((await button.getAttribute("title")).includes(scope), name);
      }
      assert.equal(await row(page, "reader").getByTitle("Needs the scope web:read").count(), 1);
      assert.equal(await row(page, "reader").getByTitle("Needs the scope mint:read").count(), 1);
    },
  },
];
