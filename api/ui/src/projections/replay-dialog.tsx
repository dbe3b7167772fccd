import { toast } from "sonner";
import { startReplay, type Projection } from "../api/projections";
import { useLook } from "../parts/asking";
import { Field } from "../parts/field";
import { useForm } from "../parts/form";
import { FormDialog } from "../parts/form-dialog";
import { grouped } from "../parts/format";

/** Asks before a rebuild, and says what it does and does not do. */
export function ReplayDialog({ projection, onClose }: { projection: Projection; onClose: () => void }) {
  const { name, position, version } = projection;
  const look = useLook("projections");
  const digitsOf = (text: string) => text.replaceAll(/[\s,_]/g, "");
  const form = useForm({
    draft: { from: "" },
    act: ({ from }) => startReplay(name, from === "" ? undefined : BigInt(digitsOf(from))),
    onDone: () => {
      // What is said when it has ended takes the place of this.
      toast(`Replay of ${name} started`, { id: `replay ${name}` });
      onClose();
      void look();
    },
  });
  const from = form.field("from");
  const valid = /^\d{0,19}$/.test(digitsOf(from.value));
  return (
    <FormDialog
      title={`Replay ${name}?`}
      form={form}
      intro={
        <>
          A new build of <code>{name}</code> v{version} is made from the log beside the live one, up to{" "}
          <span className="numbers">{grouped(position)}</span> and beyond, and swapped in at the end. Readers see no
          gap, and cancelling leaves everything as it is.
        </>
      }
      verb="Replay"
      doing="Starting…"
      keep="Keep as it is"
      ready={valid}
      onClose={onClose}
    >
      <Field
        label="From position"
        hint="(empty: from the beginning)"
        inputMode="numeric"
        placeholder="0"
        className="[&_input]:numbers [&_input]:max-w-40"
        {...from}
        problem={valid ? from.problem : "A position is a whole number."}
      />
    </FormDialog>
  );
}
