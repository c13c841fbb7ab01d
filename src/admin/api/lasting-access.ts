// What apps must not do, since it would outlast the consent of their user.

import { isInPerson } from '../../people/sign-in/person-token.ts'
import type { Token } from '../../store/records/records.ts'
import { type ApiResponse, failure } from '../http/envelope.ts'

/**
 * Whether an operation leaves access behind that no longer depends on the app's grant: new or redirected
 * credentials, and changes of what members may do or of what protects these. Every row that writes must state
 * it.
 */
export type LastingAccess = 'nothing' | LastingEffect

export interface LastingEffect {
  /** What an app cannot do, as it follows "an app cannot". */
  readonly cannot: string
  /** `always`: the guard refuses apps; `found`: the handler finds out. */
  readonly when: 'always' | 'found'
}

/** States that apps can make no request of a row. */
export function always(cannot: string): LastingEffect {
  return { cannot, when: 'always' }
}

/** Refuses an action to an app, by an access token of OAuth; null for people and API tokens. */
export function refusedToApps(
  { actor }: Pick<Token, 'actor'>,
  { cannot }: LastingEffect,
): ApiResponse | null {
  return actor === undefined || isInPerson(actor) ? null : failure('outlasts_grant', cannot)
}
