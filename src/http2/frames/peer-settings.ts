// The settings of the peer (RFC 9113 section 6.5.2), as far as they matter here.

import { frameLimit } from './frame-reader.ts'
import { setting } from './frames.ts'

/** RFC 9113 section 6.9.1. */
export const maxWindow = 2 ** 31 - 1
export const firstWindow = 65_535

const maxSettings = 64

/** `window`: too wide. */
type SettingsFlaw = 'too_many' | 'window' | 'value'

export class PeerSettings {
  initialWindow = firstWindow
  maxConcurrentStreams = Number.POSITIVE_INFINITY
  /** Whether the last frame set the size of the compression table. */
  limitsTable = false
  readonly #maxPush: number

  /** 1 for a client, 0 for a server, which must not enable push. */
  constructor(maxPush: 0 | 1) {
    this.#maxPush = maxPush
  }

  /** The last value of each setting counts: a changed window costs a visit to all streams. */
  read(bytes: Buffer, at: number, end: number): SettingsFlaw | null {
    if (end - at > maxSettings * 6) return 'too_many'
    this.limitsTable = false
    for (; at < end; at += 6) {
      const flaw = this.#take(bytes.readUInt16BE(at), bytes.readUInt32BE(at + 2))
      if (flaw !== null) return flaw
    }
    return null
  }

  #take(id: number, value: number): SettingsFlaw | null {
    switch (id) {
      case setting.headerTableSize:
        this.limitsTable = true
        return null
      case setting.enablePush:
        return value <= this.#maxPush ? null : 'value'
      case setting.enableConnectProtocol:
        return value <= 1 ? null : 'value'
      case setting.maxConcurrentStreams:
        this.maxConcurrentStreams = value
        return null
      case setting.maxFrameSize:
        return value >= frameLimit && value < 2 ** 24 ? null : 'value'
      case setting.initialWindowSize:
        this.initialWindow = value
        return value <= maxWindow ? null : 'window'
      default:
        return null
    }
  }
}
