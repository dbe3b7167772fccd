// The gateway's rules about hosts: what they are, whether an address would pass, and what passes in spite of them.

import { getRouteApi, Link } from "@tanstack/react-router";
import { tab as tabOf, Tabs } from "../parts/tabs";
import { RulesTab } from "./rules";
import { TesterTab } from "./tester";
import { WaiversTab } from "./waivers";

const route = getRouteApi("/web-rules");

export function WebRulesPage() {
  const { tab } = route.useSearch();
  const tabs = (
    <Tabs label="Views of web rules">
      <Link to="/web-rules" search={{}} {...tabOf(tab === undefined)}>
        Rules
      </Link>
      <Link to="/web-rules" search={{ tab: "test" }} {...tabOf(tab === "test")}>
        Would it pass?
      </Link>
      <Link to="/web-rules" search={{ tab: "waivers" }} {...tabOf(tab === "waivers")}>
        Waivers
      </Link>
    </Tabs>
  );
  if (tab === "test") return <TesterTab tabs={tabs} />;
  if (tab === "waivers") return <WaiversTab tabs={tabs} />;
  return <RulesTab tabs={tabs} />;
}
