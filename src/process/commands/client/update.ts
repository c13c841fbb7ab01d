// `gatehouse client update`: changes settings of an OAuth client, and reports what that changed.

import { isDeepStrictEqual } from 'node:util'
import { visible } from '../../../base/text/visible.ts'
import type { Input } from '../input.ts'
import { json } from '../../terminal/format.ts'
import { complain, print, tell } from '../../terminal/output.ts'
import { changeAsRead, withClient } from '../api/session.ts'
import { type Body, bodyIn, settingsOf } from './settings.ts'
import { recordText, type ShownClient, settingNames } from './view.ts'

/** What --clear accepts, by API name. */
export const clearable: readonly string[] = [
  'optional_scopes',
  'post_logout_redirect_uris',
  'allowed_cors_origins',
  'logo_uri',
  'policy_uri',
  'tos_uri',
  'client_uri',
]

/** Writes a secret to stdout if the change created one, and all else to stderr. */
export async function update(input: Input): Promise<number> {
  const body = bodyOf(input)
  if ('flaw' in body) return complain(body.flaw)
  return withClient(input, async (api, path, id) => {
    // If-Match guarantees that everything new comes from this change. A repetition after a concurrent change
    // has the same effect, so it is retried.
    const { before, after } = await changeAsRead<ShownClient>(api, path, () => body.value)
    tellOf(id, before, after)
    if (input.json) print(json(after))
    else if (after.client_secret !== undefined) print(`${visible(after.client_secret)}\n`)
    return 0
  })
}

function bodyOf(input: Input): Body {
  const { clear = [], file } = input
  const settings = settingsOf(input)
  const unknown = clear.find(name => !clearable.includes(name))
  const torn = clear.find(name => Object.hasOwn(settings, name))
  if (unknown !== undefined) return { flaw: `--clear ${unknown} must be one of ${clearable.join(', ')}` }
  if (torn !== undefined) return { flaw: `--clear ${torn} cannot be combined with the option that sets it` }
  if (input.refresh && input['no-refresh']) return { flaw: '--refresh cannot be combined with --no-refresh' }
  const changes = { ...settings, ...Object.fromEntries(clear.map(name => [name, null])) }
  if (file !== undefined) return bodyIn(file, changes)
  if (Object.keys(changes).length === 0)
    return { flaw: 'nothing to change; see gatehouse client update --help' }
  return { value: changes }
}

function tellOf(id: string, before: ShownClient, after: ShownClient): void {
  const changed = settingNames.filter(name => !isDeepStrictEqual(before[name], after[name]))
  tell(
    changed.length === 0
      ? `Nothing changed: the client ${id} already has these settings.`
      : `Changed ${changed.join(', ')} of the client ${id}.`,
  )
  if (after.client_secret !== undefined) tell('It has a secret now, which is shown only once.')
  if (after.token_endpoint_auth_method === 'none' && changed.includes('token_endpoint_auth_method'))
    tell('It no longer has a secret; the old ones stopped working.')
  const proof = after.client_uri_verification
  if (!proof || proof.status === 'verified' || !changed.includes('client_uri')) return
  tell('Before it can become public, prove its domain with this DNS record:')
  tell(recordText(proof).trimEnd())
}
