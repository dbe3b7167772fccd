// The block log: what was refused, to whom, why, and what stands behind it.

import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Search, X } from "lucide-react";
import { useRef, type FormEvent } from "react";
import { BLOCK_FILTERS, getBlocks, type Block, type BlockFilter } from "../api/blocks";
import { may } from "../api/session";
import { Button } from "../parts/button";
import { ANY_ECOSYSTEM, Select } from "../parts/field";
import { clock, day, plural } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { useKeys } from "../shell/keys";

const route = getRouteApi("/blocks");
const EVERY = 5_000;
const WORDS = BLOCK_FILTERS.filter((name) => name !== "ecosystem");
const SEVERE: Record<string, "bad" | "warn"> = { critical: "bad", high: "bad", medium: "warn" };

export function BlocksPage() {
  const search = route.useSearch();
  const filter = Object.fromEntries(BLOCK_FILTERS.map((name) => [name, search[name] ?? ""])) as BlockFilter;
  const navigate = route.useNavigate();
  const query = useInfiniteQuery({
    queryKey: ["blocks", filter],
    queryFn: ({ pageParam, signal }) => getBlocks(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    enabled: may(useSession(), "rules:read"),
    // Who has paged back is reading: nothing moves under the eyes.
    refetchInterval: ({ state }) => (state.error || (state.data?.pages.length ?? 0) > 1 ? false : EVERY),
  });
  const show = (wanted: BlockFilter) => void navigate({ search: { ...filter, ...wanted } });
  const filtered = BLOCK_FILTERS.some((name) => filter[name]);
  return (
    <Page
      title="Block log"
      about="Refused downloads, newest first"
      scope="rules:read"
      query={query}
      tools={
        <Filters
          key={JSON.stringify(filter)}
          filter={filter}
          onShow={show}
          onClear={filtered ? () => void navigate({ search: {} }) : undefined}
        />
      }
    >
      {({ pages }) => {
        const blocks = pages.flatMap(({ blocks }) => blocks);
        if (blocks.length === 0)
          return filtered ? (
            <Nothing title="Nothing matches" testid="no-match">
              Package names are looked for in any spelling; everything else must be equal to what stands in the log.
            </Nothing>
          ) : (
            <Nothing title="Nothing was blocked yet">
              A download that a rule, an advisory or a minimum age forbids is refused with its reason, and stands here.
            </Nothing>
          );
        return (
          <>
            <Blocks blocks={blocks} />
            <p className="flex items-center gap-3 p-4 text-xs text-soft">
              {plural(blocks.length, "block")} shown{query.hasNextPage ? "" : ", and there are no older ones"}
              {query.hasNextPage && (
                <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
                  {query.isFetchingNextPage ? "Loading…" : "Show older"}
                </Button>
              )}
            </p>
          </>
        );
      }}
    </Page>
  );
}

function Filters({
  filter,
  onShow,
  onClear,
}: {
  filter: BlockFilter;
  onShow: (wanted: BlockFilter) => void;
  onClear: (() => void) | undefined;
}) {
  const first = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => first.current?.focus() });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onShow(Object.fromEntries(WORDS.map((name) => [name, String(form.get(name) ?? "").trim()])));
  };
  return (
    <form role="search" onSubmit={submit} className="flex flex-wrap items-center gap-2">
      <Select
        label="Ecosystem"
        value={filter.ecosystem ?? ""}
        choices={ANY_ECOSYSTEM}
        onChoose={(ecosystem) => onShow({ ecosystem })}
      />
      {WORDS.map((name, index) => (
        <input
          key={name}
          ref={index === 0 ? first : undefined}
          name={name}
          aria-label={`Filter by ${name}`}
          placeholder={name}
          defaultValue={filter[name]}
          spellCheck={false}
          autoComplete="off"
          className="numbers h-8 w-26 rounded border border-line-strong bg-paper px-2 text-xs placeholder:text-soft"
        />
      ))}
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

function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return (
    <table data-testid="blocks" className="w-full min-w-[62rem] border-collapse text-left">
      <thead className={HEAD}>
        <tr>
          {["event", "when", "package", "version", "why", "behind it", "mask", "asked by"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {blocks.map((block) => (
          <tr key={String(block.position)} data-block={String(block.position)} className={ROW}>
            <td>
              <Link
                to="/"
                search={{ at: String(block.position) }}
                className="numbers text-accent underline"
                aria-label={`Event ${block.position} in the tail`}
              >
                {String(block.position)}
              </Link>
            </td>
            <td className="whitespace-nowrap">
              <time dateTime={block.at} className="numbers text-xs">
                <span className="text-soft">{day(block.at)}</span> {clock(block.at).slice(0, 8)}
              </time>
            </td>
            <td className="max-w-60 truncate" title={block.file}>
              <Link to="/blocks" search={{ ecosystem: block.ecosystem, package: block.package }} className="font-mono hover:underline">
                {block.package}
              </Link>{" "}
              <span className="text-xs text-soft">{block.ecosystem}</span>
            </td>
            <td className="max-w-32 truncate font-mono">{block.version ?? <span className="text-soft">any</span>}</td>
            <td className="max-w-md py-1 whitespace-normal">{block.reason}</td>
            <td className="max-w-56">
              <Behind block={block} />
            </td>
            <td>
              <Badge>{block.mask}</Badge>
            </td>
            <td className="max-w-40 truncate">
              <Link to="/blocks" search={{ principal: block.principal }} className="hover:underline">
                {block.principal}
              </Link>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The advisory, the rule or the source that said no. */
function Behind({ block: { advisory, ruleId, source } }: { block: Block }) {
  if (advisory)
    return (
      <span className="block py-1">
        <Link to="/blocks" search={{ advisory: advisory.id }} className="font-mono text-xs text-accent underline">
          {advisory.id}
        </Link>{" "}
        <Badge tone={SEVERE[advisory.severity] ?? "soft"}>{advisory.severity}</Badge>{" "}
        <ToImpact name={advisory.id} />
        <span className="block text-xs text-soft">
          {advisory.hit}
          {advisory.fixedBy && `; fixed in ${advisory.fixedBy}`} ({source})
        </span>
      </span>
    );
  if (ruleId)
    return (
      <>
        <Link
          to="/rules"
          search={{ find: ruleId }}
          className="font-mono text-xs text-accent underline"
          title={`Rule ${ruleId}`}
        >
          rule …{ruleId.slice(-8)}
        </Link>{" "}
        <ToImpact name={ruleId} />
      </>
    );
  return <span className="text-soft">{source}</span>;
}

/** Who has what it is about: it was let through before somebody said no. */
function ToImpact({ name }: { name: string }) {
  return (
    <Link to="/impact" search={{ name }} className="text-xs text-accent underline" aria-label={`Impact of ${name}`}>
      impact
    </Link>
  );
}
