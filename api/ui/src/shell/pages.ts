// The pages, in the order of the header: one list for header, keys, palette and help.

/** Those that stand in the header by themselves. */
export const PAGES = [
  { to: "/", label: "Live tail", key: "t" },
  { to: "/dashboard", label: "Dashboard", key: "d" },
  { to: "/blocks", label: "Block log", key: "b" },
  { to: "/rules", label: "Rules", key: "r" },
  { to: "/waivers", label: "Waivers", key: "v" },
  { to: "/holds", label: "Holds", key: "h" },
  { to: "/what-if", label: "What if", key: "w" },
  { to: "/impact", label: "Impact", key: "i" },
  { to: "/sources", label: "Sources", key: "s" },
  { to: "/cache", label: "Cache", key: "c" },
  { to: "/tokens", label: "Tokens", key: "k" },
  { to: "/profiles", label: "Profiles", key: "f" },
  { to: "/connect", label: "Connect", key: "o" },
  { to: "/projections", label: "Projections", key: "p" },
  { to: "/requests", label: "Requests", key: "q", group: "Web" },
  { to: "/agents", label: "Agents & quotas", key: "a", group: "Web" },
  { to: "/approvals", label: "Approvals", key: "y", group: "Web" },
  { to: "/web-rules", label: "Web rules", key: "u", group: "Web" },
  { to: "/pages", label: "Pages", key: "e", group: "Web" },
  { to: "/reports", label: "Reports", key: "n", group: "Web" },
  { to: "/filter", label: "Filter preview", key: "l", group: "Web" },
] as const;

export type AnyPage = (typeof PAGES)[number];

/** Pages that stand behind one tab; the others have a tab each. */
export const GROUPS: readonly string[] = ["Web"];

export function groupOf(page: AnyPage): string | undefined {
  return "group" in page ? page.group : undefined;
}
