// `gatehouse client show`: prints one OAuth client in full.

import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { print, tell } from '../../terminal/output.ts'
import { withClient } from '../api/session.ts'
import { clientText, failedSentence, type ShownClient } from './view.ts'

export function show(input: Input): Promise<number> {
  return withClient(input, async (api, path, id) => {
    const { result } = await api.ask<ShownClient>('GET', path)
    print(input.json ? json(result) : clientText(result))
    if (result.client_uri_verification?.status === 'failed') tell(failedSentence(id))
    if (result.has_rotated_secret)
      tell(`Both secrets work. Once the older one is unused, run gatehouse client drop-old-secret ${id}`)
    return 0
  })
}
