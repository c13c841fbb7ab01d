// Whose calls a response may be reused for.

import type { KeyPart } from '../../answers/answer-key.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'

/** Never wider than one token, or one user of an app, for a key of the caller: others could guess it. */
export function scopeOf({ gateway, token }: AiExchange, hasOwnKey: boolean): readonly KeyPart[] {
  if (token === null) return anyone
  const scope = hasOwnKey ? 'token' : (gateway!.cacheScope ?? 'token')
  if (scope === 'shared') return shared
  const { actor } = token
  if (actor === undefined) return ['token', token.id, null]
  return ['app', actor.client, scope === 'app' ? null : actor.user]
}

const anyone: readonly KeyPart[] = ['anyone', null, null]
const shared: readonly KeyPart[] = ['shared', null, null]
