// What the parts of a session with an origin ask and have it do.

import type { SessionFault } from './session-fault.ts'

export interface SessionCalls {
  readonly isClosed: boolean
  /** Counts frames that say nothing of a response, of which too many end the session. */
  idleFrame(frames?: number): void
  /** Ends the session for a fault of the origin. */
  break(fault: SessionFault): void
  /** `break` for places that return whether to go on; always false. */
  fail(fault: SessionFault): false
  /** There is something to be sent. */
  wantFlush(): void
  /** The number of streams that may be opened has changed, or one that was open is over. */
  changed(): void
}
