// `gatehouse client delete`: asks first, since it revokes every grant of the client.

import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { print, tell } from '../../terminal/output.ts'
import { confirmed } from '../api/confirm.ts'

const deed = {
  consequence: 'deleting a client revokes all of its grants',
  question: 'This revokes all grants of the client. Type its id to delete it: ',
  refrained: 'Nothing was deleted.',
} as const

/** Requires `--yes`, or the id retyped by a person; returns 1 when the person declines. */
export function remove(input: Input): Promise<number> {
  return confirmed(input, deed, async (api, path, id) => {
    const { result } = await api.ask('DELETE', path)
    tell(`Deleted the client ${id}.`)
    if (input.json) print(json(result))
    return 0
  })
}
