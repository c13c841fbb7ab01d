// The steps of a request whose spans are recorded: each is noted before it decides.

import type { Exchange, Step } from '../exchange/exchange.ts'
import { Recording } from '../trace/recording.ts'
import { sampledTrace } from '../trace/trace.ts'

/** Whether spans are sent of the request; then what is noted for them begins. */
export function startRecording(x: Exchange): boolean {
  const { tracing } = x.snapshot
  const trace = tracing === null ? null : sampledTrace(x, tracing)
  if (trace === null) return false
  trace.recording = new Recording()
  return true
}

/** Returns the steps in their order, each of which notes itself; the last one also notes that the request was let through. */
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
