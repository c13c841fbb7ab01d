// The story of a request, in the order of its steps.
import { admit } from './admit.ts'
import { answer, answerBug } from './answer.ts'
import { authenticate } from './ai/authenticate.ts'
import { examine } from './examine.ts'
import type { Exchange } from './exchange.ts'
import { forward } from './forward/forward-http.ts'
import { locate } from './locate.ts'
import { meter } from './meter/meter.ts'
import { plan } from './plan.ts'
import { preview } from './preview.ts'

/** The life of a request. The order of these steps is the order of the gateway. */
export function serve(x: Exchange): void {
  try {
    const verdict =
      examine(x) ??
      locate(x) ??
      admit(x) ??
      meter(x) ??
      preview(x) ??
      authenticate(x) ??
      plan(x) ??
      forward(x)
    if (verdict instanceof Promise) wait(x, verdict)
    else if (verdict !== null) answer(x, verdict)
  } catch (bug) {
    answerBug(x, bug)
  }
}

/** Tells the story again once the step that waits knows more; the steps before it pass again, since what they found stands on the exchange. */
function wait(x: Exchange, more: Promise<void>): void {
  more.then(
    () => {
      if (x.stage === 'none') serve(x)
    },
    bug => answerBug(x, bug),
  )
}
