// The pages, in the order of the header: one list for header, keys, palette and help.

/** Those that stand in the header by themselves. */
export const SINGLE_PAGES = [
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
] as const;

/** Those of the web gateway, which share one place in the header. */
export const WEB_PAGES = [
  { to: "/web-rules", label: "Web rules", key: "u" },
  { to: "/pages", label: "Pages", key: "e" },
  { to: "/reports", label: "Reports", key: "n" },
  { to: "/filter", label: "Filter preview", key: "l" },
] as const;

export const PAGES = [...SINGLE_PAGES, ...WEB_PAGES] as const;
