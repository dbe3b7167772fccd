// The pages and what their addresses may say. Routes are one segment deep: the build is relative, see `root.ts`.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
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

export const router = createRouter({
  routeTree: rootRoute.addChildren([tailRoute, projectionsRoute]),
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
