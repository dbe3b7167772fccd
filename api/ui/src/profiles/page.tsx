// Profiles: the stricter policies that tokens can name, as those of agents do.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { getProfiles, removeProfile, type Profile } from "../api/profiles";
import { may } from "../api/session";
import { Button } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { Badge, HEAD, Nothing, Page, ROW } from "../parts/page";
import { useSession } from "../session/context";
import { ProfileDialog } from "./profile-dialog";
import { age, limits } from "./words";

export function ProfilesPage() {
  const client = useQueryClient();
  const session = useSession();
  const mayChange = may(session, "rules:write");
  const [setting, setSetting] = useState<Profile | "new">();
  const [removing, setRemoving] = useState<Profile>();
  const query = useQuery({
    queryKey: ["profiles"],
    queryFn: ({ signal }) => getProfiles(signal),
    enabled: may(session, "rules:read"),
  });
  const look = () => void client.invalidateQueries({ queryKey: ["profiles"] });
  return (
    <Page
      title="Profiles"
      about="Stricter policies for tokens that name one, as those of agents do"
      scope="rules:read"
      query={query}
      tools={
        <Button
          look="primary"
          className="h-8"
          disabled={!mayChange}
          title={mayChange ? undefined : "Your token lacks the scope rules:write"}
          onClick={() => setSetting("new")}
        >
          <Plus aria-hidden size={14} /> New profile
        </Button>
      }
    >
      {(profiles) => (
        <>
          {profiles.length === 0 ? (
            <Nothing title="There is no profile">
              A profile says how old a version must be, how much a token may download, and what a person has to answer first.
              A token names one when it is issued.
            </Nothing>
          ) : (
            <Profiles profiles={profiles} mayChange={mayChange} onChange={setSetting} onRemove={setRemoving} />
          )}
          {setting && (
            <ProfileDialog
              profile={setting === "new" ? undefined : setting}
              onDone={look}
              onClose={() => setSetting(undefined)}
            />
          )}
          {removing && (
            <Confirm
              title={`Remove ${removing.name}?`}
              verb="Remove"
              act={() => removeProfile(removing.name)}
              onDone={() => {
                toast(`Tokens that name ${removing.name} get nothing any more`);
                look();
              }}
              onClose={() => setRemoving(undefined)}
            >
              Tokens that name it get nothing from then on, until there is a profile of this name again. Those that the
              configuration names are set again at the next start.
            </Confirm>
          )}
        </>
      )}
    </Page>
  );
}

interface ProfilesProps {
  profiles: readonly Profile[];
  mayChange: boolean;
  onChange: (profile: Profile) => void;
  onRemove: (profile: Profile) => void;
}

function Profiles({ profiles, mayChange, onChange, onRemove }: ProfilesProps) {
  const lacking = mayChange ? undefined : "Your token lacks the scope rules:write";
  return (
    <table data-testid="profiles" className="w-full min-w-[62rem] border-collapse text-left">
      <thead className={HEAD}>
        <tr>
          {["name", "mode", "least age", "least severity", "each token may have", "a person answers"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
          <th scope="col">
            <span className="sr-only">actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {profiles.map((profile) => (
          <tr key={profile.name} data-profile={profile.name} className={ROW}>
            <td className="font-mono font-medium">{profile.name}</td>
            <td>
              {profile.mode === null ? (
                <span className="text-soft">as the ecosystem says</span>
              ) : (
                <Badge tone={profile.mode === "audit" ? "warn" : "soft"}>{profile.mode}</Badge>
              )}
            </td>
            <td className={profile.minAgeHours === 0 ? "text-soft" : "numbers"}>{age(profile.minAgeHours)}</td>
            <td className={profile.severityFloor === null ? "text-soft" : ""}>
              {profile.severityFloor ?? "as the settings say"}
            </td>
            <td className="py-1.5">
              <Lines lines={limits(profile.quota)} otherwise="as much as it wants" />
            </td>
            <td className="py-1.5">
              <span className="flex flex-wrap gap-1">
                {profile.hold.map((ground) => (
                  <Badge key={ground}>{ground}</Badge>
                ))}
                {profile.hold.length === 0 && <span className="text-soft">nothing</span>}
              </span>
            </td>
            <td className="text-right whitespace-nowrap">
              <Button
                disabled={!mayChange}
                title={lacking}
                aria-label={`Change ${profile.name}`}
                onClick={() => onChange(profile)}
              >
                Change
              </Button>{" "}
              <Button
                disabled={!mayChange}
                title={lacking}
                aria-label={`Remove ${profile.name}`}
                onClick={() => onRemove(profile)}
              >
                Remove
              </Button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Lines({ lines, otherwise }: { lines: readonly string[]; otherwise: string }) {
  if (lines.length === 0) return <span className="text-soft">{otherwise}</span>;
  return lines.map((line) => (
    <span key={line} className="numbers block text-xs">
      {line}
    </span>
  ));
}
