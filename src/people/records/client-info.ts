// From where a person acts: what their sessions and the audit log keep of it.

export interface ClientInfo {
  /** The client's address. */
  readonly address: string
  /** The `User-Agent` of the browser. */
  readonly userAgent: string | null
  /** The ray id of the request. */
  readonly ray: string
}
