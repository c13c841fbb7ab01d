// `gatehouse gateway delete`: asks first, since the log of the gateway is deleted with it.

import { confirmed } from '../api/confirm.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { print, tell } from '../../terminal/output.ts'
import { withGateway } from './shown-gateway.ts'

const deed = {
  consequence: 'deleting a gateway deletes its log entries, and its calls fail',
  question:
    'This deletes the log entries of the gateway, and its calls will fail. Type its id to delete it: ',
  refrained: 'Nothing was deleted.',
} as const

/** Requires `--yes`, or the id retyped by a person; returns 1 when the person declines. */
export function remove(input: Input): Promise<number> {
  const work = async (...[api, path, id]: Parameters<Parameters<typeof withGateway>[1]>) => {
    const { result } = await api.ask('DELETE', path)
    tell(`Deleted the gateway ${id}.`)
    if (input.json) print(json(result))
    return 0
  }
  return confirmed(input, deed, work, withGateway)
}
