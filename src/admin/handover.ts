// Where the next gateway on this machine asks this one for its side port.

import { type Answer, failure, notFound } from './envelope.ts'
import type { Question } from './router.ts'

/** Hands the side port over and returns the process id; null where it stays, undefined for who shows no proof. */
export type HandOver = (authorization: string | null, replaces: boolean) => number | null | undefined

/** Answers who has no proof as if there were nothing here. */
export function handover({ asker, query }: Question, handOver?: HandOver): Answer {
  const pid = handOver?.(asker.authorization, query.has('replace'))
  if (pid === undefined) return notFound('No route for /handover')
  if (pid === null) return failure(409, [{ code: 7003, message: 'This gateway is not stopping' }])
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: `${JSON.stringify({ pid })}\n`,
  }
}
