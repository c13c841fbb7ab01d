// What the parts of a client session require of it.

import type { SessionFault } from './session-fault.ts'

export interface SessionCalls {
  readonly isClosed: boolean
  /** Pays for frames that carry nothing of a response; returns false if the session has failed. */
  spendControl(frames?: number): boolean
  /** Always false. */
  fail(fault: SessionFault): false
  wantFlush(): void
  /** The number of streams that may be opened has changed, or an open stream is over. */
  changed(): void
}
