// The story of a request, in the order of its steps. Called by the client connection once per request head.
import { answer, answerBug } from './answer.ts'
import { examine } from './examine.ts'
import type { Exchange } from './exchange.ts'
import { forward } from './forward-http.ts'
import { locate } from './locate.ts'
import { plan } from './plan.ts'

/** The life of a request. The order of these steps is the order of the gateway. */
export function serve(x: Exchange): void {
  try {
    const refusal = examine(x) ?? locate(x) ?? plan(x) ?? forward(x)
    if (refusal !== null) answer(x, refusal)
  } catch (bug) {
    answerBug(x, bug)
  }
}
