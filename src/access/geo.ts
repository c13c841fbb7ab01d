// Country and network of an address, from MaxMind DB files. Access rules and expressions ask; the process opens it.

/** What is known of where an address is. */
export interface Geo {
  /** Gives the country as ISO 3166-1 alpha-2; empty when unknown. */
  countryOf(address: string): string
  /** Gives the AS number; 0 when unknown. */
  networkOf(address: string): number
}
