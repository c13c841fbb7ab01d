// The story of a request, in the order of its steps.

import { admit } from './admit.ts'
import { authenticate } from './ai/authenticate.ts'
import { openLog } from './ai/open-log.ts'
import { answer, answerBug } from './answer.ts'
import { bound } from './bound.ts'
import { examine } from './examine.ts'
import type { Exchange, Step, Verdict } from './exchange.ts'
import { forward } from './forward/forward-http.ts'
import { locate } from './locate.ts'
import { meter } from './meter/meter.ts'
import { meterGateway } from './meter/gateway.ts'
import { plan } from './plan.ts'
import { preview } from './preview.ts'

/** The life of a request. The order of these steps is the order of the gateway. */
const steps: readonly Step[] = [
  examine,
  locate,
  admit,
  meter,
  preview,
  authenticate,
  bound,
  meterGateway,
  openLog,
  plan,
  forward,
]

/** Takes a request from its first step on, as far as it gets. */
export function serve(x: Exchange): void {
  goOn(x, 0)
}

function goOn(x: Exchange, from: number): void {
  try {
    let verdict: Verdict = null
    let next = from
    while (verdict === null && next < steps.length) verdict = steps[next++]!(x)
    if (verdict instanceof Promise) wait(x, verdict, next)
    else if (verdict !== null) answer(x, verdict)
  } catch (bug) {
    answerBug(x, bug)
  }
}

/** Goes on with the next step once the one that waits has its verdict, unless the client left meanwhile. */
function wait(x: Exchange, verdict: Promise<Awaited<Verdict>>, next: number): void {
  verdict.then(
    refusal => {
      if (x.stage !== 'none') return
      if (refusal === null) goOn(x, next)
      else answer(x, refusal)
    },
    bug => answerBug(x, bug),
  )
}
