// Redacts what is shown of a request in question, which may carry credentials in any place.

import { holdsOurs } from '../../tokens/misplaced-tokens.ts'

const maxLength = 300

/** Returns a text to show; null if it holds a credential of this gateway. */
export function redacted(text: string): string | null {
  if (holdsOurs(text)) return null
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/** Without the query; null if it is not a path. */
export function redactedPath(text: string): string | null {
  return text.startsWith('/') || text === '*' ? redacted(text) : null
}
