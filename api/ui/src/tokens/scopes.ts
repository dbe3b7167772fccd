// What a token may do, in the words of the machine that judges it.

export const SCOPES: readonly { name: string; what: string }[] = [
  { name: "registry:pypi", what: "install Python packages" },
  { name: "registry:npm", what: "install npm packages" },
  { name: "registry:cargo", what: "install Rust crates" },
  { name: "registry:go", what: "install Go modules" },
  { name: "registry:docker", what: "pull container images" },
  { name: "events:read", what: "read and follow the log" },
  { name: "rules:read", what: "see rules, blocks and the dashboard" },
  { name: "rules:write", what: "change rules" },
  { name: "projections:read", what: "see projections" },
  { name: "projections:write", what: "replay projections, redeliver dead letters" },
  { name: "tokens:write", what: "see, issue and revoke tokens" },
  { name: "nexus:write", what: "advance the epoch, drive the clock" },
  { name: "mint:read", what: "see accounts" },
  { name: "mint:write", what: "grant spark" },
  { name: "agents:read", what: "see agents" },
  { name: "agents:write", what: "register and revoke agents" },
  { name: "web:read", what: "see what agents asked, and the rules about hosts" },
  { name: "web:write", what: "change rules about hosts, answer for blocked requests" },
  { name: "admin", what: "everything" },
];

export const LIVES = [
  { value: "86400", label: "one day" },
  { value: "604800", label: "7 days" },
  { value: "2592000", label: "30 days" },
  { value: "7776000", label: "90 days" },
  { value: "31536000", label: "one year" },
  { value: "", label: "until it is revoked" },
];
