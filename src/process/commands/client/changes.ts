// `gatehouse client create` and `update`, from options or a file with the whole body.

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { visible } from '../../../base/text/visible.ts'
import { columns, json } from '../../terminal/format.ts'
import { complain, print, tell, printResult } from '../../terminal/output.ts'
import { changeAsRead, clients, withApi, withClient } from '../api/session.ts'
import type { Input } from '../input.ts'
import { recordText, settingNames, type ShownClient } from './view.ts'

export async function create(input: Input): Promise<number> {
  const body = newBody(input)
  if ('flaw' in body) return complain(body.flaw)
  return withApi(input, async api => {
    const { result } = await api.ask<ShownClient>('POST', clients, { body: body.value, once: true })
    tellCreated(result)
    return printResult(input, result, idAndSecret(result))
  })
}

function newBody(input: Input): Body {
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

function tellCreated(client: ShownClient): void {
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

export const clearable: readonly string[] = [
  'optional_scopes',
  'post_logout_redirect_uris',
  'allowed_cors_origins',
  'logo_uri',
  'policy_uri',
  'tos_uri',
  'client_uri',
]

export async function update(input: Input): Promise<number> {
  const body = changesOf(input)
  if ('flaw' in body) return complain(body.flaw)
  return withClient(input, async (api, path, id) => {
    // If-Match guarantees that everything new comes from this change; repeating it has the same effect.
    const { before, after } = await changeAsRead<ShownClient>(api, path, () => body.value)
    tellChanged(id, before, after)
    if (input.json) print(json(after))
    else if (after.client_secret !== undefined) print(`${visible(after.client_secret)}\n`)
    return 0
  })
}

function changesOf(input: Input): Body {
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

function tellChanged(id: string, before: ShownClient, after: ShownClient): void {
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

type Body = { readonly value: unknown } | { readonly flaw: string }

export function settingsOf(input: Input): Readonly<Record<string, unknown>> {
  const members = {
    client_name: input.name,
    redirect_uris: input['redirect-uri'],
    scopes: input.scope,
    token_endpoint_auth_method: input['auth-method'],
    grant_types: grantTypesOf(input),
    client_uri: input['client-uri'],
    logo_uri: input['logo-uri'],
    policy_uri: input['policy-uri'],
    tos_uri: input['tos-uri'],
    post_logout_redirect_uris: input['post-logout-uri'],
    allowed_cors_origins: input.origin,
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** The file cannot be combined with options that set something. */
export function bodyIn(file: string, settings: object): Body {
  if (Object.keys(settings).length > 0)
    return { flaw: '--file has the whole body and cannot be combined with other settings' }
  try {
    return { value: JSON.parse(readFileSync(file, 'utf8')) }
  } catch (cause) {
    return { flaw: `--file ${file} ${cause instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read'}` }
  }
}

function grantTypesOf(input: Input): readonly string[] | undefined {
  if (input.refresh) return ['authorization_code', 'refresh_token']
  return input['no-refresh'] ? ['authorization_code'] : undefined
}
