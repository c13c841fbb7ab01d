// Takes a request through the steps.

import { deliver, deliverBug } from '../exchange/deliver.ts'
import type { Decided, Exchange, Step } from '../exchange/exchange.ts'
import { startRecording, recordingEach } from '../spans/recorded-steps.ts'
import { steps } from './steps.ts'

const plainChain: readonly Step[] = steps.map(({ decide }) => decide)

const recordedChain: readonly Step[] = recordingEach(steps)

/** Runs the steps as far as the request gets. */
export function serve(x: Exchange): void {
  advance(x, null, x.plane.spans !== null && startRecording(x) ? recordedChain : plainChain, 0)
}

function advance(x: Exchange, verdict: ReturnType<Step>, chain: readonly Step[], next: number): void {
  try {
    while (verdict === null && next < chain.length) verdict = chain[next++]!(x)
    if (verdict instanceof Promise) advanceAfter(x, verdict, chain, next)
    else if (verdict !== null && verdict !== 'responded') deliver(x, verdict)
  } catch (bug) {
    deliverBug(x, bug)
  }
}

function advanceAfter(
  x: Exchange,
  pending: Promise<Awaited<Decided>>,
  chain: readonly Step[],
  next: number,
): void {
  pending.then(
    verdict => {
      if (x.stage === 'none') advance(x, verdict, chain, next)
    },
    bug => deliverBug(x, bug),
  )
}
