// What each client has to be told to go through this Weir: exact lines, for its address and, where one is needed, a token.

export interface Client {
  name: string;
  /** Where the lines go; `undefined` is a shell. */
  file?: string;
  lines: (to: Address) => string;
  /** What else has to be so that they work; `undefined` where they work as they stand. */
  needs?: (to: Address) => string | undefined;
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
    clients: [
      {
        name: "go",
        // It refuses an address with a token over plain http.
        lines: (to) => `go env -w GOPROXY=${isPlain(to) ? to.base : withToken(to)}go`,
        needs: (to) =>
          to.token && isPlain(to)
            ? "The go command shows no token over plain http: open this page at an https address of this Weir (server.public_url), or let clients on this machine in without a token (auth.loopback_packages: open)."
            : undefined,
      },
    ],
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
          `skopeo inspect ${token ? `--creds weir:${token} ` : ""}${isPlain({ base, token }) ? "--tls-verify=false " : ""}docker://${host(base)}/library/alpine`,
      },
    ],
  },
];

/** The address with the token as the password of Basic. */
function withToken({ base, token }: Address): string {
  return token ? base.replace("://", `://weir:${token}@`) : base;
}

/** Whether it is reached without TLS. */
function isPlain({ base }: Address): boolean {
  return base.startsWith("http:");
}

function withoutScheme(base: string): string {
  return base.replace(/^https?:\/\//, "");
}

function host(base: string): string {
  return new URL(base).host;
}
