import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Eye, EyeOff } from "lucide-react";
import { useState, type FormEvent } from "react";
import { asProblem } from "../api/problem";
import { signIn } from "../api/session";
import { Button, IconButton } from "../parts/button";
import { useCountdown } from "../parts/countdown";
import { Mark } from "../shell/mark";

export function SignIn() {
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const [visible, setVisible] = useState(false);
  const [lockedUntil, setLockedUntil] = useState<number>();
  const locked = useCountdown(lockedUntil);
  const attempt = useMutation({
    mutationFn: () => signIn(token.trim()),
    onSuccess: (session) => client.setQueryData(["session"], session),
    onError: (fault) => {
      const { retryAfter } = asProblem(fault);
      if (retryAfter !== undefined) setLockedUntil(Date.now() + retryAfter * 1_000);
    },
  });
  const problem = attempt.error ? asProblem(attempt.error) : undefined;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() !== "" && locked === 0 && !attempt.isPending) attempt.mutate();
  };

  return (
    <main className="grid min-h-full place-items-center p-6">
      <form onSubmit={submit} className="w-full max-w-sm">
        <h1 className="flex items-center gap-2.5 text-xl font-semibold tracking-tight">
          <Mark size={28} /> Weir
        </h1>
        <p className="mt-1.5 text-soft">One audited door between your agents and the outside.</p>
        <label htmlFor="token" className="mt-6 block text-xs font-medium">
          Access token
        </label>
        {/* Password managers file a token under a name. */}
        <input type="text" name="username" autoComplete="username" value="weir" readOnly hidden />
        <div className="relative mt-1">
          <input
            id="token"
            type={visible ? "text" : "password"}
            autoComplete="current-password"
            autoFocus
            spellCheck={false}
            placeholder="rf_…"
            value={token}
            onChange={(event) => setToken(event.target.value)}
            aria-invalid={problem !== undefined}
            aria-describedby="token-help"
            className="numbers h-9 w-full rounded border border-line-strong bg-sheet pr-9 pl-2.5 text-sm placeholder:text-soft"
          />
          <IconButton
            label={visible ? "Hide token" : "Show token"}
            aria-pressed={visible}
            onClick={() => setVisible(!visible)}
            className="absolute top-1 right-1"
          >
            {visible ? <EyeOff size={15} /> : <Eye size={15} />}
          </IconButton>
        </div>
        <div role="alert" className="mt-2 min-h-5 text-bad">
          {problem &&
            (locked > 0 ? (
              <>
                Too many attempts. Try again <span aria-hidden>in {locked} s</span>.
              </>
            ) : (
              problem.message
            ))}
        </div>
        <Button
          type="submit"
          look="primary"
          disabled={token.trim() === "" || attempt.isPending || locked > 0}
          className="mt-1 h-9 w-full text-sm"
        >
          {attempt.isPending ? "Signing in…" : "Sign in"}
        </Button>
        <p id="token-help" className="mt-5 border-t border-line pt-3 text-xs leading-relaxed text-soft">
          <code>weir up</code> prints the first admin token when it starts. Make another with{" "}
          <code className="whitespace-nowrap">weir token create</code>. The browser keeps a session
          that ends by itself, not the token.
        </p>
      </form>
    </main>
  );
}
