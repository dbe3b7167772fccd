// The operator's rules: what is forbidden, why, and since when.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { getRules, removeRule, type Rule } from "../api/rules";
import { may } from "../api/session";
import { Ago } from "../parts/ago";
import { Button } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { ANY_ECOSYSTEM, Select } from "../parts/field";
import { plural } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { RuleDialog } from "./rule-dialog";

const route = getRouteApi("/rules");
// A table of all ten thousand would be slow to draw; who has so many searches them.
const DRAWN = 500;

export function RulesPage() {
  const { ecosystem = "", find = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const session = useSession();
  const mayChange = may(session, "rules:write");
  const [editing, setEditing] = useState<Rule | "new">();
  const [removing, setRemoving] = useState<Rule>();
  const query = useQuery({
    queryKey: ["rules"],
    queryFn: ({ signal }) => getRules(signal),
    enabled: may(session, "rules:read"),
  });
  const show = (wanted: { ecosystem?: string; find?: string }) =>
    void navigate({ search: { ecosystem, find, ...wanted }, replace: true });
  return (
    <Page
      title="Rules"
      about={query.data && `${plural(query.data.length, "rule")} in force`}
      scope="rules:read"
      query={query}
      tools={
        <>
          <Select label="Ecosystem" value={ecosystem} choices={ANY_ECOSYSTEM} onChoose={(ecosystem) => show({ ecosystem })} />
          <input
            type="search"
            aria-label="Find a rule"
            placeholder="package, reason, who, id"
            value={find}
            onChange={({ target }) => show({ find: target.value })}
            spellCheck={false}
            className="h-8 w-52 rounded border border-line-strong bg-paper px-2 placeholder:text-soft"
          />
          <Button
            look="primary"
            className="h-8"
            disabled={!mayChange}
            title={mayChange ? undefined : "Your token lacks the scope rules:write"}
            onClick={() => setEditing("new")}
          >
            <Plus aria-hidden size={14} /> New rule
          </Button>
        </>
      }
    >
      {(all) => {
        const rules = all.filter((rule) => matches(rule, ecosystem, find));
        return (
          <>
            {all.length === 0 ? (
              <Nothing title="Nothing is forbidden by a rule">
                A rule names a package, the versions of it that nobody is to use, and the reason that a person is told.
              </Nothing>
            ) : rules.length === 0 ? (
              <Nothing title="Nothing matches" testid="no-match">
                None of {plural(all.length, "rule")} is like that.
              </Nothing>
            ) : (
              <Rules rules={rules.slice(0, DRAWN)} mayChange={mayChange} onChange={setEditing} onRemove={setRemoving} />
            )}
            {rules.length > DRAWN && (
              <p className="p-4 text-soft">
                The first {DRAWN} of {plural(rules.length, "rule")}; say more in the search to see others.
              </p>
            )}
            {editing && (
              <RuleDialog rule={editing === "new" ? undefined : editing} onClose={() => setEditing(undefined)} />
            )}
            {removing && (
              <Confirm
                title="Remove the rule?"
                verb="Remove"
                act={() => removeRule(removing.id)}
                onDone={() => {
                  toast("The rule is in force no more");
                  void client.invalidateQueries({ queryKey: ["rules"] });
                }}
                onClose={() => setRemoving(undefined)}
              >
                <code>
                  {removing.package} {removing.versions}
                </code>{" "}
                of {removing.ecosystem} passes again, unless something else forbids it. Who removed it, and when, stays
                in the log.
              </Confirm>
            )}
          </>
        );
      }}
    </Page>
  );
}

function matches(rule: Rule, ecosystem: string, find: string): boolean {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${rule.package} ${rule.versions} ${rule.reason} ${rule.changedBy} ${rule.id}`.toLowerCase();
  return (ecosystem === "" || rule.ecosystem === ecosystem) && words.every((word) => text.includes(word));
}

interface RulesProps {
  rules: readonly Rule[];
  mayChange: boolean;
  onChange: (rule: Rule) => void;
  onRemove: (rule: Rule) => void;
}

function Rules({ rules, mayChange, onChange, onRemove }: RulesProps) {
  const lacking = mayChange ? undefined : "Your token lacks the scope rules:write";
  return (
    <table data-testid="rules" className="w-full min-w-[58rem] border-collapse text-left">
      <thead className={HEAD}>
        <tr>
          {["package", "versions", "mask", "reason", "changed"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
          <th scope="col">
            <span className="sr-only">actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rules.map((rule) => (
          <tr key={rule.id} data-rule={rule.package} className={ROW}>
            <td className="max-w-60 truncate">
              <span className="font-mono font-medium">{rule.package}</span>{" "}
              <span className="text-xs text-soft">{rule.ecosystem}</span>
            </td>
            <td className="max-w-48 truncate font-mono">{rule.versions}</td>
            <td>
              <Badge tone={rule.mask === "hide" ? "warn" : "soft"}>{rule.mask}</Badge>
            </td>
            <td className="max-w-sm py-1">{rule.reason}</td>
            <td className="whitespace-nowrap text-soft">
              <Ago at={rule.changedAt} /> by {rule.changedBy}
            </td>
            <td className="text-right whitespace-nowrap">
              <Link
                to="/blocks"
                search={{ rule: rule.id }}
                className="mr-3 text-xs text-accent underline"
                aria-label={`Blocks by the rule on ${rule.package}`}
              >
                blocks
              </Link>
              <Button
                disabled={!mayChange}
                title={lacking}
                onClick={() => onChange(rule)}
                aria-label={`Change the rule on ${rule.package}`}
              >
                Change
              </Button>{" "}
              <Button
                disabled={!mayChange}
                title={lacking}
                onClick={() => onRemove(rule)}
                aria-label={`Remove the rule on ${rule.package}`}
              >
                Remove
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
