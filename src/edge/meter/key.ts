// What a request is counted by: the key of a rate limit.

import { hash } from 'node:crypto'
import { clientKey } from '../../base/address/client-key.ts'
import type { LimitKey } from '../../config/limit-config.ts'
import { equalsIgnoreCase } from '../../http1/fields.ts'
import { token68Of } from '../../tokens/bearer.ts'
import type { AiExchange } from '../ai/ai-exchange.ts'
import { type Once, repeated } from '../ai/ai-fields.ts'
import { factsOf } from '../exchange-facts.ts'
import type { Exchange } from '../exchange.ts'

/** Returns the text that tells those apart who are counted apart. What a client says of itself never gives the same as the address of another. */
export function keyOf(x: Exchange, parts: readonly LimitKey[]): string {
  // As it is in nearly all rules, and then the same text for all requests of a connection.
  if (parts.length === 1 && parts[0]!.by === 'address') return clientKey(x.clientAddress)
  let key = ''
  for (const part of parts) key += `${knownPart(x, part)}\n`
  return key
}

/** Returns the keys that the request has beside `keyOf` where it counts by path and origins may read that in several ways: one for each reading. */
export function otherKeysOf(x: Exchange, parts: readonly LimitKey[]): readonly string[] {
  const { paths } = x
  if (paths === null || paths.length === 1 || !parts.some(({ by }) => by === 'path')) return none
  return paths.slice(1).map(path => {
    let key = ''
    for (const part of parts)
      key += `${part.by === 'path' ? shortOf('path', `path ${path}`) : knownPart(x, part)}\n`
    return key
  })
}

const none: readonly string[] = []

/** Finds each part once a request, however many rules count by it, and keeps a short text of it: a value may be as long as a whole head. */
function knownPart(x: Exchange, part: LimitKey): string {
  const name = part.by === 'header' ? `header ${part.name}` : part.by
  const known = x.keyParts?.get(name)
  if (known !== undefined) return known
  const found = partOf(x, part)
  const short = shortOf(name, found)
  x.keyParts ??= new Map()
  x.keyParts.set(name, short)
  return short
}

function shortOf(name: string, found: string): string {
  return found.length > longest ? `${name} ${hash('sha256', found, 'base64url')}` : found
}

const longest = 200

function partOf(x: Exchange, part: LimitKey): string {
  switch (part.by) {
    case 'address':
      return clientKey(x.clientAddress)
    case 'path':
      return `path ${factsOf(x).request.path}`
    case 'token':
      return marked('token ', tokenOf(x)) ?? clientKey(x.clientAddress)
    case 'header':
      return marked('field ', fieldOf(x, part.name)) ?? clientKey(x.clientAddress)
  }
}

function marked(mark: string, value: Once): string | null {
  return typeof value === 'string' ? mark + value : null
}

/** Returns what a request bears in the one field that authenticates it: any other is made up for nothing. */
function tokenOf(x: Exchange): string | null {
  const field = x.ai === null ? fieldOf(x, 'authorization') : credentialOf(x.ai)
  return typeof field === 'string' ? token68Of(field) : null
}

/** Gateways that ask for no token are told apart by what callers bring for the provider. */
function credentialOf({ target, fields }: AiExchange): Once {
  const { authorization, gatewayAuthorization } = fields
  return target.api === 'rest' || gatewayAuthorization === null ? authorization : gatewayAuthorization
}

/** Returns a field that came once: of two only one would be counted by, and both are sent on. */
function fieldOf({ head: { fields } }: Exchange, name: string): Once {
  let found: string | null = null
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i]!.length !== name.length || !equalsIgnoreCase(fields[i]!, name)) continue
    if (found !== null) return repeated
    found = fields[i + 1]!
  }
  return found
}
