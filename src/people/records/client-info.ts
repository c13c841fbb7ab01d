// The client of a person's action, as recorded in sessions and the audit log.

export interface ClientInfo {
  /** The client's address. */
  readonly address: string
  /** The `User-Agent` of the browser. */
  readonly userAgent: string | null
  /** The ray id of the request. */
  readonly ray: string
}
