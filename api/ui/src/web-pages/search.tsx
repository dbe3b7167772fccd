import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { findInPages, type Found } from "../api/web-pages";
import { Agent } from "../parts/agent";
import { useAnswer } from "../parts/asking";
import { Box } from "../parts/field";
import { Filters } from "../parts/filters";
import { plural } from "../parts/format";
import { Nothing, Page } from "../parts/page";
import { api } from "../root";
import { pieces } from "./snippet";

const route = getRouteApi("/pages");
const AT_MOST = 50;

/** Full-text search. What was found is shown as text: nothing of a page is ever drawn as what it says it is. */
export function SearchTab({ tabs }: { tabs: ReactNode }) {
  const { words = "", owner = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useAnswer({
    key: ["web-search", words, owner],
    scope: "web:read",
    read: (signal) => (words === "" ? null : findInPages(words, owner, signal)),
    keep: true,
  });
  return (
    <Page
      title="Pages"
      about="Words in what is cached, in all their forms"
      scope="web:read"
      query={query}
      tabs={tabs}
      tools={
        <Filters
          filter={{ words, owner }}
          onShow={({ words, owner = "" }) => void navigate({ search: { tab: "search", words, owner: owner.toLowerCase() } })}
        >
          <Box
            type="search"
            name="words"
            label="Words"
            placeholder='queue "back pressure" -kafka'
            defaultValue={words}
            maxLength={500}
            className="w-72"
          />
          <Box name="owner" label="Agent" placeholder="and this agent's own" defaultValue={owner} className="numbers w-44 text-xs" />
        </Filters>
      }
    >
      {(found) =>
        found === null ? (
          <Nothing title="Look for words in what agents have read">
            Everybody&apos;s pages, and with an agent&apos;s id its own. Quotes keep words together; <code>or</code> and{" "}
            <code>-</code> mean what they do elsewhere.
          </Nothing>
        ) : found.length === 0 ? (
          <Nothing title="Nothing is found" testid="no-match">
            No cached page has these words. Pages that hold code, by a waiver, are not looked into.
          </Nothing>
        ) : (
          <>
            <p role="status" className="px-4 pt-3 text-xs text-soft">
              {found.length === AT_MOST ? `The best ${AT_MOST} pages` : plural(found.length, "page")}
            </p>
            <ol data-testid="found">
              {found.map((one, at) => (
                <Hit key={at} found={one} />
              ))}
            </ol>
          </>
        )
      }
    </Page>
  );
}

function Hit({ found }: { found: Found }) {
  return (
    <li data-found={found.url} className="border-b border-line/70 px-4 py-3">
      <h2 className="truncate font-semibold">{found.title ?? found.url}</h2>
      <p className="flex flex-wrap items-baseline gap-x-3 text-xs text-soft">
        <span className="min-w-0 truncate font-mono">{found.url}</span>
        {found.owner !== null && <Agent id={found.owner} />}
        <Link to="/pages" search={{ url: found.url }} className="text-accent underline">
          renderings
        </Link>
        {/* Plain text, whatever the page was: the server sees to that. */}
        {found.request !== null && (
          <a
            href={api(`web/requests/${found.request}/content`)}
            target="_blank"
            rel="noopener noreferrer"
            className="text-accent underline"
          >
            text
          </a>
        )}
      </p>
      <p className="mt-1 max-w-4xl leading-relaxed break-words">
        {pieces(found.snippet).map(({ text, found }, at) =>
          found ? (
            <mark key={at} className="rounded-sm bg-accent-wash px-0.5 font-medium text-ink">
              {text}
            </mark>
          ) : (
            text
          ),
        )}
      </p>
    </li>
  );
}
