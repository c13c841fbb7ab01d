// Where the next gateway on this machine asks this one for its side port.

import { type Answer, failure } from './envelope.ts'
import type { Question } from './router.ts'

/** Leaves the side port; false where it stays, null for who shows no proof. */
export type HandOver = (authorization: string | null, replaces: boolean) => boolean | null

/** Answers who has no proof as if there were nothing here. */
export function handover({ asker, query }: Question, handOver?: HandOver): Answer {
  const hasLeft = handOver?.(asker.authorization, query.has('replace')) ?? null
  if (hasLeft === null) return failure('no_route', '/handover')
  if (!hasLeft) return failure('not_stopping')
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}\n' }
}
