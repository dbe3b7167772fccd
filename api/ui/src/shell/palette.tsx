// Everything by name. Typing a number opens that event.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Dialog as Radix } from "radix-ui";
import { useState, type ReactNode } from "react";
import { getKinds } from "../api/events";
import type { Projection } from "../api/projections";
import { Key } from "../parts/button";
import { absolute } from "../root";
import { copy } from "../parts/copy";
import { press } from "./keys";
import { PAGES } from "./pages";

export default function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const navigate = useNavigate();
  const client = useQueryClient();
  const kinds = useQuery({ queryKey: ["kinds"], queryFn: ({ signal }) => getKinds(signal), staleTime: 300_000 });
  const subsystems = [...new Set((kinds.data ?? []).map(({ subsystem }) => subsystem))];
  const projections = client.getQueryData<{ projections: Projection[] }>(["projections"])?.projections ?? [];
  const run = (action: () => unknown) => () => {
    onClose();
    // After the dialog has given the focus back.
    requestAnimationFrame(() => void action());
  };
  const tail = (q: string) => run(() => navigate({ to: "/", search: { q } }));
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-veil" />
        <Radix.Content
          aria-describedby={undefined}
          className="rise-in card-shadow fixed top-[14vh] left-1/2 z-50 w-[calc(100%-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg border border-line-strong bg-sheet outline-none"
        >
          <Radix.Title className="sr-only">Command palette</Radix.Title>
          <Command label="Command palette" loop>
            <Command.Input
              value={typed}
              onValueChange={setTyped}
              placeholder="Type a command, a sub-system, a kind, or a position"
              className="h-11 w-full border-b border-line bg-transparent px-4 text-base outline-none placeholder:text-soft"
            />
            <Command.List label="Commands" className="max-h-[50vh] overflow-y-auto p-1.5">
              <Command.Empty className="px-3 py-6 text-center text-soft">Nothing by that name.</Command.Empty>
              {/^\d{1,19}$/.test(typed.trim()) && (
                <Item
                  onSelect={run(() => navigate({ to: "/", search: { at: String(BigInt(typed.trim())) } }))}
                  value={typed}
                >
                  Open event {typed.trim()}
                </Item>
              )}
              <Group heading="Go">
                {PAGES.map(({ to, label, key }) => (
                  <Item key={to} keys={["g", key]} onSelect={run(() => navigate({ to }))}>
                    {label}
                  </Item>
                ))}
              </Group>
              <Group heading="Do">
                <Item keys={["p"]} onSelect={run(() => press("p"))}>
                  Pause or resume the tail
                </Item>
                <Item keys={["/"]} onSelect={run(() => press("/"))}>
                  Filter the tail
                </Item>
                <Item keys={["t"]} onSelect={run(() => press("t"))}>
                  Change theme
                </Item>
                <Item onSelect={run(() => copy(window.location.href, "the link to this view"))}>
                  Copy a link to this view
                </Item>
                <Item onSelect={run(() => window.open(absolute("api/openapi.json"), "_blank", "noopener"))}>
                  API description (OpenAPI)
                </Item>
                <Item keys={["?"]} onSelect={run(() => press("?"))}>
                  Keyboard help
                </Item>
                <Item onSelect={run(() => press("sign out"))}>Sign out</Item>
              </Group>
              {projections.length > 0 && (
                <Group heading="Open a projection">
                  {projections.map(({ name }) => (
                    <Item
                      key={name}
                      value={`projection ${name}`}
                      onSelect={run(() => navigate({ to: "/projections", search: { open: name } }))}
                    >
                      <code>{name}</code>
                    </Item>
                  ))}
                </Group>
              )}
              <Group heading="Tail a sub-system">
                {subsystems.map((name) => (
                  <Item key={name} value={`subsystem:${name}`} onSelect={tail(`subsystem:${name}`)}>
                    <code>subsystem:{name}</code>
                  </Item>
                ))}
              </Group>
              <Group heading="Tail a kind">
                {(kinds.data ?? []).map(({ name, doc }) => (
                  <Item key={name} value={`kind:${name}`} onSelect={tail(`kind:${name}`)}>
                    <code>kind:{name}</code> <span className="truncate text-xs text-soft">{doc}</span>
                  </Item>
                ))}
              </Group>
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-2xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:tracking-wider [&_[cmdk-group-heading]]:text-soft [&_[cmdk-group-heading]]:uppercase"
    >
      {children}
    </Command.Group>
  );
}

function Item({
  keys = [],
  value,
  onSelect,
  children,
}: {
  keys?: string[];
  value?: string;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Command.Item
      {...(value === undefined ? {} : { value })}
      onSelect={onSelect}
      className="flex h-8 cursor-pointer items-center gap-2 rounded px-2.5 data-[selected=true]:bg-accent-wash"
    >
      <span className="flex min-w-0 flex-1 items-baseline gap-2 truncate">{children}</span>
      {keys.map((key) => (
        <Key key={key}>{key}</Key>
      ))}
    </Command.Item>
  );
}
