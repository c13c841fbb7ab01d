// Asks for confirmation before an irreversible action, or requires `--yes`.

import { createInterface } from 'node:readline/promises'
import type { Input } from '../input.ts'
import { complain, tell } from '../../terminal/output.ts'
import type { withClient } from './session.ts'

export interface Deed {
  /** For a caller that cannot be asked. */
  readonly consequence: string
  readonly question: string
  readonly refrained: string
}

/** Runs the work after `--yes` or the id retyped; returns 1 when declined, 2 with no one to ask. */
export async function confirmed(
  withThing: typeof withClient,
  input: Input,
  deed: Deed,
  work: Parameters<typeof withClient>[1],
): Promise<number> {
  const obstacle = obstacleToAsking(input, deed)
  if (obstacle !== null) return complain(obstacle)
  return withThing(input, async (api, path, id) =>
    (await agrees(input, deed, id)) ? work(api, path, id) : 1,
  )
}

/** Returns why nobody can be asked although `--yes` is missing; null if a person can. */
export function obstacleToAsking(input: Input, { consequence }: Deed): string | null {
  const canAsk = process.stdin.isTTY && process.stderr.isTTY && input['token-file'] !== '-'
  return input.yes || canAsk ? null : `${consequence}; say --yes`
}

export async function agrees(input: Input, { question, refrained }: Deed, id: string): Promise<boolean> {
  if (input.yes || (await isTyped(question, id))) return true
  tell(refrained)
  return false
}

async function isTyped(question: string, id: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const isOver = new Promise<string>(resolve => lines.once('close', () => resolve('')))
  const typed = lines.question(question)
  const answer = await Promise.race([typed.catch(() => ''), isOver])
  lines.close()
  return answer.trim() === id
}
