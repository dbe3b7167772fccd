import { getRouteApi, Link } from "@tanstack/react-router";
import { Upload } from "lucide-react";
import type { ReactNode } from "react";
import { ACTIONS, getWebRules, removeWebRule, type WebRule, type WebRuleFilter } from "../api/web-rules";
import { Ago } from "../parts/ago";
import { useLook, usePages } from "../parts/asking";
import { Button, NewButton } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { useDialogs } from "../parts/dialogs";
import { Box, Select } from "../parts/field";
import { Filters, narrows } from "../parts/filters";
import { ListPage } from "../parts/list";
import { Badge, NoMatch, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useLacking } from "../session/context";
import { ImportDialog } from "./import-dialog";
import { RuleDialog } from "./rule-dialog";

const route = getRouteApi("/web-rules");
const EVERY = 5_000;
const ANY_ACTION = [{ value: "", label: "allow and block" }, ...ACTIONS.map((value) => ({ value, label: value }))];
const HEADS = ["pattern", "action", "category", "reason", "source", "changed"];

export function RulesTab({ tabs }: { tabs: ReactNode }) {
  const { search = "", action = "", category = "" } = route.useSearch();
  const filter = { search, action, category };
  const navigate = route.useNavigate();
  const lacking = useLacking("web:write");
  const dialogs = useDialogs(useLook("web-rules"), {
    import: (ends) => <ImportDialog {...ends} />,
    add: (ends) => <RuleDialog {...ends} />,
    change: (ends, rule: WebRule) => <RuleDialog rule={rule} {...ends} />,
    remove: (ends, { pattern }: WebRule) => (
      <Confirm
        title="Remove the rule?"
        verb="Remove"
        act={() => removeWebRule(pattern)}
        said="The rule is in force no more"
        {...ends}
      >
        <code>{pattern}</code> says nothing any more: its hosts follow the other rules, or the default, which is to block.
        Who removed it, and when, stays in the log.
      </Confirm>
    ),
  });
  const query = usePages({
    key: ["web-rules", filter],
    scope: "web:read",
    read: (cursor, signal) => getWebRules(filter, cursor, signal),
    every: EVERY,
  });
  const show = (wanted: WebRuleFilter) => void navigate({ search: { ...filter, ...wanted } });
  return (
    <ListPage
      title="Web rules"
      about="Which hosts agents reach; a Block beats an Allow"
      scope="web:read"
      query={query}
      rows={({ pages }) => [...(pages[0]?.derived ?? []), ...pages.flatMap(({ rules }) => rules)]}
      one="rule"
      more="Show more"
      tabs={tabs}
      tools={
        <>
          <Filters filter={filter} onShow={show} onClear={() => void navigate({ search: {} })}>
            <Select label="Action" value={action} choices={ANY_ACTION} onChoose={(action) => show({ action })} />
            <Box name="search" label="Find a pattern" placeholder="pattern" defaultValue={search} className="w-44 text-xs" />
            <Box name="category" label="Category" placeholder="category" defaultValue={category} className="w-32 text-xs" />
          </Filters>
          <Button className="h-8" lacking={lacking} onClick={() => dialogs.open("import")}>
            <Upload aria-hidden size={13} /> Import
          </Button>
          <NewButton lacking={lacking} onClick={() => dialogs.open("add")}>
            New rule
          </NewButton>
        </>
      }
      nothing={
        narrows(filter) ? (
          <NoMatch>Patterns are looked for by any part of them; a category must be equal.</NoMatch>
        ) : (
          <Nothing title="No rule says anything">
            What no rule names follows <code>web.default_action</code>, which is to block. Add a rule that allows the first
            host agents are to read.
          </Nothing>
        )
      }
      dialogs={dialogs.shown}
    >
      {(rules) => (
        <Table testid="web-rules" className="min-w-[60rem]" heads={HEADS} actions>
          {rules.map((rule) => (
            <Row
              key={`${rule.source} ${rule.pattern}`}
              rule={rule}
              lacking={lacking}
              onChange={() => dialogs.open("change", rule)}
              onRemove={() => dialogs.open("remove", rule)}
            />
          ))}
        </Table>
      )}
    </ListPage>
  );
}

const SOURCE = {
  default: "Weir brings it along",
  operator: "an operator keeps it",
  derived: "packages come from there: it follows from the registries that this Weir is set up with, and no rule beats it",
};

/** A pattern that is one host, which can be tried. */
const NAME = /^[a-z0-9.-]+$/;

interface RowProps {
  rule: WebRule;
  lacking: string | undefined;
  onChange: () => void;
  onRemove: () => void;
}

function Row({ rule, lacking, onChange, onRemove }: RowProps) {
  const { pattern, action, category, reason, source, changed } = rule;
  return (
    <tr data-rule={pattern} className={ROW}>
      <td className="max-w-72 font-mono font-medium break-all">
        {NAME.test(pattern) ? (
          <Link
            to="/web-rules"
            search={{ tab: "test", url: `https://${pattern}/` }}
            title="Would it pass?"
            className="hover:text-accent hover:underline"
          >
            {pattern}
          </Link>
        ) : (
          pattern
        )}
      </td>
      <td>
        <Badge tone={action === "allow" ? "good" : "bad"}>{action}</Badge>
      </td>
      <td className="font-mono text-xs">{category}</td>
      <td className="max-w-sm py-1">{reason}</td>
      <td>
        <span title={SOURCE[source]}>
          <Badge tone={source === "derived" ? "warn" : "soft"}>{source}</Badge>
        </span>
      </td>
      <td className="whitespace-nowrap text-soft">
        {changed ? (
          <>
            <Ago at={changed.at} /> by {changed.by}
          </>
        ) : (
          "by the configuration"
        )}
      </td>
      <td className="text-right whitespace-nowrap">
        {changed && (
          <>
            <Button lacking={lacking} onClick={onChange} aria-label={`Change the rule on ${pattern}`}>
              Change
            </Button>{" "}
            <Button lacking={lacking} onClick={onRemove} aria-label={`Remove the rule on ${pattern}`}>
              Remove
            </Button>
          </>
        )}
      </td>
    </tr>
  );
}
