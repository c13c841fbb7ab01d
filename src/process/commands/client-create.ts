// `gatehouse client create`: an OAuth client from options, or from a file with the whole body.

import { readFileSync } from 'node:fs'
import type { Input } from '../input.ts'
import { columns, json, visible } from '../table.ts'
import { print, tell } from '../terminal.ts'
import { clients, complain, withApi } from './client-session.ts'
import { recordText, type ShownClient } from './client-view.ts'

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

type Body = { readonly value: unknown } | { readonly flaw: string }

function bodyOf(input: Input): Body {
  const members = membersOf(input)
  if (input.file !== undefined)
    return Object.values(members).some(value => value !== undefined)
      ? { flaw: '--file has the whole body; no other setting can stand beside it' }
      : bodyIn(input.file)
  const { name, 'redirect-uri': redirectUris, scope } = input
  if (name === undefined || redirectUris === undefined || scope === undefined)
    return { flaw: 'a client needs --name, --redirect-uri and --scope, or --file' }
  const defaults = {
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_basic',
  }
  return { value: { ...defaults, ...withoutUndefined(members) } }
}

function membersOf(input: Input) {
  return {
    client_name: input.name,
    redirect_uris: input['redirect-uri'],
    scopes: input.scope,
    token_endpoint_auth_method: input['auth-method'],
    grant_types: input.refresh ? ['authorization_code', 'refresh_token'] : undefined,
    client_uri: input['client-uri'],
    logo_uri: input['logo-uri'],
    policy_uri: input['policy-uri'],
    tos_uri: input['tos-uri'],
    post_logout_redirect_uris: input['post-logout-uri'],
    allowed_cors_origins: input.origin,
  }
}

function withoutUndefined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function bodyIn(file: string): Body {
  try {
    return { value: JSON.parse(readFileSync(file, 'utf8')) }
  } catch (cause) {
    return { flaw: `--file ${file} ${cause instanceof SyntaxError ? 'is not JSON' : "can't be read"}` }
  }
}

function tellOf(client: ShownClient): void {
  const { client_secret: secret, client_uri_verification: proof } = client
  const ofSecret = secret === undefined ? 'It has no secret.' : 'Its secret is shown this once.'
  tell(`Created the private client ${visible(client.client_name)}. ${ofSecret}`)
  if (!proof) return
  tell('Before it can be public, its domain has to be proven by this record in DNS:')
  tell(recordText(proof).trimEnd())
}

function idAndSecret({ client_id: id, client_secret: secret }: ShownClient): string {
  const rows = [['client_id', id]]
  if (secret !== undefined) rows.push(['client_secret', secret])
  return columns(rows)
}
