// Where a person continues after signing in: a path of ours, never another site.

const maxLength = 4096

/** Returns the path with its query if browsers read it as a path here, else the fallback. */
export function safeReturnPath(text: string | null | undefined, fallback: string): string {
  if (text == null || text.length > maxLength || !/^\/[\x21-\x7e]*$/.test(text)) return fallback
  // A text with another host, a backslash or dots is not read as it was written.
  const url = URL.parse(text, 'http://own.invalid')
  return url !== null && url.pathname + url.search + url.hash === text ? text : fallback
}
