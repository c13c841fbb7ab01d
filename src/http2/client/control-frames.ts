// Takes the frames of a connection to an origin that carry nothing of a response (RFC 9113 section 6): what the origin sets, allows, resets, asks and announces.

import { uint31 } from '../frames/frame-reader.ts'
import type { FrameWriter } from '../frames/frame-writer.ts'
import { errorCode, flag, frameType } from '../frames/frames.ts'
import { largestWindow, type PeerSettings } from '../frames/peer-settings.ts'
import type { Liveness } from './liveness.ts'
import type { Outflow } from '../session/outflow.ts'
import { faultOfSettings } from './session-fault.ts'
import type { SessionCalls } from './session-calls.ts'
import type { SessionParts } from './session-parts.ts'
import type { ClientStream, StreamFault } from './stream.ts'
import type { Streams } from './streams.ts'

/** The codes by which an origin says that it has done nothing with a request. */
const untouched: ReadonlyMap<number, StreamFault> = new Map([
  [errorCode.refusedStream, 'refused'],
  [errorCode.http11Required, 'http1_required'],
])

export class ControlFrames {
  /** Whether the origin has sent its settings, with which it begins. */
  hasSettings = false
  readonly #session: SessionCalls
  readonly #output: FrameWriter
  readonly #outflow: Outflow<ClientStream>
  readonly #streams: Streams
  readonly #liveness: Liveness
  readonly #peer: PeerSettings

  constructor(session: SessionCalls, { output, outflow, streams, liveness, peer }: SessionParts) {
    this.#session = session
    this.#output = output
    this.#outflow = outflow
    this.#streams = streams
    this.#liveness = liveness
    this.#peer = peer
  }

  /** Takes a frame of any type but DATA, HEADERS and CONTINUATION. */
  frame(type: number, flags: number, id: number, bytes: Buffer, from: number, to: number): void {
    switch (type) {
      case frameType.rstStream:
        return this.#rstStream(id, bytes, from, to)
      case frameType.settings:
        return this.#settings(id, flags, bytes, from, to)
      case frameType.ping:
        return this.#ping(id, flags, bytes, from, to)
      case frameType.goAway:
        return this.#goAway(id, bytes, from, to)
      case frameType.windowUpdate:
        return this.#windowUpdate(id, bytes, from, to)
      case frameType.pushPromise:
        // We said that we take none.
        return this.#session.break('protocol')
      case frameType.priority:
        if (id === 0) return this.#session.break('protocol')
        if (to - from !== 5) return this.#session.break('frame_size')
        return this.#session.idleFrame()
      default:
        // Frames of unknown types are passed over (RFC 9113 section 4.1).
        this.#session.idleFrame()
    }
  }

  #rstStream(id: number, bytes: Buffer, from: number, to: number): void {
    if (to - from !== 4) return this.#session.break('frame_size')
    const stream = this.#streams.find(id)
    if (stream === false) return
    const code = bytes.readUInt32BE(from)
    if (stream === null) {
      // The response is here, and the rest of the request is not wanted.
      const whole = this.#streams.get(id)
      if (whole !== undefined) this.#outflow.close(whole)
      return this.#session.idleFrame()
    }
    this.#streams.fail(stream, stream.hasHead ? 'reset' : (untouched.get(code) ?? 'reset'))
    this.#session.changed()
  }

  #settings(id: number, flags: number, bytes: Buffer, from: number, to: number): void {
    const session = this.#session
    if (id !== 0) return session.break('protocol')
    if ((flags & flag.ack) !== 0) {
      if (to > from) return session.break('frame_size')
      this.#liveness.settingsAcknowledged()
      return session.idleFrame()
    }
    if ((to - from) % 6 !== 0) return session.break('frame_size')
    this.hasSettings = true
    const before = this.#peer.initialWindow
    const flaw = this.#peer.read(bytes, from, to)
    if (flaw !== null) return session.break(faultOfSettings[flaw])
    if (this.#peer.limitsTable) this.#output.encoder.limitTable()
    const change = this.#peer.initialWindow - before
    if (change !== 0) this.#resizeWindows(change)
    session.idleFrame()
    if (session.isClosed) return
    this.#output.settingsAck()
    session.wantFlush()
    session.changed()
  }

  #resizeWindows(change: number): void {
    for (const stream of this.#streams.all()) {
      stream.sendWindow += change
      if (stream.sendWindow > largestWindow) return this.#session.break('flow_control')
      this.#outflow.ready(stream)
    }
  }

  #ping(id: number, flags: number, bytes: Buffer, from: number, to: number): void {
    const session = this.#session
    if (id !== 0) return session.break('protocol')
    if (to - from !== 8) return session.break('frame_size')
    session.idleFrame()
    if (session.isClosed) return
    if ((flags & flag.ack) === 0) {
      this.#output.pingAck(bytes, from)
      return session.wantFlush()
    }
    if (this.#liveness.answered()) session.changed()
  }

  #goAway(id: number, bytes: Buffer, from: number, to: number): void {
    const streams = this.#streams
    if (id !== 0) return this.#session.break('protocol')
    if (to - from < 8) return this.#session.break('frame_size')
    const last = uint31(bytes, from)
    const code = bytes.readUInt32BE(from + 4)
    const fault = untouched.get(code) ?? 'refused'
    const taken = (last + 1) >> 1
    if (code === errorCode.none && taken < streams.opened) streams.taken = taken
    this.#session.idleFrame()
    streams.areLast = true
    for (const stream of [...streams.all()])
      if (stream.id > last && stream.heldEnd === null) streams.fail(stream, stream.hasHead ? 'reset' : fault)
    this.#session.changed()
  }

  #windowUpdate(id: number, bytes: Buffer, from: number, to: number): void {
    if (to - from !== 4) return this.#session.break('frame_size')
    const more = uint31(bytes, from)
    if (id === 0) {
      if (more === 0) return this.#session.break('protocol')
      if (!this.#outflow.widen(more)) return this.#session.break('flow_control')
      return this.#windowOpened()
    }
    const stream = this.#streams.find(id)
    if (stream === false) return
    if (stream === null) return this.#session.idleFrame()
    stream.sendWindow += more
    if (more === 0) return void this.#streams.spoil(stream, 'bad_framing')
    if (stream.sendWindow > largestWindow) return void this.#streams.spoil(stream, 'bad_framing')
    this.#outflow.ready(stream)
    this.#windowOpened()
  }

  /** A window that nobody waits for says as little as a PING; one in small pieces costs a frame each. */
  #windowOpened(): void {
    if (this.#outflow.stalledCount === 0) this.#session.idleFrame()
    else this.#session.wantFlush()
  }
}
