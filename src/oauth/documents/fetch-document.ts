// Fetches the document of an OAuth client, and its keys where they are elsewhere, by one set of rules.

import { type GuardedClient, type GuardedResponse, RequestFailure } from '../../net/http/guarded-client.ts'
import { KiB } from '../../base/units.ts'
import type { DocumentFault } from '../clients/document-fault.ts'
import { documentUrlFault, isOnHosts } from '../clients/document-url.ts'
import type { DocumentKey } from '../../store/records/oauth-client.ts'
import { freshnessOf } from './freshness.ts'
import { parseJson, type ReadDocument, readDocument, readKeys } from './read-document.ts'
import { withoutOws } from '../../base/text/ows.ts'

/** Bytes of a document, as the draft recommends (section 8.7). */
export const maxDocument = 5 * KiB
/** Ms for all of a fetch. */
const timeout = 5_000

export interface FetchedDocument extends Omit<ReadDocument, 'keys'> {
  /** Empty if the client has none. */
  readonly keys: readonly DocumentKey[]
  /** When it must be fetched again, in ms since the epoch. */
  readonly expiresAt: number
}

interface FetchParts {
  readonly client: Pick<GuardedClient, 'request'>
  readonly hosts: readonly string[]
}

/** Never rejects; `now` is in ms. */
export async function fetchDocument(
  url: string,
  parts: FetchParts,
  now: number,
): Promise<FetchedDocument | DocumentFault> {
  const signal = AbortSignal.timeout(timeout)
  const response = await get(url, 'client_id', 'the document', parts, signal)
  if ('fault' in response) return response
  const document = readDocument(url, response.body)
  if (typeof document === 'string') return invalid(document)
  const { settings, scopes, keys } = document
  const expiresAt = now + freshnessOf(response.headers, now)
  if (keys === null) return { settings, scopes, keys: [], expiresAt }
  if ('set' in keys) return { settings, scopes, keys: keys.set, expiresAt }
  const set = await get(keys.uri, 'jwks_uri', 'the key set', parts, signal)
  // The document is still there.
  if ('fault' in set) return set.fault === 'gone' ? { ...set, fault: 'invalid' } : set
  const read = readKeys(parseJson(set.body))
  if (typeof read === 'string') return invalid(`the key set ${read}`)
  return { settings, scopes, keys: read, expiresAt }
}

/** Returns the rule that a URL breaks, so that it is not fetched, or null. */
export function faultOfUrl(url: string, name: string, hosts: readonly string[]): DocumentFault | null {
  const fault = documentUrlFault(url)
  if (fault !== null) return invalid(`${name} ${fault}`)
  if (isOnHosts(url, hosts)) return null
  return invalid(`${name} must be on a host that this server allows for documents of clients`)
}

type Whole = Pick<GuardedResponse, 'headers'> & { readonly body: Buffer }

async function get(
  url: string,
  name: string,
  what: string,
  { client, hosts }: FetchParts,
  signal: AbortSignal,
): Promise<Whole | DocumentFault> {
  const fault = faultOfUrl(url, name, hosts)
  if (fault !== null) return fault
  try {
    const headers = { accept: 'application/json', 'accept-encoding': 'identity' }
    const response = await client.request(url, { method: 'GET', headers }, signal)
    return wholeOf(response, what)
  } catch (failure) {
    if (!(failure instanceof RequestFailure)) throw failure
    const { kind, message } = failure
    const reason = `${what} could not be fetched: ${message}`
    return { fault: kind === 'prohibited' ? 'invalid' : 'unreachable', reason }
  }
}

function wholeOf({ status, headers, body }: GuardedResponse, what: string): Whole | DocumentFault {
  if (status === 404 || status === 410)
    return { fault: 'gone', reason: `${what} does not exist: its status is ${status}` }
  if (status >= 500 || status === 429)
    return { fault: 'unreachable', reason: `${what} must come with the status 200, not ${status}` }
  if (status !== 200) return invalid(`${what} must come with the status 200, not ${status}`)
  const type = withoutOws((headers['content-type'] ?? '').split(';')[0]!).toLowerCase()
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type))
    return invalid(`${what} must have the type application/json`)
  const { 'content-encoding': coding = 'identity' } = headers
  if (coding !== 'identity') return invalid(`${what} must not be compressed`)
  return body === null ? invalid(`${what} must have at most ${maxDocument} bytes`) : { headers, body }
}

function invalid(reason: string): DocumentFault {
  return { fault: 'invalid', reason }
}
