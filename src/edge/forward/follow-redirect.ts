// Redirects that the gateway follows: only to the same route, so that it cannot be sent elsewhere.

import { equalsIgnoreCase, firstValue } from '../../http1/fields/fields.ts'
import { RequestHead } from '../../http1/heads/request-head.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { accessRefusal } from '../steps/admit.ts'
import { Exchange } from '../exchange/exchange.ts'
import { locate } from '../steps/locate.ts'
import { isCountedByPath } from '../meter/meter.ts'
import { holdsOurs } from '../../tokens/misplaced-tokens.ts'

/** RFC 9110 section 15.4; null if there is none, or only the client may follow. */
export function redirected(x: Exchange, head: ResponseHead): RequestHead | null {
  if (!redirects.has(head.status) || x.upgrade !== 'none') return null
  // Only the client can keep a cookie, which may be the purpose of a login.
  if (firstValue(head.fields, 'set-cookie') !== null) return null
  const target = targetOf(x, locationOf(head))
  if (target === null || target.length > x.snapshot.limits.url) return null
  const request = requestFor(x.outgoing, head.status, target)
  return leadsBack(x, request) ? request : null
}

export class RedirectTrail {
  readonly #visited: Set<string>

  constructor(first: RequestHead) {
    this.#visited = new Set([visitOf(first)])
  }

  /** False after `max` requests, and for a repeated one. */
  goOn(request: RequestHead, max: number): boolean {
    const visit = visitOf(request)
    if (this.#visited.size > max || this.#visited.has(visit)) return false
    this.#visited.add(visit)
    return true
  }
}

function visitOf({ method, target }: RequestHead): string {
  return `${method} ${target}`
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function locationOf({ fields }: ResponseHead): string | null {
  let location: string | null = null
  for (let i = 0; i < fields.length; i += 2) {
    if (!equalsIgnoreCase(fields[i]!, 'location')) continue
    if (location !== null) return null
    location = fields[i + 1]!
  }
  return location !== null && /^[\x21-\x7e]+$/.test(location) ? location : null
}

/** On the host that the client requested, or on the origin. */
function targetOf(x: Exchange, location: string | null): string | null {
  const { scheme } = x
  const requested = `${scheme}://${x.head.host ?? x.origin!.authority}`
  const url = location === null ? null : URL.parse(location, requested + x.outgoing.target)
  if (url === null) return null
  const isOurs = url.origin === URL.parse(requested)?.origin || url.origin === x.origin!.config.url
  return isOurs && url.username === '' && url.password === '' ? url.pathname + url.search : null
}

function requestFor(from: RequestHead, status: number, target: string): RequestHead {
  const request = Object.assign(new RequestHead(), from, { target })
  const losesBody = status === 303 ? from.method !== 'HEAD' : status <= 302 && from.method === 'POST'
  if (!losesBody || from.method === 'GET') return request
  const stays = from.ids.map((_, i) => !isOfContent(from.fields[2 * i]!))
  return Object.assign(request, {
    method: 'GET',
    contentLength: -1,
    chunked: false,
    fields: from.fields.filter((_, i) => stays[i >> 1]),
    ids: from.ids.filter((_, i) => stays[i]),
  })
}

/** A request that becomes GET loses these fields. */
function isOfContent(name: string): boolean {
  return /^(content-.+|digest|repr-digest|last-modified|trailer)$/i.test(name)
}

/**
 * Fails for routes that rewrite paths or whose authorizer has agreed to another one, and for limits on paths,
 * which would count the request.
 */
function leadsBack(x: Exchange, request: RequestHead): boolean {
  const { config, gates } = x.route!
  if (config.rewrite?.path || gates?.some(({ kind }) => kind === 'forward')) return false
  const trial = new Exchange(x.plane, x.client, request, x.requestBody, x.ray, x.snapshot)
  trial.host = x.host
  return (
    !holdsOurs(request.target) &&
    locate(trial) === null &&
    !trial.asksForPreview &&
    trial.route === x.route &&
    accessRefusal(trial) === null &&
    !isCountedByPath(trial)
  )
}
