// Where a person goes on after signing in: a path of ours, never another site.

const most = 4096

/** Returns the path with its query if it leads to this origin under any reading, else the fallback. */
export function safeNext(text: string | null | undefined, fallback: string): string {
  if (text == null || text.length > most || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return fallback
  // Browsers read a backslash as a slash, and take dots out of a path: what changes when it is read was not written by us.
  if (text.includes('\\')) return fallback
  const base = 'http://own.invalid'
  const url = URL.parse(text, base)
  return url !== null && url.origin === base && url.pathname + url.search + url.hash === text
    ? text
    : fallback
}
