import assert from "node:assert/strict";
import { until } from "../driver.mjs";

const waiting = (page, url) => page.getByTestId("waiting").locator(`[data-approval="${url}"]`);
const answered = (page, url) => page.getByTestId("answered").locator(`[data-approval="${url}"]`);
const ISSUE = "https://github.com/tokio-rs/tokio/issues/4321";

export default [
  {
    name: "what the API says of approvals stands there",
    open: { path: "approvals" },
    async run(visit) {
      await visit.page.getByRole("heading", { name: "Approvals" }).waitFor();
      const { approvals } = await visit.api("web/approvals");
      await until("as many rows", async () => (await visit.page.locator("[data-approval]").count()) === approvals.length);
    },
  },
  {
    name: "a question comes in by the stream, is allowed with a reason, and denied after that",
    mock: {},
    open: { path: "approvals" },
    expects: [/status of 422/],
    async run(visit, { mock }) {
      const { page } = visit;
      const { people } = mock.webRequests;
      await visit.live();
      await waiting(page, ISSUE).getByText(/min/).first().waitFor();
      const asked = [];
      page.on("request", (request) => request.url().includes("web/approvals") && asked.push(new URL(request.url())));
      people.ask("https://github.com/six");
      mock.append(1, "WebApprovalRequested");
      await waiting(page, "https://github.com/six").waitFor({ timeout: 3_000 });
      assert.ok(asked.some(({ searchParams }) => searchParams.get("min_position") === String(mock.events.length)));
      const order = await page.getByTestId("waiting").locator("[data-approval]").evaluateAll((rows) => rows.map((row) => row.dataset.approval));
      assert.deepEqual(order, [ISSUE, "https://api.github.com/repos/tokio-rs/tokio", "https://github.com/six"], "who waits longest comes first");

      await page.getByRole("button", { name: "Allow GET https://github.com/six" }).click();
      await page.getByLabel(/^Reason/).fill("because");
      await page.keyboard.press("Enter");
      await page.getByText("that is no reason").waitFor();
      assert.equal(await page.getByLabel(/^Reason/).getAttribute("aria-invalid"), "true");
      await page.getByLabel(/^Reason/).fill("looked at it");
      await page.getByLabel("It holds for").selectOption({ label: "15 minutes" });
      await page.getByRole("dialog").getByRole("button", { name: "Allow" }).click();
      await answered(page, "https://github.com/six").getByText("allowed").waitFor();
      await waiting(page, "https://github.com/six").waitFor({ state: "detached" });
      const { answer } = people.approvals.at(-1);
      assert.ok(Math.abs(Date.parse(answer.until) - Date.now() - 900_000) < 60_000, answer.until);

      await page.getByRole("button", { name: "Deny GET https://github.com/six" }).click();
      await page.getByText("takes the place of what admin said").waitFor();
      await page.getByLabel(/^Reason/).fill("not after all");
      await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
      await answered(page, "https://github.com/six").getByText("denied").waitFor();
      await answered(page, "https://github.com/six").getByText("not after all").waitFor();
    },
  },
  {
    name: "who answers what somebody else has just answered otherwise is told so, and sees it",
    mock: {},
    open: { path: "approvals" },
    expects: [/status of 409/],
    async run({ page }, { mock }) {
      await page.getByRole("button", { name: `Allow GET ${ISSUE}` }).click();
      await page.getByLabel(/^Reason/).fill("looked at it");
      const question = mock.webRequests.people.approvals[0];
      const until = new Date(Date.now() + 3_600_000).toISOString();
      Object.assign(question, { state: "denied", answer: { word: "deny", reason: "not reviewed", by: "mira", at: until, until } });
      await page.keyboard.press("Enter");
      await page.getByText("`mira` has answered `deny` already").waitFor();
      await answered(page, ISSUE).getByText("by mira").waitFor();
      assert.equal(question.state, "denied");
    },
  },
  {
    name: "who may only read, and who comes too late, is told why the buttons do nothing",
    mock: { firewall: { scopes: ["web:read"] } },
    open: { path: "approvals" },
    async run({ page }) {
      const allow = page.getByRole("button", { name: `Allow GET ${ISSUE}` });
      await allow.waitFor();
      assert.ok(await allow.isDisabled());
      assert.ok((await allow.getAttribute("title")).includes("web:write"));
      await answered(page, "https://x.com/weir").getByText("nobody answered in time").waitFor();
      assert.equal(await answered(page, "https://x.com/weir").getByRole("button").count(), 0);
    },
  },
];
