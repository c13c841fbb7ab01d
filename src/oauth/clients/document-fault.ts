// Why a client cannot be taken from its document.

/**
 * `gone`: its server says that there is none. `invalid`: a rule is broken. `unreachable`, `busy`: it may work
 * later.
 */
export interface DocumentFault {
  readonly fault: 'gone' | 'invalid' | 'unreachable' | 'busy'
  /** In ASCII, without a full stop. */
  readonly reason: string
}
