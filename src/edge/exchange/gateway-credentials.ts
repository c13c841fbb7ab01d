// Credentials of this gateway in requests to origins, which could act as their owner. Only our own side port
// gets them.

import { isIP } from 'node:net'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { field } from '../../http1/fields/fields.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { placeInField, placeInLine } from '../../tokens/misplaced-tokens.ts'
import { audienceAt } from '../ai-call/audience-of-call.ts'
import type { LastRequest } from './request-reuse.ts'
import type { Exchange } from './exchange.ts'
import { isSidePort } from '../resolver/own-addresses.ts'

/** Requests that may go to the side port are checked again by its address. */
export function withholdCredentials(x: Exchange): Refusal | null {
  if (x.route!.config.own !== undefined) return null
  const place = placeIn(x.outgoing, x.client.last)
  if (place === null) return null
  x.credentialPlace = place
  return mayReachSidePort(x) ? null : refuseCredential(x, place)
}

/** Likewise, before a gate has taken the token in Authorization. */
export function withholdOthers(x: Exchange): Refusal | null {
  const { fields, ids } = x.head
  let place = placeInLine(x.head)
  for (let i = 0; place === null && i < ids.length; i++)
    place = placeInField(fields[2 * i]!, fields[2 * i + 1]!, ids[i] === field.authorization)
  return place === null ? null : refuseCredential(x, place)
}

/** Refuses such a request unless the address is that of the side port. */
export function withholdCredentialsFrom(x: Exchange, address: string): Refusal | null {
  const place = x.credentialPlace
  if (place === null || isSidePort(x.plane.sidePort, address, x.origin!.config.port)) return null
  return refuseCredential(x, place)
}

function placeIn(head: RequestHead, last: LastRequest): string | null {
  const place = placeInLine(head)
  if (place !== null) return place
  if (last.searchedIds !== head.ids) search(head, last)
  return last.credentialPlace
}

/** Skips lines of the last request: over HTTP/2, equal ones are the same objects. */
function search({ fields, ids, version }: RequestHead, last: LastRequest): void {
  const before = last.searchedFields
  let place: string | null = null
  for (let i = 0; place === null && i < fields.length; i += 2)
    if (fields[i + 1] !== before[i + 1] || fields[i] !== before[i])
      place = placeInField(fields[i]!, fields[i + 1]!, false)
  last.searchedIds = ids
  last.searchedFields = place === null && version === '2' ? fields : noFields
  last.credentialPlace = place
}

const noFields: readonly string[] = []

/** Whether all of the pool may be the side port; names are not resolved yet. */
function mayReachSidePort({ route, plane }: Exchange): boolean {
  const { sidePort } = plane
  return route!.pool.members.every(({ target }) => {
    const { host, port } = target.config
    if (isIP(host) !== 0) return isSidePort(sidePort, host, port)
    return port === sidePort?.endpoint.port || port === sidePort?.issuer?.port
  })
}

function refuseCredential(x: Exchange, place: string): Refusal {
  x.audience = audienceAt(x.head.target)
  // Pages do not escape it, and a name may have more characters than letters.
  const label = isPlain.test(place) ? place : 'a header'
  const detail = `The request has a credential of this gateway in ${label}, and its host and path lead to an origin, which must not see it. The gateway has sent nothing. ${placesFor(x)}`
  const wording = { heading: 'A credential in the wrong place', detail, guidance, isOfRequest: true }
  return refuse('bad_request', { wording }, { code: 'credential of the gateway' })
}

const guidance =
  '**Do not retry as it is.** Correct the base URL of your program, or take the credential out. If others may have seen it, have it revoked.'

function placesFor({ snapshot: { ai }, plane, host }: Exchange): string {
  const issuer = plane.ai?.issuer ?? null
  const others = `OAuth belongs to ${issuer ?? 'the authorization server'}, and everything else to the management API on the side port.`
  if (ai === null) return `This gateway has no AI routes. ${others}`
  const hosts = ai.hosts.has(host) ? 'this host' : `the host ${listed([...ai.hosts])}`
  return `AI calls belong to ${hosts}, under /client/v4/accounts/{account}/ai/ or /v1/{account}/. ${others}`
}

const maxHosts = 3

function listed(hosts: readonly string[]): string {
  return hosts.slice(0, maxHosts).join(' or ')
}

const isPlain = /^[\w -]*$/
