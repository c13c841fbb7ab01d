// The steps of a request whose spans are recorded.

import type { Exchange, Step } from '../exchange/exchange.ts'
import { Recording } from '../trace/recording.ts'
import { sampledTrace } from '../trace/trace.ts'

/** Starts recording a request if its spans are sent; returns whether they are. */
export function startRecording(x: Exchange): boolean {
  const { tracing } = x.snapshot
  const trace = tracing === null ? null : sampledTrace(x, tracing)
  if (trace === null) return false
  trace.recording = new Recording()
  return true
}

/** Records each step before it decides; the last one also records the admission of the request. */
export function recordingEach(
  steps: readonly { readonly name: string; readonly decide: Step }[],
): readonly Step[] {
  return steps.map(({ name, decide }, i) => x => {
    const recording = x.trace!.recording!
    recording.step = name
    if (i === steps.length - 1) recording.admittedAt = x.plane.clock.monotonic()
    return decide(x)
  })
}
