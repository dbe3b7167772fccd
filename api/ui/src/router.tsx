// The pages and what their addresses may say. Routes are one segment deep: the build is relative, see `root.ts`.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { BLOCK_FILTERS, type BlockFilter } from "./api/blocks";
import { WAIVER_STATES } from "./api/waivers";
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

export const router = createRouter({
  routeTree: rootRoute.addChildren([tailRoute, dashboardRoute, blocksRoute, rulesRoute, waiversRoute, holdsRoute, whatIfRoute, impactRoute, sourcesRoute, cacheRoute, tokensRoute, profilesRoute, connectRoute, projectionsRoute]),
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
