// What each client has to be told to go through this Weir: exact lines, for its address and, where one is needed, a token.

export interface Client {
  name: string;
  /** Where the lines go; `undefined` is a shell. */
  file?: string;
  lines: (to: Address) => string;
}

export interface Address {
  /** Of this Weir, with a slash at its end. */
  base: string;
  /** Shown by clients as their password; `undefined` where none is needed. */
  token: string | undefined;
}

export interface EcosystemClients {
  ecosystem: string;
  title: string;
  clients: readonly Client[];
}

export const CLIENTS: readonly EcosystemClients[] = [
  {
    ecosystem: "pypi",
    title: "Python packages",
    clients: [
      { name: "pip", lines: (to) => `pip config set global.index-url ${withToken(to)}pypi/simple/` },
      { name: "uv", lines: (to) => `export UV_DEFAULT_INDEX=${withToken(to)}pypi/simple/` },
    ],
  },
  {
    ecosystem: "npm",
    title: "npm packages",
    clients: [
      {
        name: "npm, pnpm, yarn, bun",
        file: "~/.npmrc",
        lines: ({ base, token }) =>
          [`registry=${base}npm/`, ...(token ? [`//${withoutScheme(base)}npm/:_authToken=${token}`] : [])].join("\n"),
      },
    ],
  },
  {
    ecosystem: "cargo",
    title: "Rust crates",
    clients: [
      {
        name: "cargo",
        file: "~/.cargo/config.toml",
        lines: ({ base, token }) =>
          [
            "[source.crates-io]",
            'replace-with = "weir"',
            "",
            "[registries.weir]",
            `index = "sparse+${base}cargo/"`,
            'credential-provider = "cargo:token"',
            ...(token ? [`token = "${token}"`] : []),
          ].join("\n"),
      },
    ],
  },
  {
    ecosystem: "go",
    title: "Go modules",
    clients: [{ name: "go", lines: (to) => `go env -w GOPROXY=${withToken(to)}go` }],
  },
  {
    ecosystem: "docker",
    title: "Container images",
    clients: [
      {
        name: "docker",
        lines: ({ base, token }) =>
          [...(token ? [`docker login -u weir ${host(base)}`] : []), `docker pull ${host(base)}/library/alpine`].join("\n"),
      },
      {
        name: "skopeo",
        lines: ({ base, token }) =>
          `skopeo inspect ${token ? `--creds weir:${token} ` : ""}${base.startsWith("http:") ? "--tls-verify=false " : ""}docker://${host(base)}/library/alpine`,
      },
    ],
  },
];

/** The address with the token as the password of Basic. */
function withToken({ base, token }: Address): string {
  return token ? base.replace("://", `://weir:${token}@`) : base;
}

function withoutScheme(base: string): string {
  return base.replace(/^https?:\/\//, "");
}

function host(base: string): string {
  return new URL(base).host;
}
