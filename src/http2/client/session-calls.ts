// What the parts of a client session require of it.

import type { SessionFault } from './session-fault.ts'

export interface SessionCalls {
  readonly isClosed: boolean
  /** Pays for frames that carry nothing of a response; returns false if the session has failed. */
  spendControl(frames?: number): boolean
  /** Ends the session for a fault of the origin; always false. */
  fail(fault: SessionFault): false
  /** Announces that there is something to send. */
  wantFlush(): void
  /** The number of streams that may be opened has changed, or an open stream is over. */
  changed(): void
}
