// What an app must not do, since it would outlast what its user allowed: what is left of a grant that has ended must open nothing here.

import { isInPerson } from '../people/person-token.ts'
import type { Token } from '../store/records.ts'
import { type ApiResponse, failure } from './envelope.ts'

/**
 * Whether an operation leaves behind a way to act here without the grant by which an app asks for it: in the management API, at the AI gateways, or as a person or
 * client of OAuth. Credentials do, so do the places that they are sent to, what members may do, and what guards any of these. What an app deletes, ends or restricts does
 * not, nor what it sets for visitors of a zone, which opens nothing here. Each row that is not read states it.
 */
export type Outlasting = 'nothing' | Lasting

export interface Lasting {
  /** What an app cannot do, as it follows "an app cannot". */
  readonly cannot: string
  /** Which requests of the row do it: each, so that the guard refuses apps, or those in which the handler finds it. */
  readonly when: 'always' | 'found'
}

/** States that every request of a row does what an app cannot. */
export function always(cannot: string): Lasting {
  return { cannot, when: 'always' }
}

/** Refuses an app, by an access token of OAuth, to do something; null for people and API tokens. */
export function refusedToApps({ actor }: Pick<Token, 'actor'>, { cannot }: Lasting): ApiResponse | null {
  return actor === undefined || isInPerson(actor) ? null : failure('outlasts_grant', cannot)
}
