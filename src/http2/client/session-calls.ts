// What the parts of a session with an origin ask and have it do.

import type { SessionFault } from './session-fault.ts'

export interface SessionCalls {
  readonly isClosed: boolean
  /** Pays for frames that carry nothing of a response; false if the session failed for it, or before. */
  spendControl(frames?: number): boolean
  /** Ends the session for a fault of the origin; always false. */
  fail(fault: SessionFault): false
  /** There is something to be sent. */
  wantFlush(): void
  /** The number of streams that may be opened has changed, or one that was open is over. */
  changed(): void
}
