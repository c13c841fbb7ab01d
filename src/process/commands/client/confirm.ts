// Asks for confirmation before what cannot be undone, or requires `--yes`.

import { createInterface } from 'node:readline/promises'
import type { Input } from '../input.ts'
import { tell } from '../terminal.ts'
import { complain, withClient } from './session.ts'

interface Deed {
  /** What it does, for a caller that cannot be asked. */
  readonly consequence: string
  /** The question, before the request to type the id. */
  readonly question: string
  /** The message when the person declines. */
  readonly refrained: string
}

/** Runs the work after `--yes`, or once a person has typed the id again; returns 1 when the person declines, 2 when there is no one to ask. */
export async function confirmed(
  input: Input,
  { consequence, question, refrained }: Deed,
  work: Parameters<typeof withClient>[1],
  withThing: typeof withClient = withClient,
): Promise<number> {
  const canAsk = process.stdin.isTTY && process.stderr.isTTY && input['token-file'] !== '-'
  if (!input.yes && !canAsk) return complain(`${consequence}; say --yes`)
  return withThing(input, async (api, path, id) => {
    if (input.yes || (await isTyped(question, id))) return work(api, path, id)
    tell(refrained)
    return 1
  })
}

async function isTyped(question: string, id: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const isOver = new Promise<string>(resolve => lines.once('close', () => resolve('')))
  const typed = lines.question(question)
  const answer = await Promise.race([typed.catch(() => ''), isOver])
  lines.close()
  return answer.trim() === id
}
