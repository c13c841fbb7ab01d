// `gatehouse client create`: creates an OAuth client from options, or from a file with the whole body.

import { visible } from '../../../base/text/visible.ts'
import type { Input } from '../input.ts'
import { columns, json } from '../../terminal/format.ts'
import { complain, print, tell } from '../../terminal/output.ts'
import { clients, withApi } from '../api/session.ts'
import { type Body, bodyIn, settingsOf } from './settings.ts'
import { recordText, type ShownClient } from './view.ts'

/** Writes id and secret to stdout, all else to stderr. */
export async function create(input: Input): Promise<number> {
  const body = bodyOf(input)
  if ('flaw' in body) return complain(body.flaw)
  return withApi(input, async api => {
    const { result } = await api.ask<ShownClient>('POST', clients, { body: body.value, once: true })
    tellOf(result)
    print(input.json ? json(result) : idAndSecret(result))
    return 0
  })
}

function bodyOf(input: Input): Body {
  const settings = settingsOf(input)
  if (input.file !== undefined) return bodyIn(input.file, settings)
  const { name, 'redirect-uri': redirectUris, scope } = input
  if (name === undefined || redirectUris === undefined || scope === undefined)
    return { flaw: 'a client needs --name, --redirect-uri and --scope, or --file' }
  const defaults = {
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_basic',
  }
  return { value: { ...defaults, ...settings } }
}

function tellOf(client: ShownClient): void {
  const { client_secret: secret, client_uri_verification: proof } = client
  const ofSecret = secret === undefined ? 'It has no secret.' : 'Its secret is shown only once.'
  tell(`Created the private client ${visible(client.client_name)}. ${ofSecret}`)
  if (!proof) return
  tell('Before it can become public, prove its domain with this DNS record:')
  tell(recordText(proof).trimEnd())
}

function idAndSecret({ client_id: id, client_secret: secret }: ShownClient): string {
  const rows = [['client_id', id]]
  if (secret !== undefined) rows.push(['client_secret', secret])
  return columns(rows)
}
