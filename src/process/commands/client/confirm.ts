// Asks a person before what can't be undone, or wants `--yes`.

import { createInterface } from 'node:readline/promises'
import type { Input } from '../input.ts'
import { tell } from '../terminal.ts'
import { complain, withClient } from './session.ts'

interface Deed {
  /** What it does, as one who does not ask is told. */
  readonly consequence: string
  /** What a person is asked, before the words that ask for the id. */
  readonly question: string
  /** What is said where that person thinks again. */
  readonly refrained: string
}

/** Runs the work once `--yes` was given, or what it is named by typed once more by a person; returns 1 where that person thought again, 2 where nobody can be asked. */
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
