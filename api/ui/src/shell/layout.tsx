// The frame around every page: skip link, header, the page, and the dialogs reachable from anywhere.

import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Command, Keyboard, LogOut, Moon, Sun, SunMoon } from "lucide-react";
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from "react";
import { toast, Toaster } from "sonner";
import { asProblem } from "../api/problem";
import { signOut } from "../api/session";
import { Button, IconButton, Key } from "../parts/button";
import { Gate, SESSION } from "../session/gate";
import { useSession } from "../session/context";
import { hub } from "../stream/hub";
import { nextTheme, theme, watchTheme } from "../theme";
import { Connection } from "./connection";
import { Group } from "./group";
import { handleKey, useKeys } from "./keys";
import { Mark } from "./mark";
import { GROUPS, groupOf, PAGES } from "./pages";

const Help = lazy(() => import("./help"));
const Palette = lazy(() => import("./palette"));

export function Layout() {
  const shown = useSyncExternalStore(watchTheme, theme);
  useEffect(() => {
    window.addEventListener("keydown", handleKey);
    return () => window.removeEventListener("keydown", handleKey);
  }, []);
  return (
    <>
      <Gate>
        <Frame />
      </Gate>
      <Toaster
        theme={shown}
        position="bottom-left"
        toastOptions={{
          style: {
            background: "var(--sheet)",
            color: "var(--ink)",
            borderColor: "var(--line-strong)",
            fontFamily: "inherit",
          },
        }}
      />
    </>
  );
}

function Frame() {
  const [dialog, setDialog] = useState<"help" | "palette">();
  const navigate = useNavigate();
  const leave = useSignOut();
  useKeys({
    "?": () => setDialog("help"),
    "mod+k": () => setDialog((open) => (open === "palette" ? undefined : "palette")),
    t: sayNextTheme,
    ...Object.fromEntries(PAGES.map(({ to, key }) => [`g ${key}`, () => void navigate({ to })])),
    "sign out": () => void leave(),
  });
  return (
    <div className="flex h-full flex-col">
      <a
        href="#page"
        className="sr-only focus:not-sr-only focus:absolute focus:top-1.5 focus:left-2 focus:z-50 focus:rounded focus:bg-accent focus:px-3 focus:py-1.5 focus:text-accent-ink"
      >
        Skip to the page
      </a>
      <header className="flex h-11 shrink-0 items-center gap-1 border-b border-line bg-sheet px-3">
        <Link
          to="/"
          className="mr-1 flex items-center gap-2 rounded-sm text-base font-semibold tracking-tight"
          aria-label="Weir, live tail"
        >
          <Mark /> Weir
        </Link>
        <nav aria-label="Pages" className="flex h-full min-w-0 flex-1">
          <div className="flex h-full min-w-0 overflow-x-auto overflow-y-hidden">
            {PAGES.filter((page) => groupOf(page) === undefined).map(({ to, label }) => (
              <Tab key={to} to={to} label={label} />
            ))}
          </div>
          {/* Beside what scrolls, which would cut off what hangs from them. */}
          {GROUPS.map((name) => (
            <Group key={name} name={name} pages={PAGES.filter((page) => groupOf(page) === name)} />
          ))}
        </nav>
        <Connection />
        <span aria-hidden className="mx-2 h-5 w-px bg-line" />
        <Button
          look="quiet"
          onClick={() => setDialog("palette")}
          aria-label="Command palette"
          title="Command palette (Ctrl-K or ⌘K)"
          className="px-1.5"
        >
          <Command size={15} />{" "}
          <span className="hidden lg:inline">
            <Key>K</Key>
          </span>
        </Button>
        <ThemeButton />
        <IconButton label="Keyboard shortcuts (?)" onClick={() => setDialog("help")}>
          <Keyboard size={16} />
        </IconButton>
        <Account onSignOut={() => void leave()} />
      </header>
      <main id="page" tabIndex={-1} className="min-h-0 flex-1 outline-none">
        <Outlet />
      </main>
      <Suspense>
        {dialog === "help" && <Help onClose={() => setDialog(undefined)} />}
        {dialog === "palette" && <Palette onClose={() => setDialog(undefined)} />}
      </Suspense>
    </div>
  );
}

function Tab({ to, label }: { to: (typeof PAGES)[number]["to"]; label: string }) {
  return (
    <Link
      to={to}
      activeOptions={{ exact: true, includeSearch: false }}
      className="relative flex shrink-0 items-center px-1.5 text-soft hover:text-ink"
      activeProps={{
        className: "!text-ink font-medium after:absolute after:inset-x-1.5 after:bottom-0 after:h-0.5 after:bg-accent",
      }}
    >
      {label}
    </Link>
  );
}

function ThemeButton() {
  const shown = useSyncExternalStore(watchTheme, theme);
  const Icon = shown === "light" ? Sun : shown === "dark" ? Moon : SunMoon;
  return (
    <IconButton label={`Theme: ${shown} (t)`} onClick={sayNextTheme}>
      <Icon size={16} />
    </IconButton>
  );
}

function Account({ onSignOut }: { onSignOut: () => void }) {
  const { principal, scopes } = useSession();
  return (
    <div className="ml-1 flex items-center gap-1 border-l border-line pl-3">
      <span className="hidden max-w-40 truncate text-xs text-soft sm:inline" title={`Scopes: ${scopes.join(", ")}`}>
        {principal}
      </span>
      <IconButton label="Sign out" onClick={onSignOut}>
        <LogOut size={15} />
      </IconButton>
    </div>
  );
}

function sayNextTheme(): void {
  toast(`Theme: ${nextTheme()}`, { id: "theme", duration: 1_200 });
}

function useSignOut() {
  const client = useQueryClient();
  return async () => {
    try {
      await signOut();
    } catch (fault) {
      toast.error("Not signed out", { description: asProblem(fault).message });
      return;
    }
    hub.tellSignedOut();
    client.setQueryData(SESSION, null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
  };
}
