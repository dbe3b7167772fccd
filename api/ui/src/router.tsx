// The pages and what their addresses may say. Routes are one segment deep: the build is relative, see `root.ts`.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { BLOCK_FILTERS, type BlockFilter } from "./api/blocks";
import { WAIVER_STATES } from "./api/waivers";
import { ACTIONS, METHODS } from "./api/web-rules";
import { REQUEST_FILTERS, REQUEST_STATES, type RequestFilter } from "./api/web-requests";
import { ROOT } from "./root";
import { Broken } from "./shell/broken";
import { Layout } from "./shell/layout";
import { NotFound } from "./shell/not-found";
import { parseSearch, readTailSearch, stringifySearch } from "./tail/address";
import { TailPage } from "./tail/page";

const rootRoute = createRootRoute({ component: Layout, notFoundComponent: NotFound, errorComponent: Broken });

const tailRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: readTailSearch,
  component: TailPage,
});

export interface ProjectionsSearch {
  /** The projection whose details and dead letters are shown. */
  open?: string;
}

const projectionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/projections",
  validateSearch: (search: Record<string, unknown>): ProjectionsSearch =>
    typeof search["open"] === "string" && search["open"] !== "" ? { open: search["open"] } : {},
  component: lazyRouteComponent(() => import("./projections/page"), "ProjectionsPage"),
});

export interface DashboardSearch {
  range?: string | undefined;
  ecosystem?: string | undefined;
}

const dashboardRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/dashboard",
  validateSearch: (search: Record<string, unknown>): DashboardSearch => ({
    ...word(search, "range", ["7d", "30d", "90d"]),
    ...word(search, "ecosystem"),
  }),
  component: lazyRouteComponent(() => import("./dashboard/page"), "DashboardPage"),
});

const blocksRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/blocks",
  validateSearch: (search: Record<string, unknown>): BlockFilter =>
    Object.assign({}, ...BLOCK_FILTERS.map((name) => word(search, name))) as BlockFilter,
  component: lazyRouteComponent(() => import("./blocks/page"), "BlocksPage"),
});

export interface RulesSearch {
  ecosystem?: string | undefined;
  /** What is looked for. */
  find?: string | undefined;
}

const rulesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/rules",
  validateSearch: (search: Record<string, unknown>): RulesSearch => ({
    ...word(search, "ecosystem"),
    ...word(search, "find"),
  }),
  component: lazyRouteComponent(() => import("./rules/page"), "RulesPage"),
});

export interface WaiversSearch {
  state?: string | undefined;
}

const waiversRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/waivers",
  validateSearch: (search: Record<string, unknown>): WaiversSearch => word(search, "state", WAIVER_STATES),
  component: lazyRouteComponent(() => import("./waivers/page"), "WaiversPage"),
});

const holdsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/holds",
  component: lazyRouteComponent(() => import("./holds/page"), "HoldsPage"),
});

const profilesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/profiles",
  component: lazyRouteComponent(() => import("./profiles/page"), "ProfilesPage"),
});

export interface TokensSearch {
  show?: string | undefined;
}

const tokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/tokens",
  validateSearch: (search: Record<string, unknown>): TokensSearch => word(search, "show", ["all"]),
  component: lazyRouteComponent(() => import("./tokens/page"), "TokensPage"),
});

export interface SourcesSearch {
  /** The source whose visits are shown. */
  open?: string | undefined;
}

const sourcesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sources",
  validateSearch: (search: Record<string, unknown>): SourcesSearch => word(search, "open"),
  component: lazyRouteComponent(() => import("./sources/page"), "SourcesPage"),
});

const cacheRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/cache",
  component: lazyRouteComponent(() => import("./cache/page"), "CachePage"),
});

export interface ImpactSearch {
  /** The advisory or the rule that is asked about. */
  name?: string | undefined;
}

const impactRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/impact",
  validateSearch: (search: Record<string, unknown>): ImpactSearch => word(search, "name"),
  component: lazyRouteComponent(() => import("./impact/page"), "ImpactPage"),
});

const whatIfRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/what-if",
  component: lazyRouteComponent(() => import("./what-if/page"), "WhatIfPage"),
});

export interface ConnectSearch {
  token?: string | undefined;
}

const connectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/connect",
  validateSearch: (search: Record<string, unknown>): ConnectSearch => word(search, "token", ["yes"]),
  component: lazyRouteComponent(() => import("./connect/page"), "ConnectPage"),
});

export const WEB_RULES_TABS = ["test", "waivers"] as const;

export interface WebRulesSearch {
  /** The rules, where none is named. */
  tab?: string | undefined;
  search?: string | undefined;
  action?: string | undefined;
  category?: string | undefined;
  /** What is tested. */
  url?: string | undefined;
  agent?: string | undefined;
  method?: string | undefined;
}

const webRulesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/web-rules",
  validateSearch: (search: Record<string, unknown>): WebRulesSearch => ({
    ...word(search, "tab", WEB_RULES_TABS),
    ...word(search, "search"),
    ...word(search, "action", ACTIONS),
    ...word(search, "category"),
    ...word(search, "url"),
    ...word(search, "agent"),
    ...word(search, "method", METHODS),
  }),
  component: lazyRouteComponent(() => import("./web-rules/page"), "WebRulesPage"),
});

export interface PagesSearch {
  /** What is cached, where it is not named. */
  tab?: string | undefined;
  host?: string | undefined;
  url?: string | undefined;
  owner?: string | undefined;
  shared?: string | undefined;
  /** The words that are looked for. */
  words?: string | undefined;
}

const pagesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/pages",
  validateSearch: (search: Record<string, unknown>): PagesSearch => ({
    ...word(search, "tab", ["search"]),
    ...word(search, "host"),
    ...word(search, "url"),
    ...word(search, "owner"),
    ...word(search, "shared", ["true", "false"]),
    ...word(search, "words"),
  }),
  component: lazyRouteComponent(() => import("./web-pages/page"), "WebPagesPage"),
});

export interface ReportsSearch {
  /** The cycle that is shown in full; the present one, where none is named. */
  cycle?: string | undefined;
}

const reportsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reports",
  validateSearch: (search: Record<string, unknown>): ReportsSearch =>
    /^\d{1,15}$/.test(String(search["cycle"] ?? "")) ? word(search, "cycle") : {},
  component: lazyRouteComponent(() => import("./web-reports/page"), "ReportsPage"),
});

const filterRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/filter",
  component: lazyRouteComponent(() => import("./web-filter/page"), "FilterPage"),
});

export interface RequestsSearch extends RequestFilter {
  /** The list stands still. */
  paused?: string | undefined;
  /** The request that is shown in full, and whose it is. */
  open?: string | undefined;
  of?: string | undefined;
}

const requestsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/requests",
  validateSearch: (search: Record<string, unknown>): RequestsSearch => ({
    ...(Object.assign({}, ...REQUEST_FILTERS.map((name) => word(search, name))) as RequestFilter),
    ...word(search, "state", REQUEST_STATES),
    ...word(search, "cached", ["true", "false"]),
    ...word(search, "paused", ["yes"]),
    ...word(search, "open"),
    ...word(search, "of"),
  }),
  component: lazyRouteComponent(() => import("./requests/page"), "RequestsPage"),
});

export interface AgentsSearch {
  /** The agent that is shown in full. */
  open?: string | undefined;
}

const agentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/agents",
  validateSearch: (search: Record<string, unknown>): AgentsSearch => word(search, "open"),
  component: lazyRouteComponent(() => import("./agents/page"), "AgentsPage"),
});

const approvalsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./approvals/page"), "ApprovalsPage"),
});

const webRoutes = [requestsRoute, agentsRoute, approvalsRoute, webRulesRoute, pagesRoute, reportsRoute, filterRoute] as const;

export const router = createRouter({
  routeTree: rootRoute.addChildren([tailRoute, dashboardRoute, blocksRoute, rulesRoute, waiversRoute, holdsRoute, whatIfRoute, impactRoute, sourcesRoute, cacheRoute, tokensRoute, profilesRoute, connectRoute, projectionsRoute, ...webRoutes]),
  basepath: ROOT,
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Broken,
  defaultNotFoundComponent: NotFound,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

/** A word of the search, where it has one, and one of those that are known; otherwise none, also not the one that came. */
function word<K extends string>(
  search: Record<string, unknown>,
  key: K,
  known?: readonly string[],
): { [P in K]?: string | undefined } {
  const value = search[key];
  const good = typeof value === "string" && value !== "" && (known === undefined || known.includes(value));
  return { [key]: good ? value : undefined } as { [P in K]?: string | undefined };
}
