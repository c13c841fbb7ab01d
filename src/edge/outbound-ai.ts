// An AI call as its provider will see it: what the caller sent less what ends here, the provider's credential, and nothing of the client behind the gateway.
// Called by `outbound.ts`.
import { crosses, equalsIgnoreCase } from '../http1/fields.ts'
import type { RequestHead } from '../http1/request-head.ts'
import type { Provider } from '../ai/providers.ts'
import type { Pool } from '../zones/pool.ts'
import { isForGateway } from './ai-fields.ts'
import type { AiExchange } from './ai-exchange.ts'

/** Writes the fields that go on, and those that the gateway adds: a credential of ours only where the caller brought none that may pass. */
export function providerFields(head: RequestHead, ai: AiExchange, keys: Pool<string>): string {
  const provider = ai.provider!
  // On REST routes Authorization is the gateway's own, and none but our keys are for the provider.
  const mayBring = ai.target.api !== 'rest'
  const { fields, ids, hopByHop } = head
  let lines = ''
  let hasCredential = false
  for (let i = 0; i < ids.length; i++) {
    const name = fields[2 * i]!
    if (!crosses(ids[i]!, 'request') || isForGateway(name) || hopByHop?.has(name.toLowerCase())) continue
    const isCredential = isOneOf(name, provider.credentialFields) || equalsIgnoreCase(name, 'authorization')
    if (isCredential && !mayBring) continue
    if (ai.rewriting !== null && equalsIgnoreCase(name, 'accept-encoding')) continue
    hasCredential ||= isCredential
    lines += `${name}: ${fields[2 * i + 1]}\r\n`
  }
  if (ai.rewriting !== null) lines += 'Accept-Encoding: identity\r\n'
  if (!hasCredential && !hasKeyInQuery(ai.path, provider.credentialParameter))
    lines += credential(provider, keys)
  return lines + defaults(provider, fields)
}

function hasKeyInQuery(path: string, parameter: string | null): boolean {
  return parameter !== null && (path.includes(`?${parameter}=`) || path.includes(`&${parameter}=`))
}

function credential({ keyField, keyPrefix }: Provider, keys: Pool<string>): string {
  const key = keys.next()
  return key === null ? '' : `${keyField}: ${keyPrefix}${key}\r\n`
}

function defaults({ defaultFields }: Provider, fields: readonly string[]): string {
  let lines = ''
  for (const [name, value] of defaultFields) if (!isSent(name, fields)) lines += `${name}: ${value}\r\n`
  return lines
}

function isSent(name: string, fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2) if (equalsIgnoreCase(fields[i]!, name)) return true
  return false
}

function isOneOf(name: string, known: readonly string[]): boolean {
  for (const one of known) if (equalsIgnoreCase(name, one)) return true
  return false
}
