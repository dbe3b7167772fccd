import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Search, Upload, X } from "lucide-react";
import { useRef, useState, type FormEvent, type ReactNode } from "react";
import { toast } from "sonner";
import { may } from "../api/session";
import { ACTIONS, getWebRules, removeWebRule, type WebRule, type WebRuleFilter } from "../api/web-rules";
import { Ago } from "../parts/ago";
import { Button } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { Select } from "../parts/field";
import { plural } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { useKeys } from "../shell/keys";
import { ImportDialog } from "./import-dialog";
import { RuleDialog } from "./rule-dialog";

const route = getRouteApi("/web-rules");
const EVERY = 5_000;
const ANY_ACTION = [{ value: "", label: "allow and block" }, ...ACTIONS.map((value) => ({ value, label: value }))];
export const LACKING = "Your token lacks the scope web:write";

export function RulesTab({ tabs }: { tabs: ReactNode }) {
  const { search = "", action = "", category = "" } = route.useSearch();
  const filter: WebRuleFilter = { search, action, category };
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const session = useSession();
  const lacking = may(session, "web:write") ? undefined : LACKING;
  const [editing, setEditing] = useState<WebRule | "new">();
  const [removing, setRemoving] = useState<WebRule>();
  const [importing, setImporting] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ["web-rules", filter],
    queryFn: ({ pageParam, signal }) => getWebRules(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    enabled: may(session, "web:read"),
    // Who has paged back is reading: nothing moves under the eyes.
    refetchInterval: ({ state }) => (state.error || (state.data?.pages.length ?? 0) > 1 ? false : EVERY),
  });
  const look = () => void client.invalidateQueries({ queryKey: ["web-rules"] });
  const filtered = search !== "" || action !== "" || category !== "";
  return (
    <Page
      title="Web rules"
      about="Which hosts agents reach; a Block beats an Allow"
      scope="web:read"
      query={query}
      tabs={tabs}
      tools={
        <>
          <Filters
            key={JSON.stringify(filter)}
            filter={filter}
            onShow={(wanted) => void navigate({ search: { ...filter, ...wanted } })}
            onClear={filtered ? () => void navigate({ search: {} }) : undefined}
          />
          <Button className="h-8" disabled={lacking !== undefined} title={lacking} onClick={() => setImporting(true)}>
            <Upload aria-hidden size={13} /> Import
          </Button>
          <Button
            look="primary"
            className="h-8"
            disabled={lacking !== undefined}
            title={lacking}
            onClick={() => setEditing("new")}
          >
            <Plus aria-hidden size={14} /> New rule
          </Button>
        </>
      }
    >
      {({ pages }) => {
        const rules = [...(pages[0]?.derived ?? []), ...pages.flatMap(({ rules }) => rules)];
        return (
          <>
            {rules.length > 0 ? (
              <Rules rules={rules} lacking={lacking} onChange={setEditing} onRemove={setRemoving} />
            ) : filtered ? (
              <Nothing title="Nothing matches" testid="no-match">
                Patterns are looked for by any part of them; a category must be equal.
              </Nothing>
            ) : (
              <Nothing title="No rule says anything">
                What no rule names follows <code>web.default_action</code>, which is to block. Add a rule that allows the
                first host agents are to read.
              </Nothing>
            )}
            {query.hasNextPage && (
              <p className="flex items-center gap-3 p-4 text-xs text-soft">
                {plural(rules.length, "rule")} shown
                <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
                  {query.isFetchingNextPage ? "Loading…" : "Show more"}
                </Button>
              </p>
            )}
            {importing && <ImportDialog onDone={look} onClose={() => setImporting(false)} />}
            {editing && (
              <RuleDialog rule={editing === "new" ? undefined : editing} onDone={look} onClose={() => setEditing(undefined)} />
            )}
            {removing && (
              <Confirm
                title="Remove the rule?"
                verb="Remove"
                act={() => removeWebRule(removing.pattern)}
                onDone={() => {
                  toast("The rule is in force no more");
                  look();
                }}
                onClose={() => setRemoving(undefined)}
              >
                <code>{removing.pattern}</code> says nothing any more: its hosts follow the other rules, or the default, which
                is to block. Who removed it, and when, stays in the log.
              </Confirm>
            )}
          </>
        );
      }}
    </Page>
  );
}

interface FiltersProps {
  filter: WebRuleFilter;
  onShow: (wanted: WebRuleFilter) => void;
  onClear: (() => void) | undefined;
}

function Filters({ filter, onShow, onClear }: FiltersProps) {
  const first = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => first.current?.focus() });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const word = (name: string) => String(form.get(name) ?? "").trim();
    onShow({ search: word("search"), category: word("category") });
  };
  const look = "h-8 rounded border border-line-strong bg-paper px-2 text-xs placeholder:text-soft";
  return (
    <form role="search" onSubmit={submit} className="flex flex-wrap items-center gap-2">
      <Select label="Action" value={filter.action ?? ""} choices={ANY_ACTION} onChoose={(action) => onShow({ action })} />
      <input
        ref={first}
        name="search"
        aria-label="Find a pattern"
        placeholder="pattern"
        defaultValue={filter.search}
        spellCheck={false}
        autoComplete="off"
        className={`w-44 ${look}`}
      />
      <input
        name="category"
        aria-label="Category"
        placeholder="category"
        defaultValue={filter.category}
        spellCheck={false}
        autoComplete="off"
        className={`w-32 ${look}`}
      />
      <Button type="submit" className="h-8">
        <Search aria-hidden size={13} /> Search
      </Button>
      {onClear && (
        <Button look="quiet" className="h-8" onClick={onClear}>
          <X aria-hidden size={13} /> Clear
        </Button>
      )}
    </form>
  );
}

interface RulesProps {
  rules: readonly WebRule[];
  lacking: string | undefined;
  onChange: (rule: WebRule) => void;
  onRemove: (rule: WebRule) => void;
}

function Rules({ rules, lacking, onChange, onRemove }: RulesProps) {
  return (
    <table data-testid="web-rules" className="w-full min-w-[60rem] border-collapse text-left">
      <thead className={HEAD}>
        <tr>
          {["pattern", "action", "category", "reason", "source", "changed"].map((name) => (
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
          <Row key={`${rule.source} ${rule.pattern}`} rule={rule} lacking={lacking} onChange={onChange} onRemove={onRemove} />
        ))}
      </tbody>
    </table>
  );
}

const SOURCE = {
  default: "Weir brings it along",
  operator: "an operator keeps it",
  derived: "packages come from there: it follows from the registries that this Weir is set up with, and no rule beats it",
};

/** A pattern that is one host, which can be tried. */
const NAME = /^[a-z0-9.-]+$/;

function Row({ rule, lacking, onChange, onRemove }: Omit<RulesProps, "rules"> & { rule: WebRule }) {
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
            <Button
              disabled={lacking !== undefined}
              title={lacking}
              onClick={() => onChange(rule)}
              aria-label={`Change the rule on ${pattern}`}
            >
              Change
            </Button>{" "}
            <Button
              disabled={lacking !== undefined}
              title={lacking}
              onClick={() => onRemove(rule)}
              aria-label={`Remove the rule on ${pattern}`}
            >
              Remove
            </Button>
          </>
        )}
      </td>
    </tr>
  );
}
