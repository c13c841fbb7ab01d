// What the parts of carrying a request report to the one that decides: the gathering of its body, and an attempt.

import type { Failure } from '../../errors/catalogue/origin-failure.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import type { ResponseBody } from '../origin/connection-user.ts'

export interface Carrier {
  /** So much of the body is there as the request sets out with. */
  setOut(): void
  /** Ends a gRPC call whose time is over; whether it did. */
  endsOverdue(): boolean
  /** Another attempt is to be made with the same origin; a `fresh` connection was never used. */
  connect(fresh: boolean): void
  /** Whether the client gets the response; if not, the attempt was let go of or drains. */
  takes(head: ResponseHead, body: ResponseBody): boolean
  /** Whether the reason of an error may be that the request is to be made again in another form. */
  mayRepeat(head: ResponseHead): boolean
  /** Makes the request again if the reason is that, and gives the connection back; false where the client gets the response. */
  repeats(head: ResponseHead, reason: Buffer): boolean
  /** All of the response has come. */
  responded(): void
  /** The connection has become that of a tunnel. */
  switched(): void
  /** The attempt has failed; `isRepeatable` where another one may be made. */
  lost(phase: Phase, failure: Failure, isRepeatable: boolean): void
  /** The same where the origin closed an idle connection as we wrote to it: it has most likely seen nothing, and where it has, another attempt does no harm. */
  lostIdle(phase: Phase, failure: Failure, isRepeatable: boolean): void
  /** There is nothing for the client but an error. */
  fail(phase: Phase, failure: Failure): void
  /** The client has left. */
  abort(): void
}
