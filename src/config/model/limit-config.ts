// Rate limits and quotas as set by the operator.

/** What requests are counted by; for a request without such a token or field, by the client's address. */
export type LimitKey =
  | { readonly by: 'address' }
  | { readonly by: 'token' } // the bearer token that it sends, valid or not
  | { readonly by: 'app' } // the app of OAuth whose access token was checked, or the API token; only of AI calls
  | { readonly by: 'path' } // in normal form, without query, and in each other reading
  | { readonly by: 'header'; readonly name: string } // lower-case
  | { readonly by: 'subject' } // whom a gate let in; only of requests to MCP servers

export interface RateLimitConfig {
  /** Unique in the whole file; appears in RateLimit fields, metrics and logs. */
  readonly name: string
  readonly limit: number
  readonly period: number // ms
  /** The parts of the key; if empty, all requests are counted together. */
  readonly key: readonly LimitKey[]
  /** CEL: which requests count; null for all. */
  readonly when: string | null
  readonly action: 'block' | 'log'
  /** Line in the configuration file; absent for limits from elsewhere. */
  readonly line?: number
}

/** The requests of a zone per day and month (UTC); null for no limit. */
export interface QuotaConfig {
  readonly day: number | null
  readonly month: number | null
}
