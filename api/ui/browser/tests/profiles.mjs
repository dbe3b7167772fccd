import assert from "node:assert/strict";
import { until } from "../driver.mjs";

export default [
  {
    name: "a profile is set, changed, named by a token, and removed",
    open: { path: "profiles" },
    expects: [/status of 422/],
    async run(visit) {
      const { page } = visit;
      const name = `agent-${Date.now()}`;
      await page.getByRole("button", { name: "New profile" }).click();
      await page.getByLabel(/^Name/).fill("Agent");
      await page.getByRole("button", { name: "Add" }).click();
      await until("the field to be marked", async () => {
        return (await page.getByLabel(/^Name/).getAttribute("aria-invalid")) === "true";
      });
      await page.getByLabel(/^Name/).fill(name);
      await page.getByLabel(/^Least age/).fill("168");
      await page.getByLabel("Files a day").fill("400");
      await page.getByLabel("Megabytes a day").fill("1500");
      await page.getByRole("checkbox", { name: /new-package/ }).check();
      await page.getByRole("button", { name: "Add" }).click();
      const row = page.locator(`[data-profile="${name}"]`);
      for (const text of ["7 d", "400 files a day", "1.5 GB a day", "new-package"]) {
        await row.getByText(text, { exact: true }).waitFor();
      }
      await page.getByRole("button", { name: `Change ${name}` }).click();
      assert.equal(await page.getByLabel("Megabytes a day").inputValue(), "1500");
      await page.getByLabel("Files a day").fill("500");
      await page.getByRole("checkbox", { name: /advisory/ }).check();
      await page.getByRole("dialog").getByRole("button", { name: "Change" }).click();
      await row.getByText("500 files a day").waitFor();
      await row.getByText("advisory").waitFor();
      const { profiles } = await visit.api("registry/profiles");
      assert.deepEqual(profiles.find((profile) => profile.name === name).hold, ["new-package", "advisory"]);

      await page.getByRole("link", { name: "Tokens" }).click();
      await page.getByRole("button", { name: "New token" }).click();
      await page.getByLabel(/^Name/).fill(`of-${name}`);
      await page.getByLabel("Profile").selectOption(name);
      await page.getByRole("checkbox", { name: /registry:pypi/ }).check();
      await page.getByRole("button", { name: "Issue" }).click();
      await page.getByRole("button", { name: "I have it" }).click();
      const token = page.locator(`[data-token="of-${name}"]`);
      await token.getByRole("link", { name, exact: true }).click();
      await page.getByRole("button", { name: `Remove ${name}` }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await until("the row to go", async () => (await row.count()) === 0);
    },
  },
  {
    name: "who may only read is told why the buttons do nothing, and only an admin is offered audit",
    mock: { firewall: { scopes: ["rules:read"] } },
    open: { path: "profiles" },
    async run({ page }, { mock, url }) {
      await page.getByTestId("profiles").waitFor();
      for (const name of ["New profile", "Change agent", "Remove agent"]) {
        const button = page.getByRole("button", { name });
        assert.ok(await button.isDisabled(), name);
        assert.match(await button.getAttribute("title"), /rules:write/);
      }
      mock.firewall.scopes = ["rules:read", "rules:write"];
      await page.goto(`${url}profiles`);
      await page.getByRole("button", { name: "New profile" }).click();
      assert.equal(await page.getByLabel("Mode").locator("option").count(), 2);
    },
  },
];
