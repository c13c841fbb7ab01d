// `gatehouse client delete`: asks first, since it ends every grant of the client.

import { createInterface } from 'node:readline/promises'
import type { Input } from '../input.ts'
import { json } from '../table.ts'
import { print, tell } from '../terminal.ts'
import { complain, withClient } from './client-session.ts'

/** Takes `--yes`, or the id typed once more by a person; returns 1 where that person thought again. */
export async function remove(input: Input): Promise<number> {
  const canAsk = process.stdin.isTTY && process.stderr.isTTY && input['token-file'] !== '-'
  if (!input.yes && !canAsk) return complain('deleting a client ends every grant of it; say --yes')
  return withClient(input, async (api, path, id) => {
    if (!input.yes && !(await isTyped(id))) {
      tell('Nothing was deleted.')
      return 1
    }
    const { result } = await api.ask('DELETE', path)
    tell(`Deleted the client ${id}.`)
    if (input.json) print(json(result))
    return 0
  })
}

async function isTyped(id: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const isOver = new Promise<string>(resolve => lines.once('close', () => resolve('')))
  const typed = lines.question('This ends every grant of the client. Type its id to delete it: ')
  const answer = await Promise.race([typed.catch(() => ''), isOver])
  lines.close()
  return answer.trim() === id
}
