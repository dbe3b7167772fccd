import type { Preview, Seen } from "../api/rules";
import { Ago } from "../parts/ago";
import { grouped, plural } from "../parts/format";

const DRAWN = 50;

/** What a rule would hit and leave, of the versions that were asked for here. */
export function PreviewPanel({ preview: { complete, hit, left } }: { preview: Preview }) {
  const nothing = hit.length + left.length === 0;
  return (
    <div data-testid="preview" role="status" className="rounded border border-line bg-sunken/60 p-3 text-xs sm:col-span-2">
      {nothing ? (
        <p>Nothing like that was asked for through this Weir yet. What is upstream is not looked at.</p>
      ) : (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            <Side title={`Would hit ${plural(hit.length, "version")}`} testid="would-hit" versions={hit} bad />
            <Side title={`Would leave ${plural(left.length, "version")}`} testid="would-leave" versions={left} />
          </div>
          <p className="mt-2 text-soft">
            Of the versions that were asked for through this Weir
            {complete ? "" : `, the ${grouped(hit.length + left.length)} asked for last`}; there may be others upstream.
            What else forbids a version is not looked at.
          </p>
        </>
      )}
    </div>
  );
}

function Side({
  title,
  testid,
  versions,
  bad = false,
}: {
  title: string;
  testid: string;
  versions: readonly Seen[];
  bad?: boolean;
}) {
  return (
    <section data-testid={testid} className="min-w-0">
      <h3 className={`font-medium ${bad && versions.length > 0 ? "text-bad" : ""}`}>{title}</h3>
      <ul className="mt-1 max-h-40 overflow-y-auto" tabIndex={0} aria-label={title}>
        {versions.slice(0, DRAWN).map((seen) => (
          <li key={`${seen.package} ${seen.version}`} data-version={seen.version} className="break-words">
            <span className="font-mono font-medium">{seen.version}</span>{" "}
            <span className="text-soft">
              of {seen.package}: {grouped(seen.allowed)} passed, {grouped(seen.blocked)} refused, <Ago at={seen.lastSeen} />
            </span>
          </li>
        ))}
        {versions.length > DRAWN && <li className="text-soft">and {grouped(versions.length - DRAWN)} more</li>}
      </ul>
    </section>
  );
}
