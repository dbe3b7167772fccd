import { useQuery } from "@tanstack/react-query";
import { ask } from "../api/client";
import { isObject } from "../json/exact";
import { Key } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { duration } from "../parts/format";
import { PAGES } from "./pages";

const SHORTCUTS: [string, [string[], string][]][] = [
  [
    "Anywhere",
    [
      [["?"], "this help"],
      [["Ctrl", "K"], "command palette"],
      ...PAGES.map(({ label, key }): [string[], string] => [["g", key], `go to ${label.toLowerCase()}`]),
      [["t"], "theme: system, light, dark"],
      [["Esc"], "close what is open"],
    ],
  ],
  [
    "Live tail",
    [
      [["/"], "filter"],
      [["j"], "next row, older"],
      [["k"], "previous row, newer"],
      [["Enter"], "open the event"],
      [["p"], "pause and resume"],
    ],
  ],
  [
    "Requests",
    [
      [["/"], "filter"],
      [["j"], "next request, older"],
      [["k"], "previous request, newer"],
      [["Enter"], "open the request"],
      [["p"], "pause and resume"],
    ],
  ],
  [
    "Projections",
    [
      [["j"], "next projection"],
      [["k"], "previous projection"],
      [["Enter"], "open with dead letters"],
      [["r"], "replay"],
    ],
  ],
];

const GRAMMAR: [string, string][] = [
  ["subsystem:registry,web", "any of these sub-systems"],
  ["kind:PackageBlocked", "this kind of event"],
  ["stream:registry/rules", "streams that begin so"],
  ["principal:robot", "in the name of this token"],
  ['six "too young"', "free text in stream, kind or payload"],
];

export default function Help({ onClose }: { onClose: () => void }) {
  const status = useQuery({ queryKey: ["status"], queryFn: ({ signal }) => ask("status", { signal }) });
  const about = isObject(status.data ?? null) ? (status.data as Record<string, unknown>) : undefined;
  return (
    <Dialog title="Keyboard and query" onClose={onClose} width="max-w-2xl">
      {/* Where the window is low this scrolls, by keys too. */}
      <div tabIndex={0} role="group" aria-label="Keys and query" className="grid gap-x-8 gap-y-5 p-4 sm:grid-cols-2">
        {SHORTCUTS.map(([group, keys]) => (
          <section key={group}>
            <h3 className="mb-1.5 text-2xs font-semibold tracking-wider text-soft uppercase">{group}</h3>
            <dl className="grid gap-1">
              {keys.map(([combination, meaning]) => (
                <div key={meaning} className="flex items-center gap-2">
                  <dt className="flex w-20 shrink-0 gap-1">
                    {combination.map((key) => (
                      <Key key={key}>{key}</Key>
                    ))}
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <section>
          <h3 className="mb-1.5 text-2xs font-semibold tracking-wider text-soft uppercase">
            Query, the same in the address, API and command line
          </h3>
          <dl className="grid gap-1.5">
            {GRAMMAR.map(([example, meaning]) => (
              <div key={example}>
                <dt>
                  <code className="text-xs text-accent">{example}</code>
                </dt>
                <dd className="text-xs text-soft">{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
      {about && (
        <p className="numbers border-t border-line px-4 py-2 text-2xs text-soft">
          weir {String(about["version"])} · incarnation {String(about["incarnation"])} · up{" "}
          {duration(Number(about["uptime_seconds"]))}
        </p>
      )}
    </Dialog>
  );
}
