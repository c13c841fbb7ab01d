// `gatehouse client rotate` and `gatehouse client drop-old-secret`: replace a secret without a moment in
// which none is valid.

import { visible } from '../../../base/text/visible.ts'
import { type ApiClient, ApiRefusal } from '../api/api-client.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { print, tell } from '../../terminal/output.ts'
import { withClient } from '../api/session.ts'

/** Writes the new secret to stdout and all else to stderr, so that a script can capture it. */
export function rotate(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const result = await another(api, path)
    if (result === null) {
      tell(
        `gatehouse: the client ${id} already has two secrets; once the older one is unused, run gatehouse client drop-old-secret ${id}`,
      )
      return 1
    }
    tell(
      `The new secret is shown only once. The old one works until you run gatehouse client drop-old-secret ${id}`,
    )
    print(input.json ? json(result) : `${visible(result.client_secret)}\n`)
    return 0
  })
}

/** Returns null if there are two already. */
async function another(api: ApiClient, path: string): Promise<{ readonly client_secret: string } | null> {
  try {
    return (await api.ask<{ client_secret: string }>('POST', `${path}/rotate_secret`, { once: true })).result
  } catch (cause) {
    if (!(cause instanceof ApiRefusal) || !cause.isFor('two_secrets')) throw cause
    return null
  }
}

export function dropOldSecret(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const { result } = await api.ask('DELETE', `${path}/rotate_secret`)
    tell(`Only the newer secret of ${id} works now.`)
    if (input.json) print(json(result))
    return 0
  })
}
