// The client of a person's action, as recorded in sessions and the audit log.

export interface ClientInfo {
  readonly address: string
  readonly userAgent: string | null
  readonly ray: string
}
