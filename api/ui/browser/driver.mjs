// Chromium, one page per test, with everything it complained about; and the few verbs all tests share.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const DEADLINE = 10_000;

export const SCREENSHOTS =
  process.env.SCREENSHOTS ?? fileURLToPath(new URL("../../../target/ui-screenshots", import.meta.url));
mkdirSync(SCREENSHOTS, { recursive: true });

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}

export class Visit {
  constructor(context, world) {
    this.context = context;
    this.world = world;
    this.complaints = [];
  }

  static async open(browser, world, { theme = "light", path = "", signedIn = true, width = 1440, height = 860 } = {}) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: theme,
      reducedMotion: "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const visit = new Visit(context, world);
    visit.page = await visit.tab();
    await visit.page.goto(world.url + path);
    if (signedIn) await visit.signIn();
    return visit;
  }

  async tab() {
    const page = await this.context.newPage();
    page.setDefaultTimeout(DEADLINE);
    page.on("pageerror", (fault) => this.complaints.push(`uncaught: ${fault.stack}`));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning")
        this.complaints.push(`${message.type()}: ${message.text()} (${message.location().url})`);
    });
    return page;
  }

  async signIn(token = this.world.token) {
    await this.page.getByLabel("Access token").fill(token);
    await this.page.keyboard.press("Enter");
    // Not by role: a dialog that the address opens hides the rest from assistive technology.
    await this.page.locator("#page").waitFor();
  }

  /** Complaints but those a test brings about: the browser itself logs every answer above 399 and every refused connection. */
  complained(...expected) {
    return this.complaints.filter((complaint) => !expected.some((pattern) => pattern.test(complaint)));
  }

  shot(name) {
    return this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }

  /** Serious and critical findings of axe, in words. */
  async axe() {
    await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate(() =>
      globalThis.axe.run(document, { resultTypes: ["violations"] }),
    );
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`)
            .join(" | ")}`,
      );
  }

  search() {
    return new URL(this.page.url()).searchParams;
  }

  live() {
    return this.page.locator("[data-testid=connection][data-state=live]").waitFor();
  }

  /** All positions of the list, newest first, read by scrolling through it. */
  positions() {
    return this.page.evaluate(async () => {
      const list = document.querySelector("[data-testid=events]");
      const seen = new Set();
      const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      for (let top = 0; ; top += list.clientHeight / 2) {
        list.scrollTop = top;
        await drawn();
        for (const row of list.querySelectorAll("[data-position]")) seen.add(Number(row.dataset.position));
        if (top > list.scrollHeight) break;
      }
      list.scrollTop = 0;
      await drawn();
      return [...seen].sort((a, b) => b - a);
    });
  }

  /** Asks the API with the page's own session. */
  api(path) {
    return this.page.evaluate(
      async (path) => (await fetch(path)).json(),
      `${new URL(this.world.url).pathname}api/${path}`,
    );
  }
}

/** Waits until `fact` gives something true; fails with the last answer when it never does. */
export async function until(what, fact, deadline = DEADLINE) {
  const end = Date.now() + deadline;
  let last;
  do {
    last = await fact();
    if (last) return last;
    await new Promise((resolve) => setImmediate(resolve));
  } while (Date.now() < end);
  assert.fail(`waited ${deadline} ms for ${what}; last: ${JSON.stringify(last)}`);
}
