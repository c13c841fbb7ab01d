// `gatehouse client publish`: from private to public, which there is no way back from.

import { ApiRefusal } from '../api-client.ts'
import type { Input } from '../input.ts'
import { json } from '../table.ts'
import { print, tell } from '../terminal.ts'
import { tellMistakes, withClient } from './client-session.ts'

/** The code of a precondition that is missing. */
const missing = 10412

/** Returns 1 where preconditions are missing, after telling each. */
export function publish(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    try {
      const { result } = await api.ask('PATCH', path, { body: { visibility: 'public' } })
      tell(`The client ${id} is public: any user may authorize it, and it can't become private again.`)
      if (input.json) print(json(result))
      return 0
    } catch (cause) {
      if (!(cause instanceof ApiRefusal) || cause.mistakes[0]?.code !== missing) throw cause
      tell(`The client ${id} can't be public yet. What is missing:`)
      tellMistakes(cause.mistakes)
      return 1
    }
  })
}
