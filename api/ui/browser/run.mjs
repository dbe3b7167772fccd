// Runs the browser tests: against the real Weir where it is given (WEIR_URL with WEIR_TOKEN, or WEIR_BIN), and against
// the mock for what only a mock can bring about. `node browser/run.mjs [words of a test's name]` runs some of them.

import { launch, Visit } from "./driver.mjs";
import { mockWorld, realWorld } from "./world.mjs";

const SUITES = ["session", "tail", "pause", "keyboard", "projections", "dashboard", "blocks", "rules", "waivers", "holds", "impact", "sources", "cache", "tokens", "profiles", "connect", "requests", "agents", "approvals", "web-rules", "web-pages", "web-reports", "web-filter", "trouble", "looks"];
const TEST_MS = 60_000;

const tests = (
  await Promise.all(
    SUITES.map(async (suite) => (await import(`./tests/${suite}.mjs`)).default.map((test) => ({ suite, ...test }))),
  )
).flat();
const wanted = process.argv.slice(2).join(" ").toLowerCase();
const chosen = tests.filter(({ suite, name }) => `${suite}: ${name}`.toLowerCase().includes(wanted));

const browser = await launch();
const real = await realWorld(process.env);
let failed = 0;
for (const { suite, name, needs = [], mock, open, expects = [], run } of chosen) {
  // `mock` in a test's description makes one of its own, in the state it describes.
  const useReal = real && !mock && needs.every((need) => real.can(need));
  const world = useReal ? real : await mockWorld(mock);
  const began = Date.now();
  let visit;
  let timer;
  try {
    const late = new Promise(
      (_, reject) => (timer = setTimeout(() => reject(new Error(`not done after ${TEST_MS} ms`)), TEST_MS)),
    );
    const whole = async () => {
      visit = await Visit.open(browser, world, open);
      await run(visit, world);
      const complaints = visit.complained(...expects);
      if (complaints.length > 0) throw new Error(`the console complained:\n${complaints.join("\n")}`);
    };
    await Promise.race([whole(), late]);
    console.log(`ok   ${suite}: ${name} (${world.name}, ${Date.now() - began} ms)`);
  } catch (fault) {
    failed += 1;
    console.log(`FAIL ${suite}: ${name} (${world.name})\n${String(fault?.stack ?? fault).replaceAll(/^/gm, "     ")}`);
    for (const complaint of visit?.complaints ?? []) console.log(`     console: ${complaint}`);
    await visit?.shot(`failed-${suite}-${name.replaceAll(/\W+/g, "-")}`).catch(() => {});
  } finally {
    clearTimeout(timer);
    await visit?.context.close();
    if (!useReal) await world.close();
  }
}
await browser.close();
await real?.close();
console.log(
  `${chosen.length - failed} of ${chosen.length} browser tests passed${real ? "" : " (mock only: neither WEIR_URL nor WEIR_BIN is set)"}`,
);
process.exit(failed > 0 || chosen.length === 0 ? 1 : 0);
