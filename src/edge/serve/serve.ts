// The life of a request, in the order of its steps.

import { admit } from '../steps/admit.ts'
import { authenticate } from '../ai/authenticate.ts'
import { describe } from '../ai/metadata.ts'
import { openLog } from '../ai/open-log.ts'
import { answer, answerBug } from '../exchange/deliver.ts'
import { bound } from '../exchange/bounds.ts'
import { decidingSteps } from './steps.ts'
import { examine } from '../steps/examine.ts'
import type { Exchange, Step, Verdict } from '../exchange/exchange.ts'
import { forward } from '../forward/forward-http.ts'
import { locate } from '../steps/locate.ts'
import { meter } from '../meter/meter.ts'
import { meterGateway } from '../meter/meter-gateway.ts'
import { plan } from '../steps/plan.ts'
import { preview } from '../steps/preview.ts'
import { secure } from '../steps/secure.ts'
import { isRecorded, noting } from '../spans/recorded-steps.ts'

/**
 * The life of a request, in the order of the deciding steps. A step that may have to wait ends its line, so that the next line continues behind it;
 * a list of single steps would cost more.
 */
const story: readonly Step[] = [
  x => examine(x) ?? locate(x) ?? secure(x) ?? admit(x) ?? meter(x),
  x => preview(x),
  x => describe(x) ?? authenticate(x),
  x => bound(x) ?? meterGateway(x),
  x => openLog(x) ?? plan(x),
  x => forward(x),
]

/** The same steps one by one, each noted, for requests whose spans are recorded. */
const recordedStory: readonly Step[] = noting({ ...decidingSteps, forward })

/** Runs the steps from the first one, as far as the request gets. */
export function serve(x: Exchange): void {
  goOn(x, null, x.plane.spans !== null && isRecorded(x) ? recordedStory : story, 0)
}

/** Continues from a verdict with the lines from `next` on, unless it ends the request. */
function goOn(x: Exchange, verdict: ReturnType<Step>, lines: readonly Step[], next: number): void {
  try {
    while (verdict === null && next < lines.length) verdict = lines[next++]!(x)
    if (verdict instanceof Promise) wait(x, verdict, lines, next)
    else if (verdict !== null && verdict !== 'answered') answer(x, verdict)
  } catch (bug) {
    answerBug(x, bug)
  }
}

/** Continues with the next line once the verdict of the waiting one is there, unless the client has left. */
function wait(x: Exchange, verdict: Promise<Awaited<Verdict>>, lines: readonly Step[], next: number): void {
  verdict.then(
    settled => {
      if (x.stage === 'none') goOn(x, settled, lines, next)
    },
    bug => answerBug(x, bug),
  )
}
