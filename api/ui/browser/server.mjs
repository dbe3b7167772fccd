// Starts the real binary for the browser tests, and stops it: `WEIR_BIN up --data-dir DIR --listen HOST:PORT --json`
// prints one JSON line with its address and admin token when it is ready.

import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const READY_MS = 120_000;
const STOP_MS = 30_000;

/** As root, Weir runs its Postgres as another user, who must be able to pass. */
function openFolder() {
  const folder = mkdtempSync(join(tmpdir(), "weir-ui-"));
  chmodSync(folder, 0o755);
  return folder;
}

export async function startWeir(
  binary,
  { dataDir = openFolder(), listen = "127.0.0.1:0" } = {},
) {
  const child = spawn(binary, ["up", "--data-dir", dataDir, "--listen", listen, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => (said = (said + chunk).slice(-8_000)));
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const ready = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const value = line.startsWith("{") ? JSON.parse(line) : {};
      if (value.url) resolve(value);
    });
    child.once("error", reject);
    void gone.then((code) => reject(new Error(`${binary} ended with ${code} before it was ready\n${said}`)));
    setTimeout(() => reject(new Error(`${binary} was not ready after ${READY_MS} ms\n${said}`)), READY_MS).unref();
  });
  const { url, admin_token: token } = await ready.catch((fault) => {
    child.kill("SIGKILL");
    throw fault;
  });
  return {
    url: url.endsWith("/") ? url : `${url}/`,
    token,
    dataDir,
    async stop({ keep = false } = {}) {
      child.kill("SIGTERM");
      const hard = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      await gone;
      clearTimeout(hard);
      if (!keep) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
