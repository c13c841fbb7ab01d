// What the parts of a client session share.

import type { FrameWriter } from '../frames/frame-writer.ts'
import type { PeerSettings } from '../frames/peer-settings.ts'
import type { TurnWork } from '../frames/turn-work.ts'
import type { Inflow } from './inflow.ts'
import type { Outflow } from '../session/outflow.ts'
import type { ClientStream } from './stream.ts'
import type { Streams } from './streams.ts'

export interface SessionParts {
  readonly writer: FrameWriter
  readonly outflow: Outflow<ClientStream>
  readonly inflow: Inflow
  readonly streams: Streams
  readonly peer: PeerSettings
  readonly work: TurnWork
}
