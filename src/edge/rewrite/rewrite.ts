// What a route changes in a request before it is sent to its origin, and in the response.

import type { Facts } from '../../expression/expression.ts'
import type { Tally } from '../../metrics/counters/distribution.ts'
import type { Read } from '../../expression/readings.ts'
import type { RewriteConfig } from '../../config/model/rewrite-config.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { type HeadLimits, RequestHead } from '../../http1/heads/request-head.ts'
import { HeaderChanges, HeaderRules } from './headers.ts'
import { PathRule } from './path.ts'

interface RewritableRequest extends Read {
  readonly head: RequestHead
  outgoing: RequestHead
  requestChanges: HeaderChanges | null
  responseChanges: HeaderChanges | null
}

export class Rewrite {
  readonly #path: PathRule | null
  readonly #request: HeaderRules | null
  readonly #response: HeaderRules | null

  /** Throws if an expression does not compile. */
  constructor({ path, requestHeaders, responseHeaders }: RewriteConfig, failures: Tally) {
    this.#path = path === null ? null : new PathRule(path, failures)
    this.#request = requestHeaders.length === 0 ? null : new HeaderRules(requestHeaders, 'request', failures)
    this.#response =
      responseHeaders.length === 0 ? null : new HeaderRules(responseHeaders, 'response', failures)
  }

  /** Refuses with 400, 1035 to 1038, 1041. Changes of the response must fail before an origin has acted. */
  begin(x: RewritableRequest, facts: Facts, limits: HeadLimits): Refusal | null {
    const { head, outgoing } = x
    const target = this.#path === null ? head.target : this.#path.targetFor(head.target, facts, x, limits.url)
    if (typeof target !== 'string') return target
    const forRequest = changes(this.#request, facts, x)
    if (forRequest !== null && !(forRequest instanceof HeaderChanges)) return forRequest
    const forResponse = changes(this.#response, facts, x)
    if (forResponse !== null && !(forResponse instanceof HeaderChanges)) return forResponse
    x.requestChanges = forRequest
    if (forResponse !== null) x.responseChanges = forResponse.and(x.responseChanges)
    x.outgoing = Object.assign(new RequestHead(), outgoing, forRequest?.applyTo(outgoing), { target })
    return sizeOf(x.outgoing) > limits.headerSection ? refuse('http_headers_exceed_limit') : null
  }
}

function changes(rules: HeaderRules | null, facts: Facts, read: Read): HeaderChanges | Refusal | null {
  return rules === null ? null : rules.evaluate(facts, read)
}

/** A lower bound, which an unchanged head within the limit never exceeds. */
function sizeOf(head: RequestHead): number {
  const { fields } = head
  let size = head.method.length + head.target.length + '  HTTP/1.1\r\n\r\n'.length
  for (let i = 0; i < fields.length; i += 2)
    size += fields[i]!.length + fields[i + 1]!.length + ':\r\n'.length
  return size
}
