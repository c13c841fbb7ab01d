// What of a request in question may be shown: it may carry credentials in any place.

import { holdsOurs } from '../../tokens/misplaced-tokens.ts'

/** The most characters of a text that are shown. */
const longest = 300

/** Returns a text as it may be shown; null where it holds a credential of this gateway. */
export function shown(text: string): string | null {
  if (holdsOurs(text)) return null
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

/** As `shown`, for a path without its query; null for what is none. */
export function shownPath(text: string): string | null {
  return text.startsWith('/') || text === '*' ? shown(text) : null
}
