// `gatehouse client rotate` and `gatehouse client drop-old-secret`: from one secret to the next, without a moment in which none works.

import type { Input } from '../input.ts'
import { json } from '../table.ts'
import { print, tell } from '../terminal.ts'
import { withClient } from './client-session.ts'

/** Writes the new secret to stdout and all else to stderr, so that a script can keep it. */
export function rotate(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const { result } = await api.ask<{ client_secret: string }>('POST', `${path}/rotate_secret`, {
      once: true,
    })
    tell(`The new secret is shown this once. The old one works until gatehouse client drop-old-secret ${id}`)
    print(input.json ? json(result) : `${result.client_secret}\n`)
    return 0
  })
}

export function dropOldSecret(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const { result } = await api.ask('DELETE', `${path}/rotate_secret`)
    tell(`Only the newer secret of ${id} works now.`)
    if (input.json) print(json(result))
    return 0
  })
}
