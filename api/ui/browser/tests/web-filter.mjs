import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const PAGE = "# A queue\n\nIt keeps what comes in order.\n\n```rust\nlet q = Queue::new();\nq.push(1);\n```\n\nThat is all.\n";
const column = (page, name) => page.locator(`[data-column="${name}"]`);

export default [
  {
    name: "what an agent would get stands beside what came and what was taken out",
    mock: {},
    open: { path: "filter" },
    async run({ page }) {
      await page.getByTestId("empty").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.insertText(PAGE);
      await page.keyboard.press("Control+Enter");
      await page.getByTestId("outcome").waitFor();
      assert.match(await column(page, "original").locator("pre").first().textContent(), /let q = Queue::new/);
      const filtered = await column(page, "filtered").locator("pre").textContent();
      assert.match(filtered, /It keeps what comes in order/);
      assert.doesNotMatch(filtered, /Queue::new/);
      const removed = page.locator("[data-removed]");
      assert.equal(await removed.count(), 1);
      assert.match(await removed.textContent(), /block.*rust.*2 lines.*q\.push/s);
      assert.equal(await page.locator('[data-figure="Removed"] .numbers').textContent(), "1");
      for (const name of ["original", "filtered", "removed"]) assert.ok(await column(page, name).isVisible(), name);
    },
  },
  {
    name: "the options are sent as they stand, and a warning is shown",
    mock: {},
    open: { path: "filter" },
    async run({ page }) {
      const sent = page.waitForRequest((request) => request.url().endsWith("/api/web/preview"));
      await page.getByLabel(/^Text/).fill("```\ncode and nothing else\n```\n");
      await page.getByLabel("It is").selectOption("text/markdown");
      await page.getByLabel("Format").selectOption("structured");
      await page.getByRole("checkbox", { name: "describe examples in words" }).check();
      await page.getByLabel(/^Longest/).fill("lots");
      const button = page.getByRole("button", { name: "Filter it" });
      assert.ok(await button.isDisabled());
      await page.getByText("from 1 to 2097152").waitFor();
      await page.getByLabel(/^Longest/).fill("10");
      await page.getByLabel(/^Address/).fill("https://docs.rs/");
      await button.click();
      assert.deepEqual((await sent).postDataJSON(), {
        content: "```\ncode and nothing else\n```\n",
        content_type: "text/markdown",
        url: "https://docs.rs/",
        filter: {
          strip_code_blocks: true,
          strip_inline_code: true,
          transform_apis: false,
          transform_examples: true,
          max_size: 10,
          format: "structured",
        },
      });
      await page.getByTestId("warnings").getByText("it was cut to the longest size").waitFor();
    },
  },
  {
    name: "code that no waiver lets through is not shown, and many pieces are counted",
    mock: {},
    open: { path: "filter" },
    expects: [/status of 403/],
    async run({ page }) {
      await page.getByLabel(/^Text/).fill("```rust\nlet a = 1;\n```\n".repeat(300));
      await page.getByRole("checkbox", { name: /take out blocks/ }).uncheck();
      await page.getByText("only where a waiver lets an agent have it").waitFor();
      await page.getByRole("button", { name: "Filter it" }).click();
      await page.getByTestId("refused").getByText(/needs a waiver/).waitFor();
      await page.getByRole("checkbox", { name: /take out blocks/ }).check();
      await page.getByRole("button", { name: "Filter it" }).click();
      await page.getByTestId("removed").getByText("and 44 more").waitFor();
      await column(page, "removed").getByText("300 pieces").waitFor();
      assert.equal(await page.locator("[data-removed]").count(), 256);
    },
  },
  {
    name: "a file is read with its type, and one that is too large is not read at all",
    mock: {},
    open: { path: "filter" },
    async run({ page }) {
      const file = page.getByLabel("A file to filter");
      await file.setInputFiles({ name: "big.html", mimeType: "text/html", buffer: Buffer.alloc(2 * 1_024 * 1_024 + 1, "a") });
      await page.getByTestId("refused").getByText(/big\.html is 2\.1 MB/).waitFor();
      assert.equal(await page.getByLabel(/^Text/).inputValue(), "");
      await file.setInputFiles({ name: "page.html", mimeType: "text/html", buffer: Buffer.from("<p>one</p>") });
      await until("the file", async () => (await page.getByLabel(/^Text/).inputValue()) === "<p>one</p>");
      assert.equal(await page.getByLabel("It is").inputValue(), "text/html");
      assert.equal(await page.getByTestId("refused").textContent(), "");
      await page.getByLabel(/^Text/).fill("é".repeat(1_100_000));
      await page.getByTestId("refused").getByText(/more than 2 MiB/).waitFor();
      assert.ok(await page.getByRole("button", { name: "Filter it" }).isDisabled());
    },
  },
  {
    name: "where there is no room, one of the three is shown at a time",
    mock: {},
    open: { path: "filter", width: 480, height: 860 },
    async run({ page }) {
      await page.getByLabel(/^Text/).fill(PAGE);
      await page.getByRole("button", { name: "Filter it" }).click();
      await page.getByTestId("outcome").waitFor();
      assert.ok(await column(page, "filtered").isVisible());
      assert.ok(!(await column(page, "removed").isVisible()));
      await page.getByRole("button", { name: "What was removed" }).click();
      await page.locator("[data-removed]").waitFor();
      assert.ok(!(await column(page, "filtered").isVisible()));
    },
  },
  {
    name: "what the server refuses is said at the text, and an accident above the page",
    mock: {},
    open: { path: "filter" },
    expects: [/status of (422|500)/],
    async run({ page }, { mock }) {
      await page.getByLabel(/^Text/).fill("\u0001");
      await page.evaluate(() => {
        const text = document.querySelector("#content");
        Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(text, "a\u0000b");
        text.dispatchEvent(new Event("input", { bubbles: true }));
      });
      await page.getByRole("button", { name: "Filter it" }).click();
      await page.getByTestId("refused").getByText("it is no text").waitFor();
      mock.fault = [500, "Accident", "the filter fell over"];
      await page.getByLabel(/^Text/).fill("a text");
      await page.getByRole("button", { name: "Filter it" }).click();
      await page.getByTestId("trouble").getByText("the filter fell over").waitFor();
      mock.fault = undefined;
      await page.getByRole("button", { name: "Retry now" }).click();
      await page.getByTestId("outcome").waitFor();
      await page.getByTestId("trouble").waitFor({ state: "detached" });
    },
  },
  {
    name: "the pages of the gateway share one place in the header, which is opened and left by keyboard",
    mock: {},
    open: { path: "filter" },
    async run({ page }) {
      const group = page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("button", { name: "Web" });
      await group.focus();
      await page.keyboard.press("Enter");
      const links = page.getByRole("list", { name: "Web" }).getByRole("link");
      await links.first().waitFor();
      await page.keyboard.press("Escape");
      await links.first().waitFor({ state: "detached" });
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Web, on Filter preview");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Requests" }).waitFor();
      await links.first().waitFor({ state: "detached" });
      await page.locator("#page").focus();
      for (const [key, title] of [["e", "Pages"], ["n", "Reports"], ["l", "Filter preview"], ["u", "Web rules"]]) {
        await page.keyboard.press("g");
        await page.keyboard.press(key);
        await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      }
    },
  },
];
