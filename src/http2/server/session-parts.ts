// What the parts of a server session share, and how they report a client that breaks the rules.

import type { Allowance } from './allowance.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import type { ErrorCode } from '../frames/frames.ts'
import type { Outflow } from '../session/outflow.ts'
import type { PeerSettings } from '../frames/peer-settings.ts'
import type { SessionFault, SessionUser } from './session-user.ts'
import type { Stream } from './stream.ts'
import type { Streams } from './streams.ts'
import type { TurnWork } from '../frames/turn-work.ts'

export interface SessionParts<Owner> {
  readonly user: SessionUser<Owner>
  readonly writer: FrameWriter
  readonly outflow: Outflow<Stream<Owner>>
  readonly streams: Streams<Owner>
  readonly allowance: Allowance
  readonly peer: PeerSettings
  readonly work: TurnWork
}

export interface FaultTaker<Owner> {
  /** Returns false if the session failed. */
  streamError(stream: Stream<Owner>, code: ErrorCode, hasBegun?: boolean): boolean
  /** Always false. */
  fail(fault: SessionFault, code: ErrorCode, detail: string): false
}
