// The keys that seal the TLS sessions of clients. Times are ms since the epoch.

export const ticketOwner = 'tls'

export interface TicketKey {
  readonly account: typeof ticketOwner
  readonly id: string
  /** When it comes into use for sealing. */
  readonly startsAt: number
  /** Its bytes in base64url, sealed with a server key. */
  readonly sealed: string
  readonly createdAt: number
}
