// What lies in the cache of this instance, how much it is used, and to have some of it forgotten.

import { Trash2 } from "lucide-react";
import { useState } from "react";
import { getCache, type Cache, type Kind, type Part } from "../api/cache";
import { may } from "../api/session";
import { Ago } from "../parts/ago";
import { useAnswer, useLook } from "../parts/asking";
import { Button } from "../parts/button";
import { Figure } from "../parts/figure";
import { bytes, grouped, share } from "../parts/format";
import { Nothing, Page } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useSession } from "../session/context";
import { PurgeDialog } from "./purge-dialog";

const EVERY = 5_000;
const NUMBERS = ["kept", "size", "hit rate", "hits", "misses"];

export function CachePage() {
  const session = useSession();
  const [purging, setPurging] = useState<{ ecosystem: string }>();
  const look = useLook("cache");
  const query = useAnswer({ key: ["cache"], scope: "rules:read", read: getCache, every: EVERY });
  const lacking = may(session, "admin") ? undefined : "Only a token with the scope admin may have something forgotten";
  const purge = (ecosystem: string) => setPurging({ ecosystem });
  return (
    <Page
      title="Cache"
      about="What this instance keeps, and how much it is used"
      scope="rules:read"
      query={query}
      tools={
        <Button lacking={lacking} onClick={() => purge("")}>
          <Trash2 aria-hidden size={13} /> Purge
        </Button>
      }
    >
      {(cache) => (
        <>
          <Body cache={cache} lacking={lacking} onPurge={purge} />
          {purging && (
            <PurgeDialog ecosystem={purging.ecosystem} onDone={look} onClose={() => setPurging(undefined)} />
          )}
        </>
      )}
    </Page>
  );
}

interface BodyProps {
  cache: Cache;
  lacking: string | undefined;
  onPurge: (ecosystem: string) => void;
}

function Body({ cache, lacking, onPurge }: BodyProps) {
  const { total, ecosystems } = cache;
  const { lru, expired, purged, broken } = total.evictions;
  return (
    <>
      <dl className="grid grid-cols-2 gap-px border-y border-line bg-line md:grid-cols-4">
        <Figure name="Used" value={share(cache.used)} what={`${bytes(total.files.bytes)} of ${bytes(cache.maxBytes)}`} />
        <Figure name="Hit rate" value={share(total.hitRate)} what="of files and lists that were asked for" />
        <Figure
          name="Files"
          value={grouped(total.files.count)}
          what={`and ${grouped(total.documents.count)} lists of versions in memory`}
        />
        <Figure
          name="Forgotten"
          value={grouped(lru + expired + purged + broken)}
          what={`${grouped(lru)} for room, ${grouped(expired)} expired, ${grouped(purged)} purged, ${grouped(broken)} broken`}
        />
      </dl>
      <p className="px-4 py-2 text-xs text-soft">
        Hits and what was forgotten are counted since this instance started, <Ago at={cache.since} />. Files are shared by
        all instances that share the folder.
      </p>
      {total.files.count === 0 && total.documents.count === 0 && (
        <Nothing title="Nothing is kept yet">The first package that somebody installs through this Weir is.</Nothing>
      )}
      {ecosystems.length > 0 && (
        <Table
          testid="cache"
          className="min-w-[56rem]"
          heads={["ecosystem", "kind", ...NUMBERS, "oldest", "newest"]}
          right={NUMBERS}
          actions
          region="By ecosystem and kind"
        >
          {ecosystems.map(({ ecosystem, ...part }) => (
            <Rows key={ecosystem} ecosystem={ecosystem} part={part} lacking={lacking} onPurge={onPurge} />
          ))}
        </Table>
      )}
    </>
  );
}

interface RowsProps {
  ecosystem: string;
  part: Part;
  lacking: string | undefined;
  onPurge: (ecosystem: string) => void;
}

function Rows({ ecosystem, part, lacking, onPurge }: RowsProps) {
  return (
    <>
      <tr data-cache={`${ecosystem}/files`} className={ROW}>
        <th scope="rowgroup" rowSpan={2} className="pl-4 text-left align-top font-mono font-semibold leading-10">
          {ecosystem}
        </th>
        <Cells what="files" kind={part.files} />
        <td rowSpan={2} className="text-right align-top leading-10">
          <Button lacking={lacking} aria-label={`Purge ${ecosystem}`} onClick={() => onPurge(ecosystem)}>
            Purge
          </Button>
        </td>
      </tr>
      <tr data-cache={`${ecosystem}/lists`} className={ROW}>
        <Cells what="lists" kind={part.documents} />
      </tr>
    </>
  );
}

function Cells({ what, kind }: { what: string; kind: Kind }) {
  const at = (time: string | null) => (time === null ? "–" : <Ago at={time} />);
  return (
    <>
      <td className="pl-3!">{what}</td>
      <td className="numbers text-right">{grouped(kind.count)}</td>
      <td className="numbers text-right whitespace-nowrap">{bytes(kind.bytes)}</td>
      <td className="numbers text-right">{share(kind.hitRate)}</td>
      <td className="numbers text-right">{grouped(kind.hits)}</td>
      <td className="numbers text-right">{grouped(kind.misses)}</td>
      <td className="whitespace-nowrap text-soft">{at(kind.oldestAt)}</td>
      <td className="whitespace-nowrap text-soft">{at(kind.newestAt)}</td>
    </>
  );
}
