// Where Weir is mounted: `/`, or the prefix of a proxy. Read from our own address, because the build is relative and
// the server's policy allows neither an inline script nor a <base>.

const here: string = import.meta.url;

/** Path prefix with a slash at both ends. */
export const ROOT = /^https?:/.test(here) && !import.meta.env.DEV ? new URL("../", here).pathname : "/";

/** Address of an API resource: `api("events/7")`. */
export function api(path: string): string {
  return `${ROOT}api/${path}`;
}

/** Absolute address of a path below the mount point, for people to copy. */
export function absolute(path: string): string {
  return new URL(ROOT + path, window.location.origin).href;
}
