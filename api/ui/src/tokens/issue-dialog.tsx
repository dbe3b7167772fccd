import { Copy } from "lucide-react";
import { getProfiles } from "../api/profiles";
import { may } from "../api/session";
import { issueToken } from "../api/tokens";
import { useAnswer, useLook } from "../parts/asking";
import { Button, IconButton } from "../parts/button";
import { copy } from "../parts/copy";
import { Dialog } from "../parts/dialog";
import { Check, Field, Select, Wrong } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { useSession } from "../session/context";
import { LIVES, SCOPES } from "./scopes";

const NEW = { name: "", scopes: [] as string[], expires_in_seconds: "7776000", profile: "" };

/** Issues a token, and shows its secret this once. */
export function IssueDialog({ onClose }: { onClose: () => void }) {
  const session = useSession();
  const form = useForm({
    draft: NEW,
    act: ({ name, scopes, expires_in_seconds: life, profile }) =>
      issueToken(name, scopes, life === "" ? undefined : Number(life), profile),
    onDone: useLook("tokens"),
  });
  const profiles = useAnswer({ key: ["profiles"], scope: "rules:read", read: getProfiles });
  if (form.answer) return <Secret {...form.answer} onClose={onClose} />;
  return (
    <FormDialog
      title="New token"
      description="Its name stands in every event that is recorded because of it"
      width="max-w-xl"
      columns
      form={form}
      verb="Issue"
      doing="Issuing…"
      ready={form.values.name !== "" && form.values.scopes.length > 0}
      onClose={onClose}
    >
      <Field label="Name" hint="1 to 80 characters" autoFocus maxLength={80} {...form.field("name")} />
      <Select visible label="It ends" choices={LIVES} {...form.choice("expires_in_seconds")} />
      {!may(session, "rules:read") || profiles.error ? (
        // Written by who may not see which there are.
        <Field
          className="sm:col-span-2"
          label="Profile"
          hint="the stricter policy that it is judged by; none, without"
          maxLength={40}
          {...form.field("profile")}
        />
      ) : (
        <Select
          visible
          className="sm:col-span-2"
          label="Profile"
          choices={[
            { value: "", label: "none: judged as everybody is" },
            ...(profiles.data ?? []).map(({ name }) => ({ value: name, label: name })),
          ]}
          {...form.choice("profile")}
        />
      )}
      <fieldset className="sm:col-span-2">
        <legend className="text-xs font-medium">What it may do</legend>
        <div className="mt-1 grid gap-x-4 gap-y-1 sm:grid-cols-2">
          {SCOPES.map(({ name: scope, what }) => {
            const mine = may(session, scope);
            return (
              <Check
                key={scope}
                className={mine ? "" : "text-soft"}
                title={mine ? undefined : "Only who has this scope may give it"}
                disabled={!mine}
                {...form.member("scopes", scope)}
              >
                <code className="text-xs">{scope}</code>
                <span className="block text-2xs text-soft">{what}</span>
              </Check>
            );
          })}
        </div>
        <Wrong>{form.of("scopes")}</Wrong>
      </fieldset>
    </FormDialog>
  );
}

interface SecretProps {
  name: string;
  secret: string;
  onClose: () => void;
}

function Secret({ name, secret, onClose }: SecretProps) {
  return (
    <Dialog title={`Token ${name}`} onClose={onClose} width="max-w-xl">
      <div className="p-4">
        <p>
          This is the only time it is shown: Weir keeps nothing that it could be made from. Copy it now to where it is
          used.
        </p>
        <div className="mt-3 flex items-center gap-2 rounded border border-line-strong/60 bg-paper py-1.5 pr-1.5 pl-3">
          <code data-testid="secret" className="min-w-0 flex-1 text-xs break-all">
            {secret}
          </code>
          <IconButton label="Copy the token" onClick={() => void copy(secret, "the token")}>
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
}
