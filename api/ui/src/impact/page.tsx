// Impact: who has what an advisory or a rule of today is about, since when, by which token, and what lies in the cache.

import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useRef, type FormEvent } from "react";
import { getImpact, type Affected, type Download, type Impact } from "../api/impact";
import { asProblem } from "../api/problem";
import { may } from "../api/session";
import { Button } from "../parts/button";
import { clock, day, grouped, plural } from "../parts/format";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { useKeys } from "../shell/keys";

const route = getRouteApi("/impact");

export function ImpactPage() {
  const { name = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery({
    queryKey: ["impact", name],
    queryFn: async ({ pageParam, signal }) => {
      // Nothing is called so: an answer like any other, and asking again does not help.
      if (name === "") return null;
      return getImpact(name, pageParam, signal).catch((fault: unknown) => {
        if (asProblem(fault).status === 404) return null;
        throw fault;
      });
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page?.next,
    enabled: may(useSession(), "rules:read"),
  });
  return (
    <Page
      title="Impact"
      about="Who has what an advisory or a rule is about"
      scope="rules:read"
      query={query}
      tools={<Ask key={name} name={name} onAsk={(name) => void navigate({ search: { name } })} />}
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
            {query.hasNextPage && (
              <p className="p-4">
                <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
                  {query.isFetchingNextPage ? "Loading…" : "Show older"}
                </Button>
              </p>
            )}
          </>
        );
      }}
    </Page>
  );
}

function Ask({ name, onAsk }: { name: string; onAsk: (name: string) => void }) {
  const box = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => box.current?.focus() });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onAsk(String(new FormData(event.currentTarget).get("name") ?? "").trim());
  };
  return (
    <form role="search" onSubmit={submit} className="flex items-center gap-2">
      <input
        ref={box}
        name="name"
        aria-label="Advisory or rule"
        placeholder="GHSA-…, CVE-…, or a rule's id"
        defaultValue={name}
        spellCheck={false}
        autoComplete="off"
        className="h-8 w-72 rounded border border-line-strong bg-paper px-2 font-mono text-xs placeholder:text-soft"
      />
      <Button type="submit" className="h-8">
        <Search aria-hidden size={13} /> Ask
      </Button>
    </form>
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

function Head({ names }: { names: readonly string[] }) {
  return (
    <thead className={HEAD}>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Versions({ versions }: { versions: readonly Affected[] }) {
  return (
    <table data-testid="affected" className="w-full min-w-[46rem] border-collapse text-left">
      <caption className="sr-only">Affected versions that were downloaded</caption>
      <Head names={["package", "version", "falls under", "tokens", "files downloaded", "in the cache"]} />
      <tbody>
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
      </tbody>
    </table>
  );
}

function Downloads({ downloads }: { downloads: readonly Download[] }) {
  return (
    <table data-testid="downloads" className="mt-4 w-full min-w-[58rem] border-collapse text-left">
      <caption className="sr-only">Who downloaded them, the last one first</caption>
      <Head names={["who", "token", "package", "version", "files", "first", "last", "event"]} />
      <tbody>
        {downloads.map((it) => (
          <tr key={`${it.lastPosition} ${it.token} ${it.version}`} data-download={it.principal} className={ROW}>
            <td>{it.principal}</td>
            <td className="max-w-40 truncate font-mono text-xs" title={it.token ?? undefined}>
              {it.token ?? <span className="text-soft">none</span>}
            </td>
            <td className="font-mono">{it.package}</td>
            <td className="font-mono">{it.version ?? <span className="text-soft">any</span>}</td>
            <td className="numbers">{grouped(it.downloads)}</td>
            <Moment at={it.firstAt} />
            <Moment at={it.lastAt} />
            <td>
              <Link
                to="/"
                search={{ at: String(it.lastPosition) }}
                className="numbers text-accent underline"
                aria-label={`Event ${it.lastPosition} in the tail`}
              >
                {String(it.lastPosition)}
              </Link>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Moment({ at }: { at: string }) {
  return (
    <td className="whitespace-nowrap">
      <time dateTime={at} className="numbers text-xs">
        <span className="text-soft">{day(at)}</span> {clock(at).slice(0, 8)}
      </time>
    </td>
  );
}
