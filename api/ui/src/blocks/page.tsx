// The block log: what was refused, to whom, why, and what stands behind it.

import { getRouteApi, Link } from "@tanstack/react-router";
import { BLOCK_FILTERS, getBlocks, type Block, type BlockFilter } from "../api/blocks";
import { usePages } from "../parts/asking";
import { Event } from "../parts/event";
import { ANY_ECOSYSTEM, Box, Select } from "../parts/field";
import { Filters, narrows } from "../parts/filters";
import { ListPage } from "../parts/list";
import { Moment } from "../parts/moment";
import { Badge, NoMatch, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";

const route = getRouteApi("/blocks");
const EVERY = 5_000;
const WORDS = BLOCK_FILTERS.filter((name) => name !== "ecosystem");
const HEADS = ["event", "when", "package", "version", "why", "behind it", "mask", "asked by"];
const SEVERE: Record<string, "bad" | "warn"> = { critical: "bad", high: "bad", medium: "warn" };

export function BlocksPage() {
  const search = route.useSearch();
  const filter = Object.fromEntries(BLOCK_FILTERS.map((name) => [name, search[name] ?? ""])) as BlockFilter;
  const navigate = route.useNavigate();
  const query = usePages({
    key: ["blocks", filter],
    scope: "rules:read",
    read: (cursor, signal) => getBlocks(filter, cursor, signal),
    every: EVERY,
  });
  const show = (wanted: BlockFilter) => void navigate({ search: { ...filter, ...wanted } });
  return (
    <ListPage
      title="Block log"
      about="Refused downloads, newest first"
      scope="rules:read"
      query={query}
      rows={({ pages }) => pages.flatMap(({ blocks }) => blocks)}
      one="block"
      end="and there are no older ones"
      tools={
        <Filters filter={filter} onShow={show} onClear={() => void navigate({ search: {} })}>
          <Select
            label="Ecosystem"
            value={filter.ecosystem ?? ""}
            choices={ANY_ECOSYSTEM}
            onChoose={(ecosystem) => show({ ecosystem })}
          />
          {WORDS.map((name) => (
            <Box
              key={name}
              name={name}
              label={`Filter by ${name}`}
              placeholder={name}
              defaultValue={filter[name]}
              className="numbers w-26 text-xs"
            />
          ))}
        </Filters>
      }
      nothing={
        narrows(filter) ? (
          <NoMatch>
            Package names are looked for in any spelling; everything else must be equal to what stands in the log.
          </NoMatch>
        ) : (
          <Nothing title="Nothing was blocked yet">
            A download that a rule, an advisory or a minimum age forbids is refused with its reason, and stands here.
          </Nothing>
        )
      }
    >
      {(blocks) => (
        <Table testid="blocks" className="min-w-[62rem]" heads={HEADS}>
          {blocks.map((block) => (
            <Row key={String(block.position)} block={block} />
          ))}
        </Table>
      )}
    </ListPage>
  );
}

function Row({ block }: { block: Block }) {
  return (
    <tr data-block={String(block.position)} className={ROW}>
      <td>
        <Event at={block.position} />
      </td>
      <td>
        <Moment at={block.at} />
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
