// Takes a request through the steps.

import { answer, answerBug } from '../exchange/deliver.ts'
import type { Exchange, Step, Verdict } from '../exchange/exchange.ts'
import { isRecorded, noting } from '../spans/recorded-steps.ts'
import { steps } from './steps.ts'

const story: readonly Step[] = steps.map(({ decide }) => decide)

/** The same steps, each noted, for requests whose spans are recorded. */
const recordedStory: readonly Step[] = noting(steps)

/** Runs the steps from the first one, as far as the request gets. */
export function serve(x: Exchange): void {
  goOn(x, null, x.plane.spans !== null && isRecorded(x) ? recordedStory : story, 0)
}

/** Continues from a verdict with the steps from `next` on, unless it ends the request. */
function goOn(x: Exchange, verdict: ReturnType<Step>, story: readonly Step[], next: number): void {
  try {
    while (verdict === null && next < story.length) verdict = story[next++]!(x)
    if (verdict instanceof Promise) wait(x, verdict, story, next)
    else if (verdict !== null && verdict !== 'answered') answer(x, verdict)
  } catch (bug) {
    answerBug(x, bug)
  }
}

/** Continues with the next step once the pending verdict is there, unless the client has left by then. */
function wait(x: Exchange, pending: Promise<Awaited<Verdict>>, story: readonly Step[], next: number): void {
  pending.then(
    verdict => {
      if (x.stage === 'none') goOn(x, verdict, story, next)
    },
    bug => answerBug(x, bug),
  )
}
