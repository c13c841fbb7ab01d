// `gatehouse client events`: what happened when users connected an OAuth client, and why it failed.

import type { Input } from '../input.ts'
import { columns, json } from '../../terminal/format.ts'
import { print } from '../../terminal/output.ts'
import { withClient } from '../api/session.ts'

interface ShownEvent {
  readonly when: string
  readonly step: string
  readonly result: string
  readonly error?: string
  readonly reason?: string
}

export function events(input: Input): Promise<number> {
  return withClient(input, async (api, path) => {
    const query = input.failed ? '?result=failure' : ''
    const { result } = await api.ask<readonly ShownEvent[]>('GET', `${path}/authorization_events${query}`)
    print(input.json ? json(result) : columns([head, ...result.map(cells)]))
    return 0
  })
}

const head = ['WHEN', 'STEP', 'RESULT', 'REASON']

function cells({ when, step, result, error, reason }: ShownEvent): string[] {
  return [when, step, error ?? result, reason ?? '']
}
