import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const rows = (page) => page.locator("[data-request]").evaluateAll((all) => all.map((row) => row.dataset.request));
const states = (page) => page.locator("[data-request]").evaluateAll((all) => [...new Set(all.map((row) => row.dataset.state))]);
/** A request comes in, as the log and the read model say it. */
const comesIn = (mock, more = {}) => {
  const made = mock.webRequests.ask(more);
  const asked = { agent: made.agent, request: made.id, url: made.url, method: made.method, purpose: made.purpose, cycle: 47, tick: 9 };
  mock.append(1, "WebRequestSubmitted", { asked });
  return made;
};

export default [
  {
    name: "what the API says of requests stands there",
    open: { path: "requests" },
    async run(visit) {
      await visit.page.getByRole("heading", { name: "Requests" }).waitFor();
      const { requests } = await visit.api("web/requests");
      await until("as many rows", async () => (await visit.page.locator("[data-request]").count()) === requests.length);
    },
  },
  {
    name: "pages go back to the first request, without a hole or a repetition",
    mock: { events: 200 },
    open: { path: "requests" },
    async run({ page }, { mock }) {
      await page.getByTestId("requests").waitFor();
      assert.equal((await rows(page)).length, 50);
      await page.getByRole("button", { name: "Show older" }).click();
      await until("100 rows", async () => (await rows(page)).length === 100);
      await page.getByRole("button", { name: "Show older" }).click();
      await page.getByText("no older ones").waitFor();
      assert.deepEqual(await rows(page), mock.webRequests.requests.map(({ id }) => id));
    },
  },
  {
    name: "a request comes in by the stream, and what is read knows of it",
    mock: { events: 200 },
    open: { path: "requests" },
    async run(visit, { mock }) {
      const { page } = visit;
      await visit.live();
      await page.getByTestId("requests").waitFor();
      const asked = [];
      page.on("request", (request) => asked.push(new URL(request.url())));
      const made = comesIn(mock);
      await page.locator(`[data-request="${made.id}"]`).waitFor();
      assert.equal((await rows(page))[0], made.id);
      const known = asked.filter(({ pathname }) => pathname.endsWith("web/requests")).map(({ searchParams }) => searchParams.get("min_position"));
      assert.ok(known.includes(String(mock.events.length)), `asked with ${known}`);
    },
  },
  {
    name: "who pauses sees how many came in, nothing moves, and all of it after that",
    mock: { events: 200 },
    open: { path: "requests" },
    async run(visit, { mock }) {
      const { page } = visit;
      await visit.live();
      await page.getByTestId("requests").waitFor();
      const before = await rows(page);
      await page.keyboard.press("p");
      await until("the pause in the address", () => visit.search().get("paused") === "yes");
      const made = [comesIn(mock), comesIn(mock), comesIn(mock)];
      await until("three new ones", async () => (await page.getByTestId("new-count").textContent()) === "3 new");
      assert.deepEqual(await rows(page), before);
      await page.keyboard.press("p");
      await page.locator(`[data-request="${made[2].id}"]`).waitFor();
      assert.deepEqual((await rows(page)).slice(0, 3), made.map(({ id }) => id).reverse());
      assert.equal(visit.search().get("paused"), null);
    },
  },
  {
    name: "who has paged back is not moved on, and gets back to the newest",
    mock: { events: 200 },
    open: { path: "requests" },
    async run(visit, { mock }) {
      const { page } = visit;
      await visit.live();
      await page.getByRole("button", { name: "Show older" }).click();
      await until("100 rows", async () => (await rows(page)).length === 100);
      const made = comesIn(mock);
      await until("a new one", async () => (await page.getByTestId("new-count").textContent()) === "1 new");
      assert.ok(!(await rows(page)).includes(made.id));
      await page.getByRole("button", { name: /Resume/ }).click();
      await page.locator(`[data-request="${made.id}"]`).waitFor();
      assert.equal((await rows(page)).length, 50);
    },
  },
  {
    name: "filters stand in the address, survive a reload, are the server's, and can be cleared",
    mock: { events: 200 },
    open: { path: "requests" },
    async run(visit, { mock }) {
      const { page } = visit;
      await page.getByTestId("requests").waitFor();
      await page.getByLabel("State").selectOption({ label: "blocked" });
      await until("blocked only", async () => (await states(page)).join() === "blocked");
      assert.equal(visit.search().get("state"), "blocked");
      await page.keyboard.press("Escape");
      await page.locator("#page").focus();
      await page.keyboard.press("/");
      await page.keyboard.type("scheduler");
      await page.getByLabel("Filter by host").fill("GitHub.com");
      await page.keyboard.press("Enter");
      await until("github only", async () => {
        const texts = await page.locator("[data-request]").allTextContents();
        return texts.length > 0 && texts.every((row) => row.includes("github.com/tokio"));
      });
      await page.reload();
      await page.getByTestId("requests").waitFor();
      assert.equal(await page.getByLabel("Words in address or purpose").inputValue(), "scheduler");
      assert.deepEqual(
        await rows(page),
        mock.webRequests.requests.filter(({ host, state }) => host === "github.com" && state === "blocked").map(({ id }) => id),
      );
      await page.getByLabel("Cached").selectOption({ label: "cached" });
      await page.getByTestId("no-match").waitFor();
      await page.getByLabel("Cached").selectOption({ label: "not cached" });
      await page.getByTestId("requests").waitFor();
      await page.getByLabel("Agent", { exact: true }).selectOption({ label: "scout" });
      await page.getByTestId("no-match").waitFor();
      await page.getByRole("button", { name: "Clear" }).click();
      await until("everything", async () => (await rows(page)).length === 50);
      assert.equal(visit.search().toString(), "");
      await page.getByRole("button", { name: "Only requests of builder" }).first().click();
      await until("that agent", () => visit.search().get("agent") === mock.webRequests.people.agents[1].id);
    },
  },
  {
    name: "what the server finds wrong with a filter is said",
    mock: { events: 200 },
    open: { path: "requests?cycle=ten" },
    expects: [/status of 400/],
    async run({ page }) {
      await page.getByText("cycle: `ten` cannot be read").waitFor();
    },
  },
  {
    name: "a blocked request tells where its road ended, and what would become of it now",
    mock: { events: 200 },
    open: { path: "requests?state=blocked&host=github.com" },
    async run(visit) {
      const { page } = visit;
      await page.getByRole("button", { name: "https://github.com/tokio-rs/tokio" }).first().click();
      const dialog = page.getByRole("dialog", { name: "GET github.com" });
      await dialog.locator("[data-stop=rules][data-state=stopped]").getByText("is blocked: a repository of code").waitFor();
      await dialog.locator("[data-stop=spark][data-state=unreached]").waitFor();
      const verdict = dialog.getByTestId("verdict");
      await verdict.getByText("falls under the rule github.com").waitFor();
      await verdict.getByText("in spite of it, by the waiver").waitFor();
      await verdict.locator("[data-gate=spark]").getByText("61 are free").waitFor();
      assert.ok((await verdict.getByRole("link").getAttribute("href")).includes("tab=test"));
      await dialog.getByText("Nothing: it was refused.").waitFor();
      await dialog.getByText("0x0702").waitFor();
      await dialog.getByRole("button", { name: "Copy the command that says why" }).click();
      await until(
        "the command",
        async () => (await page.evaluate(() => navigator.clipboard.readText())) === "weir web why https://github.com/tokio-rs/tokio",
      );
      await page.reload();
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      assert.equal(visit.search().get("open"), null);
    },
  },
  {
    name: "what an agent was given is shown as text, and nothing of it is run",
    mock: { events: 200 },
    open: { path: "requests?state=completed" },
    async run(visit) {
      const { page } = visit;
      page.on("dialog", () => visit.complaints.push("a script of the content ran"));
      const cached = page.locator("[data-request]").filter({ hasText: "cached" }).first();
      await page.locator("[data-request]").first().waitFor();
      assert.ok((await cached.count()) > 0);
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      await dialog.locator("[data-stop=answer][data-state=passed]").waitFor();
      await dialog.getByRole("button", { name: /as plain text/ }).click();
      await dialog.getByTestId("content").getByText('<script>alert("never run")</script>').waitFor();
      assert.equal(await dialog.locator("[data-testid=content] script").count(), 0);
      await dialog.getByRole("link", { name: /^begins with event/ }).click();
      await page.getByRole("complementary", { name: /^Event / }).waitFor();
    },
  },
  {
    name: "content that is no longer kept, and a request that is not there, are said",
    mock: { events: 200, web: { forgotten: true } },
    open: { path: "requests?state=completed" },
    expects: [/status of 404/],
    async run(visit, world) {
      const { page } = visit;
      await page.locator("[data-request]").first().getByRole("button").last().click();
      await page.getByRole("button", { name: /as plain text/ }).click();
      await page.getByText("no longer kept").waitFor();
      await page.goto(`${world.url}requests?open=${"0".repeat(64)}`);
      await page.getByRole("dialog").getByText("there is no request").waitFor();
    },
  },
  {
    name: "the pages of the gateway stand behind one tab, which keys reach too",
    mock: { events: 200 },
    async run(visit) {
      const { page } = visit;
      const tab = page.getByRole("navigation", { name: "Pages" }).getByRole("button", { name: /^Web/ });
      await tab.click();
      await page.getByRole("link", { name: "Requests" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Requests" }).waitFor({ state: "detached" });
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Web");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Requests" }).waitFor();
      await page.locator("#page").focus();
      await page.keyboard.press("g");
      await page.keyboard.press("y");
      await page.getByRole("heading", { name: "Approvals" }).waitFor();
      await tab.getByText(", on Approvals").waitFor({ state: "attached" });
    },
  },
];
