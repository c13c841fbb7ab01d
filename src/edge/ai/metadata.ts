// What a caller without a token learns: the challenge of a refusal, and its metadata (RFC 9728).

import { withoutQuery } from '../../base/path/path.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { safetyHeaders } from '../../errors/audience/safety-headers.ts'
import { challengeOf, metadataOf, metadataPath, resourceAt } from '../../oauth/grants/protected-resource.ts'
import { isAmongAiRoutes } from '../../ai/target.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { publicHost, publicOrigin } from '../exchange/public-origin.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'

export const runScope = 'ai_gateway.run'

type TokenError = 'invalid_token' | 'insufficient_scope' | null

/** In a flood of refused calls it is mostly the same. */
interface Challenge {
  readonly host: string | null
  readonly isSecure: boolean
  readonly hasIssuer: boolean
  /** Null on short routes. */
  readonly account: string | null
  /** Null on REST routes. */
  readonly gateway: string | null
  readonly error: TokenError
  readonly text: string
}

let last: Challenge | null = null

/** `error` says what is wrong with the token (RFC 6750 section 3.1). */
export function challengeFor(x: Exchange, error: TokenError): string {
  const { target } = x.ai!
  const { account } = target
  const gateway = target.api === 'rest' ? null : target.gateway
  const host = publicHost(x)
  const isSecure = x.scheme === 'https'
  const hasIssuer = Boolean(x.plane.ai!.issuer)
  if (
    last?.host === host &&
    last.account === account &&
    last.gateway === gateway &&
    last.error === error &&
    last.isSecure === isSecure &&
    last.hasIssuer === hasIssuer
  )
    return last.text
  const origin = hasIssuer ? publicOrigin(x) : null
  const pathname = gateway === null ? restBase(account) : `/v1/${account}/${gateway}`
  const resource = origin === null ? null : { origin, pathname }
  const text = challengeOf({ resource, scope: runScope, error })
  last = { host, isSecure, hasIssuer, account, gateway, error, text }
  return text
}

const shortBase = '/v1'

function restBase(account: string | null): string {
  return account === null ? shortBase : `/client/v4/accounts/${account}/ai`
}

/** On a host that a zone shares, the rest of the metadata may be about the site. */
export function asksForMetadata(
  { head }: Exchange,
  isShared: boolean,
  hasShortRoutes: () => boolean,
): boolean {
  const { target } = head
  if (!target.startsWith(metadataPath)) return false
  const rest = target.slice(metadataPath.length)
  const path = withoutQuery(rest)
  if (path === shortBase) return hasShortRoutes()
  return isAmongAiRoutes(`${path}/`) || (!isShared && /^([/?]|$)/.test(rest))
}

/**
 * Serves metadata (RFC 9728 section 3.2), and with 204 what comes before calls, without a token: HEAD of a
 * base URL, and preflights of browsers.
 */
export function describeAi(x: Exchange): Refusal | 'responded' | null {
  if (x.isOpening) return respondToOpening(x)
  if (!x.asksForMetadata) return null
  const issuer = x.plane.ai?.issuer ?? null
  const origin = publicOrigin(x)
  const path = withoutQuery(x.head.target.slice(metadataPath.length))
  const resource = issuer === null || origin === null ? null : resourceAt(origin, path)
  if (resource === null) return refuse('not_found')
  const { method } = x.head
  if (method !== 'GET' && method !== 'HEAD') return { ...refuse('method_not_allowed'), allow: 'GET, HEAD' }
  respondWithJson(x, metadataOf(resource, 'ai', issuer!))
  return 'responded'
}

/** `freshness` is a line of Cache-Control. */
export function respondWithJson(x: Exchange, body: string, freshness = 'Cache-Control: no-store\r\n'): void {
  x.status = 200
  const content = x.head.method === 'HEAD' ? '' : body
  x.bytesOut = content.length
  x.client.respond(x, { status: 200, reason: 'OK', lines: linesFor(x, body.length, freshness) }, content)
  x.client.finish(x)
}

function respondToOpening(x: Exchange): 'responded' {
  x.status = 204
  x.client.respond(
    x,
    { status: 204, reason: 'No Content', lines: `Cache-Control: no-store\r\n${ownLines(x)}` },
    '',
  )
  x.client.finish(x)
  return 'responded'
}

function linesFor(x: Exchange, length: number, freshness: string): string {
  const about = `Content-Type: application/json\r\nContent-Length: ${length}\r\n${freshness}Access-Control-Allow-Origin: *\r\n`
  return `${about}${safetyLines}${ownLines(x)}`
}

function ownLines(x: Exchange): string {
  return `svc-ray: ${x.ray}\r\n${x.addedLines}${ownStatusLines(x)}Date: ${x.plane.date()}\r\n`
}

const safetyLines = safetyHeaders.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('')
