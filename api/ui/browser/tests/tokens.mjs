import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "a token is issued, shown once, opens what its scopes say, and opens nothing once revoked",
    open: { path: "tokens" },
    async run(visit, world) {
      const { page } = visit;
      const name = `browser-${Date.now()}`;
      await page.getByTestId("tokens").waitFor();
      await page.getByRole("button", { name: "New token" }).click();
      await page.getByLabel(/^Name/).fill(name);
      await page.getByRole("checkbox", { name: /rules:read/ }).check();
      await page.getByLabel("It ends").selectOption({ label: "one day" });
      await page.getByRole("button", { name: "Issue" }).click();
      const secret = (await page.getByTestId("secret").textContent()).trim();
      assert.match(secret, /^rf_[0-9a-f]{16}_[\w-]{43}$/);
      const asked = async () =>
        (await fetch(`${world.url}api/rules`, { headers: { authorization: `Bearer ${secret}` } })).status;
      if (world.name === "weir") assert.equal(await asked(), 200);
      await page.getByRole("button", { name: "I have it" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      assert.ok(!(await page.content()).includes(secret), "the secret is still on the page");
      await page.getByRole("button", { name: `Revoke ${name}` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await until(
        "the row to go",
        async () => (await page.locator(`[data-token="${name}"]`).count()) === 0,
      );
      if (world.name === "weir") await until("a refusal", async () => (await asked()) === 401);
      await page.getByLabel("Which tokens").selectOption("all");
      await page.locator(`[data-token="${name}"]`).getByText("revoked").waitFor();
      assert.equal(visit.search().get("show"), "all");
    },
  },
  {
    name: "the secret does not wait for the list behind it to be read anew",
    mock: {},
    open: { path: "tokens" },
    async run({ page }) {
      await page.getByTestId("tokens").waitFor();
      await page.getByRole("button", { name: "New token" }).click();
      await page.getByLabel(/^Name/).fill("patient");
      await page.getByRole("checkbox", { name: /rules:read/ }).check();
      // From now on the list is asked for, and never answered.
      await page.route(/api\/tokens/, (route) => (route.request().method() === "GET" ? undefined : route.continue()));
      await page.getByRole("button", { name: "Issue" }).click();
      await page.getByTestId("secret").waitFor();
    },
  },
  {
    name: "what the server finds wrong stands at its field, and the dialog stays",
    mock: {},
    open: { path: "tokens" },
    expects: [/status of 422/],
    async run({ page }) {
      await page.getByRole("button", { name: "New token" }).click();
      await page.getByLabel(/^Name/).fill("root");
      await page.getByRole("checkbox", { name: /^admin/ }).check();
      await page.keyboard.press("Enter");
      await page.getByText("a name like that says nothing").waitFor();
      assert.equal(await page.getByLabel(/^Name/).getAttribute("aria-invalid"), "true");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    },
  },
  {
    name: "nobody is offered a scope to give that he does not have",
    mock: { firewall: { scopes: ["tokens:write", "registry:npm"] } },
    open: { path: "tokens" },
    async run({ page }) {
      await page.getByRole("button", { name: "New token" }).click();
      await page.getByRole("dialog").waitFor();
      const offered = await page
        .getByRole("checkbox", { disabled: false })
        .evaluateAll((boxes) => boxes.map((box) => box.closest("label").querySelector("code").textContent));
      assert.deepEqual(offered, ["registry:npm", "tokens:write"]);
    },
  },
  {
    name: "what a token has used of its quota stands beside it",
    mock: {},
    open: { path: "tokens" },
    async run({ page }) {
      const used = page.getByRole("list", { name: "What agent-7 has used" });
      await used.waitFor();
      assert.deepEqual(await used.getByRole("listitem").allTextContents(), [
        "93 of 100 files this hour",
        "131 of 400 files today",
        "2 GB of 2 GB today",
      ]);
    },
  },
  {
    name: "who may not see which profiles there are can write the name of one",
    mock: { firewall: { scopes: ["tokens:write", "registry:npm"] } },
    open: { path: "tokens" },
    expects: [/status of 422/],
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: "New token" }).click();
      await page.getByLabel(/^Name/).fill("robot");
      await page.getByLabel(/^Profile/).fill("none-such");
      await page.getByRole("checkbox", { name: /registry:npm/ }).check();
      await page.getByRole("button", { name: "Issue" }).click();
      await page.getByText("there is no profile").waitFor();
      await page.getByLabel(/^Profile/).fill("agent");
      await page.getByRole("button", { name: "Issue" }).click();
      await page.getByTestId("secret").waitFor();
      assert.equal(mock.firewall.tokens[0].profile, "agent");
    },
  },
];
