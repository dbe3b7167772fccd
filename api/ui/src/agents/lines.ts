// The command lines by which an agent comes to be.

import { quoted } from "../requests/road";

/** Makes a key and registers it; the secret half stays where the agent runs. */
export function keyLines(name: string): string {
  const file = quoted(`${name}.pem`);
  return `weir agent keygen ${file}\nweir agent register ${quoted(name)} --key ${file} --with-token`;
}
