// Profiles: the stricter policies that tokens can name, as those of agents do.

import { getProfiles, removeProfile, type Profile } from "../api/profiles";
import { useAnswer, useLook } from "../parts/asking";
import { Button, NewButton } from "../parts/button";
import { Confirm } from "../parts/confirm";
import { useDialogs } from "../parts/dialogs";
import { ListPage } from "../parts/list";
import { Badge, Nothing } from "../parts/page";
import { ROW, Table } from "../parts/table";
import { useLacking } from "../session/context";
import { ProfileDialog } from "./profile-dialog";
import { age, limits } from "./words";

const HEADS = ["name", "mode", "least age", "least severity", "each token may have", "a person answers"];

export function ProfilesPage() {
  const lacking = useLacking("rules:write");
  const dialogs = useDialogs(useLook("profiles"), {
    add: (ends) => <ProfileDialog {...ends} />,
    change: (ends, profile: Profile) => <ProfileDialog profile={profile} {...ends} />,
    remove: (ends, { name }: Profile) => (
      <Confirm
        title={`Remove ${name}?`}
        verb="Remove"
        act={() => removeProfile(name)}
        said={`Tokens that name ${name} get nothing any more`}
        {...ends}
      >
        Tokens that name it get nothing from then on, until there is a profile of this name again. Those that the
        configuration names are set again at the next start.
      </Confirm>
    ),
  });
  const query = useAnswer({ key: ["profiles"], scope: "rules:read", read: getProfiles });
  return (
    <ListPage
      title="Profiles"
      about="Stricter policies for tokens that name one, as those of agents do"
      scope="rules:read"
      query={query}
      rows={(profiles) => profiles}
      tools={
        <NewButton lacking={lacking} onClick={() => dialogs.open("add")}>
          New profile
        </NewButton>
      }
      nothing={
        <Nothing title="There is no profile">
          A profile says how old a version must be, how much a token may download, and what a person has to answer first. A
          token names one when it is issued.
        </Nothing>
      }
      dialogs={dialogs.shown}
    >
      {(profiles) => (
        <Table testid="profiles" className="min-w-[62rem]" heads={HEADS} actions>
          {profiles.map((profile) => (
            <Row
              key={profile.name}
              profile={profile}
              lacking={lacking}
              onChange={() => dialogs.open("change", profile)}
              onRemove={() => dialogs.open("remove", profile)}
            />
          ))}
        </Table>
      )}
    </ListPage>
  );
}

interface RowProps {
  profile: Profile;
  lacking: string | undefined;
  onChange: () => void;
  onRemove: () => void;
}

function Row({ profile, lacking, onChange, onRemove }: RowProps) {
  return (
    <tr data-profile={profile.name} className={ROW}>
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
        <Button lacking={lacking} aria-label={`Change ${profile.name}`} onClick={onChange}>
          Change
        </Button>{" "}
        <Button lacking={lacking} aria-label={`Remove ${profile.name}`} onClick={onRemove}>
          Remove
        </Button>
      </td>
    </tr>
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
