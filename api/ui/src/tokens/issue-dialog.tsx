import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Copy } from "lucide-react";
import { useState, type FormEvent } from "react";
import { asProblem } from "../api/problem";
import { getProfiles } from "../api/profiles";
import { may } from "../api/session";
import { issueToken } from "../api/tokens";
import { Button, IconButton } from "../parts/button";
import { copy } from "../parts/copy";
import { Dialog } from "../parts/dialog";
import { Field, Select } from "../parts/field";
import { useSession } from "../session/context";
import { LIVES, SCOPES } from "./scopes";

/** Issues a token, and shows its secret this once. */
export function IssueDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const session = useSession();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<string[]>([]);
  const [life, setLife] = useState("7776000");
  const [profile, setProfile] = useState("");
  const maySee = may(session, "rules:read");
  const profiles = useQuery({
    queryKey: ["profiles"],
    queryFn: ({ signal }) => getProfiles(signal),
    enabled: maySee,
  });
  const issue = useMutation({
    mutationFn: () => issueToken(name.trim(), scopes, life === "" ? undefined : Number(life), profile.trim()),
    onSuccess: () => client.invalidateQueries({ queryKey: ["tokens"] }),
  });
  const problem = issue.error ? asProblem(issue.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!issue.isPending) issue.mutate();
  };
  if (issue.data)
    return (
      <Dialog title={`Token ${issue.data.name}`} onClose={onClose} width="max-w-xl">
        <div className="p-4">
          <p>
            This is the only time it is shown: Weir keeps nothing that it could be made from. Copy it now to where it is
            used.
          </p>
          <div className="mt-3 flex items-center gap-2 rounded border border-line-strong/60 bg-paper py-1.5 pr-1.5 pl-3">
            <code data-testid="secret" className="min-w-0 flex-1 text-xs break-all">
              {issue.data.secret}
            </code>
            <IconButton label="Copy the token" onClick={() => void copy(issue.data.secret, "the token")}>
              <Copy size={14} />
            </IconButton>
          </div>
          <div className="mt-4 flex justify-end">
            <Button look="primary" onClick={onClose}>
              I have it
            </Button>
          </div>
        </div>
      </Dialog>
    );
  return (
    <Dialog
      title="New token"
      description="Its name stands in every event that is recorded because of it"
      onClose={onClose}
      width="max-w-xl"
    >
      <form onSubmit={submit} className="p-4">
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label="Name"
            hint="1 to 80 characters"
            value={name}
            autoFocus
            maxLength={80}
            onChange={({ target }) => setName(target.value)}
            problem={problem?.of("name")}
          />
          <Select visible label="It ends" value={life} choices={LIVES} onChoose={setLife} />
          <ProfileField
            names={maySee && !profiles.error ? (profiles.data ?? []).map(({ name }) => name) : undefined}
            value={profile}
            onChoose={setProfile}
            problem={problem?.of("profile")}
          />
        </div>
        <fieldset className="mt-3">
          <legend className="text-xs font-medium">What it may do</legend>
          <div className="mt-1 grid gap-x-4 gap-y-1 sm:grid-cols-2">
            {SCOPES.map(({ name: scope, what }) => {
              const mine = may(session, scope);
              return (
                <label
                  key={scope}
                  className={`flex items-start gap-2 ${mine ? "" : "text-soft"}`}
                  title={mine ? undefined : "Only who has this scope may give it"}
                >
                  <input
                    type="checkbox"
                    className="mt-0.5 accent-accent"
                    disabled={!mine}
                    checked={scopes.includes(scope)}
                    onChange={({ target }) =>
                      setScopes(target.checked ? [...scopes, scope] : scopes.filter((other) => other !== scope))
                    }
                  />
                  <span>
                    <code className="text-xs">{scope}</code>
                    <span className="block text-2xs text-soft">{what}</span>
                  </span>
                </label>
              );
            })}
          </div>
        </fieldset>
        <p role="alert" className="mt-2 min-h-5 text-xs text-bad">
          {problem && !problem.of("name") && !problem.of("profile") ? problem.message : ""}
        </p>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            disabled={name.trim() === "" || scopes.length === 0 || issue.isPending}
          >
            {issue.isPending ? "Issuing…" : "Issue"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface ProfileFieldProps {
  /** Those there are, where this session may see them. */
  names: readonly string[] | undefined;
  value: string;
  onChoose: (name: string) => void;
  problem: string | undefined;
}

/** The stricter policy that the token is judged by: chosen, or written by who may not see which there are. */
function ProfileField({ names, value, onChoose, problem }: ProfileFieldProps) {
  if (names === undefined)
    return (
      <Field
        className="sm:col-span-2"
        label="Profile"
        hint="the stricter policy that it is judged by; none, without"
        maxLength={40}
        value={value}
        onChange={({ target }) => onChoose(target.value)}
        problem={problem}
      />
    );
  const choices = [{ value: "", label: "none: judged as everybody is" }, ...names.map((name) => ({ value: name, label: name }))];
  return (
    <div className="sm:col-span-2">
      <Select visible label="Profile" value={value} choices={choices} onChoose={onChoose} />
      <p className="mt-0.5 text-xs text-bad empty:hidden">{problem}</p>
    </div>
  );
}
