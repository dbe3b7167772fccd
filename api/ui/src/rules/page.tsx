// The operator's rules: what is forbidden, why, and since when.

import { getRouteApi, Link } from "@tanstack/react-router";
import { getRules, removeRule, type Rule } from "../api/rules";
import { Ago } from "../parts/ago";
import { useAnswer, useLook } from "../parts/asking";
import { Button, NewButton } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { useDialogs } from "../parts/dialogs";
import { ANY_ECOSYSTEM, Box, Select } from "../parts/field";
import { plural } from "../parts/format";
import { ListPage } from "../parts/list";
import { Badge, NoMatch, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useLacking } from "../session/context";
import { RuleDialog } from "./rule-dialog";

const route = getRouteApi("/rules");
const HEADS = ["package", "versions", "mask", "reason", "changed"];
// A table of all ten thousand would be slow to draw; who has so many searches them.
const DRAWN = 500;

export function RulesPage() {
  const { ecosystem = "", find = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const lacking = useLacking("rules:write");
  const dialogs = useDialogs(useLook("rules"), {
    add: (ends) => <RuleDialog {...ends} />,
    change: (ends, rule: Rule) => <RuleDialog rule={rule} {...ends} />,
    remove: (ends, { id, ecosystem, package: name, versions }: Rule) => (
      <Confirm
        title="Remove the rule?"
        verb="Remove"
        act={() => removeRule(id)}
        said="The rule is in force no more"
        {...ends}
      >
        <code>
          {name} {versions}
        </code>{" "}
        of {ecosystem} passes again, unless something else forbids it. Who removed it, and when, stays in the log.
      </Confirm>
    ),
  });
  const query = useAnswer({ key: ["rules"], scope: "rules:read", read: getRules });
  const inForce = plural(query.data?.length ?? 0, "rule");
  const show = (wanted: { ecosystem?: string; find?: string }) =>
    void navigate({ search: { ecosystem, find, ...wanted }, replace: true });
  return (
    <ListPage
      title="Rules"
      about={query.data && `${inForce} in force`}
      scope="rules:read"
      query={query}
      rows={(all) => all.filter((rule) => matches(rule, ecosystem, find))}
      tools={
        <>
          <Select label="Ecosystem" value={ecosystem} choices={ANY_ECOSYSTEM} onChoose={(ecosystem) => show({ ecosystem })} />
          <Box
            type="search"
            label="Find a rule"
            placeholder="package, reason, who, id"
            value={find}
            onChange={({ target }) => show({ find: target.value })}
            className="w-52"
          />
          <NewButton lacking={lacking} onClick={() => dialogs.open("add")}>
            New rule
          </NewButton>
        </>
      }
      nothing={
        query.data?.length === 0 ? (
          <Nothing title="Nothing is forbidden by a rule">
            A rule names a package, the versions of it that nobody is to use, and the reason that a person is told.
          </Nothing>
        ) : (
          <NoMatch>None of {inForce} is like that.</NoMatch>
        )
      }
      dialogs={dialogs.shown}
    >
      {(rules) => (
        <>
          <Table testid="rules" className="min-w-[58rem]" heads={HEADS} actions>
            {rules.slice(0, DRAWN).map((rule) => (
              <Row
                key={rule.id}
                rule={rule}
                lacking={lacking}
                onChange={() => dialogs.open("change", rule)}
                onRemove={() => dialogs.open("remove", rule)}
              />
            ))}
          </Table>
          {rules.length > DRAWN && (
            <p className="p-4 text-soft">
              The first {DRAWN} of {plural(rules.length, "rule")}; say more in the search to see others.
            </p>
          )}
        </>
      )}
    </ListPage>
  );
}

function matches(rule: Rule, ecosystem: string, find: string): boolean {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${rule.package} ${rule.versions} ${rule.reason} ${rule.changedBy} ${rule.id}`.toLowerCase();
  return (ecosystem === "" || rule.ecosystem === ecosystem) && words.every((word) => text.includes(word));
}

interface RowProps {
  rule: Rule;
  lacking: string | undefined;
  onChange: () => void;
  onRemove: () => void;
}

function Row({ rule, lacking, onChange, onRemove }: RowProps) {
  return (
    <tr data-rule={rule.package} className={ROW}>
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
        <Button lacking={lacking} onClick={onChange} aria-label={`Change the rule on ${rule.package}`}>
          Change
        </Button>{" "}
        <Button lacking={lacking} onClick={onRemove} aria-label={`Remove the rule on ${rule.package}`}>
          Remove
        </Button>
      </td>
    </tr>
  );
}
