// Impact: who has what an advisory or a rule of today is about, since when, by which token, and what lies in the cache.

import { getRouteApi } from "@tanstack/react-router";
import { getImpact, type Affected, type Download, type Impact } from "../api/impact";
import { asProblem } from "../api/problem";
import { usePages } from "../parts/asking";
import { Event } from "../parts/event";
import { Box } from "../parts/field";
import { Filters } from "../parts/filters";
import { grouped, plural } from "../parts/format";
import { More } from "../parts/list";
import { Moment } from "../parts/moment";
import { Badge, Nothing, Page } from "../parts/page";
import { ROW, Table } from "../parts/table";

const route = getRouteApi("/impact");

export function ImpactPage() {
  const { name = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePages({
    key: ["impact", name],
    scope: "rules:read",
    read: async (cursor: string | undefined, signal) => {
      // Nothing is called so: an answer like any other, and asking again does not help.
      if (name === "") return null;
      return getImpact(name, cursor, signal).catch((fault: unknown) => {
        if (asProblem(fault).status === 404) return null;
        throw fault;
      });
    },
  });
  return (
    <Page
      title="Impact"
      about="Who has what an advisory or a rule is about"
      scope="rules:read"
      query={query}
      tools={
        <Filters filter={{ name }} onShow={({ name }) => void navigate({ search: { name } })} verb="Ask">
          <Box
            name="name"
            label="Advisory or rule"
            placeholder="GHSA-…, CVE-…, or a rule's id"
            defaultValue={name}
            className="w-72 font-mono text-xs"
          />
        </Filters>
      }
    >
      {({ pages }) => {
        const [impact] = pages;
        if (name === "")
          return (
            <Nothing title="Ask about an advisory or a rule">
              By any of its names: a GHSA, a CVE, a MAL id, or the id of a rule. Every download is on the log, so what is
              known today is asked of the past.
            </Nothing>
          );
        if (!impact)
          return (
            <Nothing title="Nothing is called so" testid="unknown">
              No advisory that is known now and no rule in force is called <code>{name}</code>.
            </Nothing>
          );
        return (
          <>
            <Told impact={impact} />
            {impact.versions.length > 0 && <Versions versions={impact.versions} />}
            {impact.versions.length > 0 && <Downloads downloads={pages.flatMap((page) => page?.page ?? [])} />}
            <More of={query} className="m-4" />
          </>
        );
      }}
    </Page>
  );
}

function Told({ impact }: { impact: Impact }) {
  const others = impact.names.filter((name) => name !== impact.name);
  return (
    <div data-testid="impact" className="border-t border-line px-4 py-3">
      <h2 className="font-mono font-semibold">{impact.name}</h2>
      {others.length > 0 && <p className="text-xs text-soft">also called {others.join(", ")}</p>}
      {impact.records.map(({ source, ecosystem, id, summary }) => (
        <p key={`${source} ${ecosystem} ${id}`}>
          <span className="font-mono text-xs">{id}</span> <Badge>{`${source}, ${ecosystem}`}</Badge> {summary}
        </p>
      ))}
      <p className="mt-2">
        {impact.downloads === 0 ? (
          <strong>Nobody was let through to an affected version.</strong>
        ) : (
          <>
            <strong className="numbers">{plural(impact.principals, "token")}</strong> downloaded{" "}
            <strong className="numbers">{plural(impact.downloads, "file")}</strong> of{" "}
            {plural(impact.versions.length, "affected version")}; <strong className="numbers">{grouped(impact.cached)}</strong>{" "}
            of them lie in this instance’s cache, and are judged all the same whenever somebody asks.
          </>
        )}
      </p>
      {!impact.complete && <p className="text-warn">Not all downloads were looked at: there may be more.</p>}
    </div>
  );
}

function Versions({ versions }: { versions: readonly Affected[] }) {
  return (
    <Table
      testid="affected"
      className="min-w-[46rem]"
      caption="Affected versions that were downloaded"
      heads={["package", "version", "falls under", "tokens", "files downloaded", "in the cache"]}
    >
      {versions.map((it) => (
        <tr key={`${it.ecosystem} ${it.package} ${it.version}`} className={ROW}>
          <td>
            <span className="font-mono">{it.package}</span> <span className="text-xs text-soft">{it.ecosystem}</span>
          </td>
          <td className="font-mono">{it.version ?? <span className="text-soft">any</span>}</td>
          <td>{it.hit}</td>
          <td className="numbers">{grouped(it.principals)}</td>
          <td className="numbers">{grouped(it.downloads)}</td>
          <td>{it.cached > 0 ? <Badge tone="warn">{`${it.cached} of ${it.files}`}</Badge> : <Badge>none</Badge>}</td>
        </tr>
      ))}
    </Table>
  );
}

function Downloads({ downloads }: { downloads: readonly Download[] }) {
  return (
    <Table
      testid="downloads"
      className="mt-4 min-w-[58rem]"
      caption="Who downloaded them, the last one first"
      heads={["who", "token", "package", "version", "files", "first", "last", "event"]}
    >
      {downloads.map((it) => (
        <tr key={`${it.lastPosition} ${it.token} ${it.version}`} data-download={it.principal} className={ROW}>
          <td>{it.principal}</td>
          <td className="max-w-40 truncate font-mono text-xs" title={it.token ?? undefined}>
            {it.token ?? <span className="text-soft">none</span>}
          </td>
          <td className="font-mono">{it.package}</td>
          <td className="font-mono">{it.version ?? <span className="text-soft">any</span>}</td>
          <td className="numbers">{grouped(it.downloads)}</td>
          <td>
            <Moment at={it.firstAt} />
          </td>
          <td>
            <Moment at={it.lastAt} />
          </td>
          <td>
            <Event at={it.lastPosition} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
