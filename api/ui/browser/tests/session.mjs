import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "a refused token is told, a good one leads to where one was going",
    open: { signedIn: false, path: "?q=kind:RuleAdded" },
    expects: [/status of 401 .*\/api\/session\)$/],
    async run({ page, ...visit }, world) {
      await page.getByLabel("Access token").fill("rf_wrong_token");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
      await page.getByLabel("Access token").fill(world.token);
      await page.keyboard.press("Enter");
      await page.getByRole("combobox", { name: "Filter events" }).waitFor();
      assert.equal(await page.getByRole("combobox", { name: "Filter events" }).inputValue(), "kind:RuleAdded");
      assert.equal(new URL(page.url()).searchParams.get("q"), "kind:RuleAdded");
      assert.ok(visit);
    },
  },
  {
    name: "being signed out is nothing the console complains of",
    open: { signedIn: false },
    async run({ page, complaints }) {
      await page.getByLabel("Access token").waitFor();
      assert.deepEqual(complaints, []);
    },
  },
  {
    name: "signing out asks every tab for a token, and ends a copied cookie too",
    // The other tab may hear of it by being refused.
    expects: [/status of 401 .*\/api\//, /ERR_INCOMPLETE_CHUNKED_ENCODING/],
    async run(visit) {
      const copied = await visit.context.cookies();
      assert.ok(copied.every(({ httpOnly, sameSite }) => httpOnly && sameSite === "Strict"));
      assert.ok(!JSON.stringify(copied).includes(visit.world.token));
      const second = await visit.tab();
      await second.goto(visit.page.url());
      await second.getByRole("navigation", { name: "Pages" }).waitFor();
      await visit.page.getByRole("button", { name: "Sign out" }).click();
      await visit.page.getByLabel("Access token").waitFor();
      await second.getByLabel("Access token").waitFor();
      if (visit.world.mock) return;
      await visit.context.addCookies(copied);
      await visit.page.reload();
      await visit.page.getByLabel("Access token").waitFor();
    },
  },
  {
    name: "too many attempts lock the form and count down",
    mock: {},
    open: { signedIn: false },
    expects: [/status of 429 .*\/api\/session\)$/],
    async run({ page }, { mock }) {
      mock.failures = 10;
      await page.getByLabel("Access token").fill("rf_wrong");
      await page.keyboard.press("Enter");
      await page.getByText("Too many attempts").waitFor();
      assert.ok(await page.getByRole("button", { name: "Sign in" }).isDisabled());
    },
  },
  {
    name: "a session that ends while the page is open leads back to the form",
    mock: { events: 5 },
    // Whatever the page asks for from then on is refused: the stream, and what it looks up meanwhile.
    expects: [/status of 401 .*\/api\//, /ERR_INCOMPLETE_CHUNKED_ENCODING/],
    async run(visit, { mock }) {
      await visit.live();
      await visit.context.clearCookies();
      mock.dropStreams();
      await visit.page.getByLabel("Access token").waitFor();
    },
  },
  {
    name: "works below a path prefix, and only asks for what exists",
    mock: { events: 30, prefix: "/tools/weir/" },
    async run(visit) {
      const missing = [];
      visit.page.on("response", (answer) => answer.status() >= 400 && missing.push(answer.url()));
      await visit.page.getByTestId("events").waitFor();
      await visit.page.getByRole("link", { name: "Projections" }).click();
      await visit.page.getByTestId("projections").waitFor();
      await until("the address", () => new URL(visit.page.url()).pathname === "/tools/weir/projections");
      await visit.page.reload();
      await visit.page.getByTestId("projections").waitFor();
      assert.deepEqual(missing, []);
    },
  },
];
