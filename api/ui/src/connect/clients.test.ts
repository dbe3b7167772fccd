import { expect, test } from "vitest";
import { CLIENTS } from "./clients";

const said = (base: string, token?: string) =>
  Object.fromEntries(
    CLIENTS.flatMap(({ clients }) => clients.map(({ name, lines }) => [name.split(",")[0], lines({ base, token })])),
  );

test("the lines name this Weir, also behind a prefix", () => {
  const lines = said("https://tools.example/weir/");
  expect(lines["pip"]).toBe("pip config set global.index-url https://tools.example/weir/pypi/simple/");
  expect(lines["npm"]).toBe("registry=https://tools.example/weir/npm/");
  expect(lines["cargo"]).toContain('index = "sparse+https://tools.example/weir/cargo/"');
  for (const text of Object.values(lines)) expect(text).toContain("tools.example");
});

test("a token stands where each client shows it", () => {
  const lines = said("http://127.0.0.1:7400/", "rf_x_y");
  expect(lines["uv"]).toBe("export UV_DEFAULT_INDEX=http://weir:rf_x_y@127.0.0.1:7400/pypi/simple/");
  expect(lines["npm"]).toBe("registry=http://127.0.0.1:7400/npm/\n//127.0.0.1:7400/npm/:_authToken=rf_x_y");
  expect(lines["cargo"]).toMatch(/credential-provider = "cargo:token"\ntoken = "rf_x_y"$/);
  expect(lines["skopeo"]).toContain("--creds weir:rf_x_y --tls-verify=false docker://127.0.0.1:7400/");
  // docker asks for the password: on its command line everybody on the machine could read it.
  expect(lines["docker"]).not.toContain("rf_x_y");
});

test("the go command gets no token over plain http, which it would refuse, and is told why", () => {
  const go = CLIENTS.flatMap(({ clients }) => clients).find(({ name }) => name === "go");
  const [plain, tls] = ["http://weir.example:7400/", "https://weir.example/"];
  expect(go?.lines({ base: plain, token: "rf_x_y" })).toBe("go env -w GOPROXY=http://weir.example:7400/go");
  expect(go?.needs?.({ base: plain, token: "rf_x_y" })).toContain("no token over plain http");
  expect(go?.lines({ base: tls, token: "rf_x_y" })).toBe("go env -w GOPROXY=https://weir:rf_x_y@weir.example/go");
  expect(go?.needs?.({ base: tls, token: "rf_x_y" })).toBeUndefined();
  expect(go?.needs?.({ base: plain, token: undefined })).toBeUndefined();
});
