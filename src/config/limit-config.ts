// How much a client may ask, as the operator says it.

/** What requests are counted by; where a request has no such token or field, its client's address stands in. */
export type LimitKey =
  | { readonly by: 'address' }
  | { readonly by: 'token' } // the bearer token that it shows, whether good or not
  | { readonly by: 'path' } // in normal form, without query, and in each other reading
  | { readonly by: 'header'; readonly name: string } // lower-case

export interface RateLimitConfig {
  /** Of its own in the whole file; stands in RateLimit fields, metrics and logs. */
  readonly name: string
  readonly limit: number
  readonly period: number // ms
  /** Those that are told apart by all of these together; empty: all requests are counted as one. */
  readonly key: readonly LimitKey[]
  /** CEL: which requests count; null for all. */
  readonly when: string | null
  readonly action: 'block' | 'log'
}

/** What a zone may take in a day and a month of UTC; null for any number. */
export interface QuotaConfig {
  readonly day: number | null
  readonly month: number | null
}
