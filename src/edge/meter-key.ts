// What a request is counted by: the key of a rate limit. Called by `meter.ts`.
import { isPlainPath, normalPath } from '../base/path.ts'
import type { LimitKey } from '../config/limit-config.ts'
import { equalsIgnoreCase } from '../http1/fields.ts'
import { bearerOf } from '../tokens/bearer.ts'
import type { Exchange } from './exchange.ts'

/** Gives the text that tells those apart who are counted apart. What a client says of itself never gives the same as the address of another. */
export function keyOf(x: Exchange, parts: readonly LimitKey[]): string {
  // As it is in nearly all rules, and then the same text for all requests of a connection.
  if (parts.length === 1 && parts[0]!.by === 'address') return x.clientAddress
  let key = ''
  for (const part of parts) key += `${partOf(x, part)}\n`
  return key
}

function partOf(x: Exchange, part: LimitKey): string {
  switch (part.by) {
    case 'address':
      return x.clientAddress
    case 'path':
      return `path ${pathOf(x.head.target)}`
    case 'token':
      return marked('token ', tokenOf(x)) ?? x.clientAddress
    case 'header':
      return marked('field ', fieldOf(x, part.name)) ?? x.clientAddress
  }
}

function marked(mark: string, value: string | null): string | null {
  return value === null ? null : mark + value
}

function pathOf(target: string): string {
  if (!isPlainPath(target)) return normalPath(target)
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/** On AI hosts the token for the gateway comes first: the other may be that of a provider, which many share. */
function tokenOf(x: Exchange): string | null {
  const [first, second] = x.aiCaller === null ? FOR_ZONES : FOR_GATEWAYS
  return bearerOf(fieldOf(x, first)) ?? bearerOf(fieldOf(x, second))
}

const FOR_ZONES = ['authorization', 'svc-aig-authorization'] as const
const FOR_GATEWAYS = ['svc-aig-authorization', 'authorization'] as const

function fieldOf({ head: { fields } }: Exchange, name: string): string | null {
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i]!.length === name.length && equalsIgnoreCase(fields[i]!, name)) return fields[i + 1]!
  }
  return null
}
