// The key under which a rate limit counts a request.

import { hash } from 'node:crypto'
import { clientKey } from '../../net/address/client-key.ts'
import type { LimitKey } from '../../config/model/limit-config.ts'
import { equalsIgnoreCase } from '../../http1/fields/fields.ts'
import { token68Of } from '../../tokens/bearer.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { bearerField, type Once, repeated } from '../ai-call/request-fields.ts'
import { factsOf } from '../exchange/facts.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Differs for clients that are counted separately. No value of a client equals the address of another. */
export function keyOf(x: Exchange, parts: readonly LimitKey[]): string {
  // All requests of a connection share one string.
  if (parts.length === 1 && parts[0]!.by === 'address') return clientKey(x.clientAddress)
  let key = ''
  for (const part of parts) key += `${cachedPart(x, part)}\n`
  return key
}

/** One for each other reading of the path by origins. */
export function otherKeysOf(x: Exchange, parts: readonly LimitKey[]): readonly string[] {
  const { paths } = x
  if (paths === null || paths.length === 1 || !parts.some(({ by }) => by === 'path')) return none
  return paths.slice(1).map(path => {
    let key = ''
    for (const part of parts)
      key += `${part.by === 'path' ? shortOf('path', `path ${path}`) : cachedPart(x, part)}\n`
    return key
  })
}

const none: readonly string[] = []

/** Caches a short copy per request: a value may be as long as a whole head. */
function cachedPart(x: Exchange, part: LimitKey): string {
  const name = part.by === 'header' ? `header ${part.name}` : part.by
  const cached = x.keyParts?.get(name)
  if (cached !== undefined) return cached
  const value = partOf(x, part)
  const short = shortOf(name, value)
  x.keyParts ??= new Map()
  x.keyParts.set(name, short)
  return short
}

function shortOf(name: string, value: string): string {
  return value.length > maxLength ? `${name} ${hash('sha256', value, 'base64url')}` : value
}

const maxLength = 200

function partOf(x: Exchange, part: LimitKey): string {
  switch (part.by) {
    case 'address':
      return clientKey(x.clientAddress)
    case 'path':
      return `path ${factsOf(x).request.path}`
    case 'token':
      return prefixed('token ', tokenOf(x)) ?? clientKey(x.clientAddress)
    case 'app':
      return appOf(x) ?? clientKey(x.clientAddress)
    case 'header':
      return prefixed('field ', fieldOf(x, part.name)) ?? clientKey(x.clientAddress)
    case 'subject':
      return prefixed('subject ', x.admission?.subject ?? null) ?? clientKey(x.clientAddress)
  }
}

/** Null if the call needed no token. */
function appOf({ ai }: Exchange): string | null {
  const token = ai?.token ?? null
  if (token === null) return null
  return token.actor === undefined ? `token ${token.id}` : `app ${token.actor.client}`
}

function prefixed(prefix: string, value: Once): string | null {
  return typeof value === 'string' ? prefix + value : null
}

/** Only of the one field that authenticates a request: others could be made up freely. */
function tokenOf(x: Exchange): string | null {
  const { ai } = x
  if (ai !== null && bearerField(ai.target, ai.fields) === 'x-api-key') return onceOnly(ai.fields.apiKey)
  const field = onceOnly(ai === null ? fieldOf(x, 'authorization') : credentialOf(ai))
  return field === null ? null : token68Of(field)
}

function onceOnly(field: Once): string | null {
  return field === repeated ? null : field
}

function credentialOf({ target, fields }: AiExchange): Once {
  const { authorization, gatewayAuthorization } = fields
  return target.api === 'rest' || gatewayAuthorization === null ? authorization : gatewayAuthorization
}

/** Of two, only one would be counted, and both are forwarded. */
function fieldOf({ head: { fields } }: Exchange, name: string): Once {
  let value: string | null = null
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i]!.length !== name.length || !equalsIgnoreCase(fields[i]!, name)) continue
    if (value !== null) return repeated
    value = fields[i + 1]!
  }
  return value
}
