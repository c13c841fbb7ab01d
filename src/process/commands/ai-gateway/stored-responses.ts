// `gatehouse gateway responses` and `delete-responses`.

import { columns } from '../../terminal/format.ts'
import { printResult, tellDone } from '../../terminal/output.ts'
import { confirmed } from '../api/confirm.ts'
import type { Input } from '../input.ts'
import { withGateway } from './gateways.ts'

interface StoredSize {
  readonly entries: number
  readonly bytes: number
}

interface StoredResponses extends StoredSize {
  readonly emptied_at: string | null
  readonly count: number
  readonly count_cached: number
}

export function show(input: Input): Promise<number> {
  return withGateway(input, async (api, path) => {
    const { result } = await api.ask<StoredResponses>('GET', `${path}/stored_responses`)
    const { entries, bytes, emptied_at, count, count_cached: reused } = result
    const rows = [
      ['stored', `${entries} responses, ${bytes} bytes`],
      ['deleted', emptied_at ?? 'never'],
      ['calls of 24 hours', `${count}, of which ${reused} had the response of another one`],
    ]
    return printResult(input, result, columns(rows))
  })
}

const deletion = {
  consequence: 'equal calls go to their providers again, at their cost',
  question:
    'Equal calls will go to their providers again, at their cost. Type the id of the gateway to go on: ',
  refrained: 'Nothing was deleted.',
} as const

export function remove(input: Input): Promise<number> {
  return confirmed(withGateway, input, deletion, async (api, path, id) => {
    const { result } = await api.ask<StoredSize>('DELETE', `${path}/stored_responses`)
    return tellDone(input, result, `Deleted ${result.entries} stored responses of the gateway ${id}.`)
  })
}
