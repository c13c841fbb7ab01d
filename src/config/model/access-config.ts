// Access rules as set by the operator: by address, origin and kind of request.

/** One condition on a request. */
export type AccessCondition =
  | { readonly kind: 'ip'; readonly networks: readonly string[] } // addresses and CIDR networks
  | { readonly kind: 'list'; readonly name: string } // one of `lists`
  | { readonly kind: 'country'; readonly countries: readonly string[] } // ISO 3166-1 alpha-2, upper-case
  | { readonly kind: 'asn'; readonly numbers: readonly number[] }
  | { readonly kind: 'user_agent'; readonly patterns: readonly string[] } // case-insensitive; * matches any text
  | { readonly kind: 'referer'; readonly hosts: readonly string[] } // exact and '*.' names
  | { readonly kind: 'referer_not'; readonly hosts: readonly string[] } // a Referer of any other host; a missing one passes
  | { readonly kind: 'path'; readonly prefixes: readonly string[] } // in normal form, up to a segment boundary
  | { readonly kind: 'expression'; readonly text: string } // CEL

export interface AccessRule {
  /** `legal` denies for legal reasons: 1026, by country 1039. */
  readonly action: 'allow' | 'deny' | 'legal'
  readonly condition: AccessCondition
  readonly description: string | null
  /** Line in the configuration file; absent for rules from elsewhere. */
  readonly line?: number
}

/** A ban: after how many refusals of one address, within what time, and for how long; times in ms. */
export interface BanConfig {
  readonly refusals: number
  readonly within: number
  readonly lasts: number
}

/** The rules of a zone, or of all zones: the first that matches decides. */
export interface AccessConfig {
  readonly rules: readonly AccessRule[]
  /** The default for requests that no rule matches; for all zones always `allow`. */
  readonly otherwise: 'allow' | 'deny'
  readonly ban: BanConfig | null
}

/** A file of addresses and networks, one per line. */
export interface ListConfig {
  readonly name: string
  readonly path: string // absolute
}
