// What a browser test can ask of the server behind the page. The real Weir can do the ordinary; the mock also shows
// what is hard to bring about on purpose. A test names what it needs, and runs on the first world that has it.

import { Mock, TOKEN } from "./mock.mjs";
import { startWeir } from "./server.mjs";

export async function mockWorld(options = { events: 400 }) {
  const mock = await new Mock(options).start();
  return {
    name: "mock",
    mock,
    url: mock.url,
    token: TOKEN,
    can: () => true,
    append: async (count, kind) => void mock.append(count, kind),
    goAway: () => mock.stop(),
    comeBack: () => mock.start(mock.port),
    close: () => mock.stop(),
  };
}

/** The real one: given by address, or started from a binary (then it can also be stopped and started). */
export async function realWorld(env) {
  if (env.WEIR_URL) {
    const url = env.WEIR_URL.endsWith("/") ? env.WEIR_URL : `${env.WEIR_URL}/`;
    return {
      ...speaking(() => ({ url, token: env.WEIR_TOKEN })),
      can: (need) => need === "append",
      close: async () => {},
    };
  }
  if (!env.WEIR_BIN) return undefined;
  let weir = await startWeir(env.WEIR_BIN);
  return {
    ...speaking(() => weir),
    can: (need) => need === "append" || need === "away",
    goAway: () => weir.stop({ keep: true }),
    async comeBack() {
      const { token } = weir;
      const again = await startWeir(env.WEIR_BIN, { dataDir: weir.dataDir, listen: new URL(weir.url).host });
      // A data directory has one first token; a second start need not print it again.
      weir = { ...again, token: again.token ?? token };
    },
    close: () => weir.stop(),
  };
}

function speaking(server) {
  let made = 0;
  return {
    name: "weir",
    get url() {
      return server().url;
    },
    get token() {
      return server().token;
    },
    /** Each rule is a `RuleAdded`. */
    async append(count) {
      for (let added = 0; added < count; added += 1) {
        made += 1;
        const answer = await fetch(`${server().url}api/rules`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${server().token}` },
          body: JSON.stringify({
            ecosystem: "pypi",
            package: `ui-test-${process.pid}-${made}`,
            versions: ">=1",
            reason: "made by the browser tests",
            mask: "mark",
          }),
        });
        if (!answer.ok) throw new Error(`POST /api/rules answered ${answer.status}: ${await answer.text()}`);
      }
    },
  };
}
