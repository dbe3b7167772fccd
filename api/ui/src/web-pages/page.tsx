// What is cached of the outside: the renderings of pages, and the words in them.

import { getRouteApi, Link } from "@tanstack/react-router";
import { tab as tabOf, Tabs } from "../parts/tabs";
import { CachedTab } from "./cached";
import { SearchTab } from "./search";

const route = getRouteApi("/pages");

export function WebPagesPage() {
  const { tab } = route.useSearch();
  const tabs = (
    <Tabs label="Views of pages">
      <Link to="/pages" search={{}} {...tabOf(tab === undefined)}>
        Cached
      </Link>
      <Link to="/pages" search={{ tab: "search" }} {...tabOf(tab === "search")}>
        Search in them
      </Link>
    </Tabs>
  );
  return tab === "search" ? <SearchTab tabs={tabs} /> : <CachedTab tabs={tabs} />;
}
