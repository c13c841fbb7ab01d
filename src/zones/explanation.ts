// A step-by-step explanation of what would happen to a request: the question, and the result in the terms of
// the management API. Plain data that can be sent between processes.

import type { ContentCoding } from '../config/model/compression-config.ts'
import type { HttpVersions } from '../config/model/pool-config.ts'

export interface RequestInQuestion {
  /** The zone that the explanation may cover, and the account that owns it. */
  readonly zone: string
  readonly account: string
  readonly method: string
  /** The request target: a path with its query, an absolute URL, or `*`. */
  readonly target: string
  readonly host: string | null
  /** Header fields in order, without Host. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly address: string
  /** Null if the request has none, or it is unknown. */
  readonly body: string | null
  /** In bytes; null if no length is announced. */
  readonly bodySize: number | null
  /** The client certificate, PEM, treated as accepted by the zone; null for none. */
  readonly clientCertificate: string | null
}

/** The result: an explanation, or what the request concerns that the caller may not see. */
export type Explained = { readonly explanation: Explanation } | { readonly elsewhere: 'zone' | 'account' }

/** `responds`: the gateway itself responds, and nothing failed. `depends`: on the body, which is unknown. */
export const stepVerdicts = ['passes', 'refuses', 'responds', 'depends', 'not_reached'] as const

export const outcomes = ['forwarded', 'responded', 'refused', 'depends'] as const

export const ruleKinds = [
  'access_rule',
  'access_default',
  'access_work',
  'ban',
  'rate_limit',
  'quota',
  'gateway_rate_limit',
  'route',
] as const

/** The rule that decided, and where it was set. */
export interface DecidingRule {
  readonly kind: (typeof ruleKinds)[number]
  readonly name: string | null
  /** For a rule set by the API. */
  readonly id: string | null
  /** Its number among the access rules of the file, from 1. */
  readonly number: number | null
  /** Null for settings of all zones. */
  readonly zone: string | null
  readonly set_by: 'file' | 'api'
  /** The line in the configuration file. */
  readonly line: number | null
  readonly description: string | null
}

/** The compared value, and what it was compared with. */
export interface Compared {
  readonly what: string
  readonly value: string | null
  readonly with: string | null
}

export interface ExplainedError {
  readonly code: number
  readonly name: string
  readonly title: string
  /** For callers of AI routes: what is wrong with the call. */
  readonly message: string | null
}

export interface ExplainedStep {
  /** Its number, from 1. */
  readonly number: number
  readonly step: string
  readonly title: string
  readonly verdict: (typeof stepVerdicts)[number]
  /** A sentence; empty for a step that is not reached. */
  readonly reason: string
  readonly error: ExplainedError | null
  readonly rule: DecidingRule | null
  readonly compared: readonly Compared[]
}

/** A rate limit, a quota, or the limit of a gateway that would count the request. */
export interface LimitState {
  readonly kind: 'rate_limit' | 'quota' | 'gateway_rate_limit'
  readonly name: string
  /** The line in the configuration file. */
  readonly line: number | null
  readonly action: 'block' | 'log'
  readonly verdict: 'within' | 'over'
  /** What it counts by; empty if all requests are counted together. Values of tokens and headers are null. */
  readonly key: readonly { readonly by: string; readonly value: string | null }[]
  readonly limit: number
  readonly period: string
  /** Null, like the next two, if it also counts requests to zones of others. */
  readonly used: number | null
  readonly left: number | null
  /** Seconds until one more fits if none is left, otherwise until everything counted now has expired. */
  readonly resets_in: number | null
}

export interface ExplainedGateway {
  readonly api: 'rest' | 'compat' | 'native'
  /** Null if the call is refused before its gateway is known. */
  readonly gateway: string | null
  readonly authentication_required: boolean | null
  readonly authenticated: boolean
  readonly provider: string | null
  readonly model: string | null
  /** Null if the gateway has none in effect, or they have not decided yet. */
  readonly policies: ExplainedPolicies | null
}

/** What the policies of a gateway decide about a call. */
export interface ExplainedPolicies {
  readonly decision: 'allow' | 'block' | 'no_match'
  /** The one that decides. */
  readonly policy: NamedPolicy | null
  /** In which the call counts. */
  readonly limits: readonly {
    readonly policy: NamedPolicy
    /** US dollars. */
    readonly amount: number
    readonly period: string
  }[]
}

interface NamedPolicy {
  readonly id: string
  readonly name: string
}

export interface ExplainedRoute {
  readonly path: string
  readonly line: number | null
  readonly pool: string | null
  /** In bytes; null for no limit. */
  readonly body_limit: number | null
  /** The maximum number of redirects of the origin that are followed. */
  readonly redirects: number
  /** In ms; 0 for none. */
  readonly timeouts: Readonly<Record<string, number>>
  readonly retries: { readonly most: number; readonly statuses: readonly number[] }
}

export interface ExplainedPool {
  readonly pool: string
  readonly balance: string
  readonly origins: readonly {
    readonly url: string
    readonly weight: number
    /** How much of the weight counts now, from 0 to 1. */
    readonly share: number
    readonly state: 'unchecked' | 'healthy' | 'failing' | 'ejected' | 'trial' | 'down'
    readonly outstanding: number
    /** Whether the balance of the pool would choose it for the request. */
    readonly is_next: boolean
  }[]
}

/** A header field of the request to the origin; a value that may contain a secret is null. */
export interface ExplainedField {
  readonly name: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly value: string | null
}

/** The request as the origin would receive it. */
export interface ExplainedForward {
  readonly origin: string
  /** The HTTP version configured for the origin: with 2, its handshake may still agree on 1. */
  readonly http: HttpVersions
  readonly method: string
  readonly host: string | null
  /** Null if it contains a credential. */
  readonly path: string | null
  /** How the query relates to that of the request. */
  readonly query: 'none' | 'kept' | 'changed'
  readonly fields: readonly ExplainedField[]
  /** Names of fields that are set in the response, or removed from it. */
  readonly response_fields: readonly { readonly name: string; readonly change: 'set' | 'removed' }[]
}

/** Whether the response of the origin would be compressed for the client. */
export interface ExplainedCompression {
  /** Null if it would not be compressed in any case. */
  readonly encoding: ContentCoding | null
  /** A sentence: why it would not be compressed, or what that depends on. */
  readonly reason: string
  /** The requirements for compressing the response; null if it is never compressed. */
  readonly condition: {
    readonly types: readonly string[]
    /** In bytes, if its length is known. */
    readonly minimum: number
  } | null
}

export const contentSources = ['zone_rule', 'account_rule', 'zone_page', 'account_page'] as const

/** The response that the gateway itself would send. */
export interface ExplainedResponse {
  readonly status: number
  readonly content_type: string | null
  /** Seconds. */
  readonly retry_after: number | null
  /** The operator's content; null for the gateway's own. */
  readonly content: {
    readonly source: (typeof contentSources)[number]
    readonly rule_id: string | null
    /** For a rule of the file. */
    readonly line: number | null
    /** The type of a page. */
    readonly page: string | null
    readonly description: string | null
  } | null
}

export interface Explanation {
  readonly outcome: (typeof outcomes)[number]
  /** The zone of the host; null if there is none, or for AI routes. */
  readonly zone: string | null
  readonly client: {
    /** The client's address, behind trusted proxies. */
    readonly address: string
    /** ISO 3166-1, and a number; null if unknown. */
    readonly country: string | null
    readonly asn: number | null
    /** Whether the peer is a trusted proxy. */
    readonly is_proxy: boolean
  }
  readonly steps: readonly ExplainedStep[]
  readonly limits: readonly LimitState[]
  readonly gateway: ExplainedGateway | null
  readonly route: ExplainedRoute | null
  readonly pool: ExplainedPool | null
  readonly forward: ExplainedForward | null
  /** Null if no origin is involved. */
  readonly compression: ExplainedCompression | null
  readonly response: ExplainedResponse | null
}

/** Returns a clause such as `No reasoning blocks it`. */
export function policyInWords({ decision, policy }: ExplainedPolicies): string {
  if (policy === null) return 'none allows the call'
  return `${policy.name} ${decision === 'block' ? 'blocks' : 'allows'} it`
}

/**
 * Returns the outcome as a sentence: an error by its code and this member, and what to do if it depends on
 * the body.
 */
export function outcomeSentence(
  { outcome, steps, response, forward }: Explanation,
  shownOfError: 'name' | 'title',
  toGiveBody: string,
): string {
  switch (outcome) {
    case 'forwarded':
      return forward === null ? 'It would pass.' : `It would pass, to ${forward.origin}.`
    case 'responded':
      return `It would pass: the gateway itself responds with ${response?.status}.`
    case 'depends':
      return `That depends on the body: ${toGiveBody}.`
    case 'refused': {
      const error = steps.find(({ verdict }) => verdict === 'refuses')?.error
      return `It would be refused with ${response?.status}: error ${error?.code}, ${error?.[shownOfError]}.`
    }
  }
}
