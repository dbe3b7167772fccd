import assert from "node:assert/strict";
import { until } from "../driver.mjs";
import { AGENT } from "../mock-web-rules.mjs";

export default [
  {
    name: "what is cached is found by host and owner, and goes on where the list ended",
    mock: {},
    open: { path: "pages" },
    async run(visit) {
      const { page } = visit;
      const rows = page.locator("[data-page]");
      await rows.first().waitFor();
      assert.equal(await rows.count(), 50);
      await page.getByText("120 renderings of pages").waitFor();
      await page.getByRole("button", { name: "Show older" }).click();
      await until("a hundred", async () => (await rows.count()) === 100);
      await page.getByLabel("Filter by host").fill("docs.rs");
      await page.keyboard.press("Enter");
      await until("one host", async () => (await rows.count()) === 40);
      assert.equal(visit.search().get("host"), "docs.rs");
      await page.getByLabel("Filter by agent").fill(AGENT);
      await page.keyboard.press("Enter");
      await until("one agent's own", async () => (await rows.count()) === 8);
      await page.reload();
      await rows.first().waitFor();
      assert.equal(await rows.count(), 8);
      // The mock's page 105 expires in cycle 51; it is cycle 47.
      const cells = await page.locator('[data-page$="/105/a-long-way-down/"], [data-page*="/105/"]').first().locator("td").allTextContents();
      assert.equal(cells[7], "4", cells.join(" | "));
      await page.getByRole("button", { name: "Clear" }).click();
      await page.getByLabel("Whose").selectOption("false");
      await until("agents' own", async () => (await rows.count()) === 24);
    },
  },
  {
    name: "a page is forgotten after it was confirmed, then a host, and what goes wrong is said in the dialog",
    mock: {},
    open: { path: "pages?host=docs.rs" },
    expects: [/status of 400/],
    async run({ page }, { mock }) {
      const first = page.locator("[data-page]").first();
      const url = await first.getAttribute("data-page");
      await first.getByRole("button", { name: `Purge ${url}` }).click();
      const dialog = page.getByRole("dialog");
      assert.equal(await dialog.getByLabel(/^Address/).inputValue(), url);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      assert.deepEqual(mock.web.pages.purged, []);
      await first.getByRole("button", { name: `Purge ${url}` }).click();
      await dialog.getByRole("button", { name: "Forget" }).click();
      await page.getByText("1 rendering forgotten").waitFor();
      await page.locator(`[data-page="${url}"]`).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Purge", exact: true }).first().click();
      await dialog.getByLabel(/^Host/).fill("docs.rs/a");
      await page.keyboard.press("Enter");
      await dialog.getByText("is no host").waitFor();
      await dialog.getByLabel(/^Host/).fill("docs.rs");
      await page.keyboard.press("Enter");
      await page.getByTestId("no-match").waitFor();
      assert.deepEqual(mock.web.pages.purged, [`url=${encodeURIComponent(url)}`, "host=docs.rs%2Fa", "host=docs.rs"]);
    },
  },
  {
    name: "words are looked for, and what was found is text whatever it says it is",
    mock: {},
    open: { path: "pages" },
    async run(visit) {
      const { page } = visit;
      await page.getByRole("link", { name: "Search in them" }).click();
      await page.getByTestId("empty").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("queue");
      await page.keyboard.press("Enter");
      const found = page.getByTestId("found");
      await found.waitFor();
      assert.equal(visit.search().get("words"), "queue");
      assert.deepEqual(await found.getByRole("listitem").first().locator("mark").allTextContents(), ["queue", "queue"]);
      await found.getByText("<img src=x onerror=alert(1)>").waitFor();
      assert.equal(await found.locator("img, b").count(), 0, "nothing of a page is drawn");
      await page.getByLabel("Words").fill("zzz");
      await page.keyboard.press("Enter");
      await page.getByTestId("no-match").waitFor();
    },
  },
  {
    name: "the page speaks with a server that has cached nothing",
    open: { path: "pages" },
    async run(visit) {
      const { page } = visit;
      const { pages } = await visit.api("web/cache");
      await page.getByTestId(pages.length === 0 ? "empty" : "web-pages").waitFor();
      await page.getByRole("link", { name: "Search in them" }).click();
      await page.getByLabel("Words").fill("zzz");
      await page.keyboard.press("Enter");
      await page.getByTestId("no-match").waitFor();
    },
  },
  {
    name: "who may only read is told why the buttons do nothing",
    mock: { firewall: { scopes: ["web:read"] } },
    open: { path: "pages" },
    async run({ page }) {
      const button = page.getByRole("button", { name: /^Purge/ }).first();
      await button.waitFor();
      assert.ok(await button.isDisabled());
      assert.match(await button.getAttribute("title"), /web:write/);
    },
  },
];
