// What may be shown of a request in question: it may carry credentials in any place.

import { holdsOurs } from '../../tokens/misplaced-tokens.ts'

/** Characters of a text that are shown. */
const maxLength = 300

/** Returns a text to show; null if it holds a credential of this gateway. */
export function redacted(text: string): string | null {
  if (holdsOurs(text)) return null
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/** Like `redacted`, for a path without its query; null if it is not a path. */
export function redactedPath(text: string): string | null {
  return text.startsWith('/') || text === '*' ? redacted(text) : null
}
