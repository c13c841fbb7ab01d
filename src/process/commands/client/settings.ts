// The settings of an OAuth client from options of the command line, or from a file, as the body of a request.

import { readFileSync } from 'node:fs'
import type { Input } from '../input.ts'

/** The body of a request, or the flaw of its source. */
export type Body = { readonly value: unknown } | { readonly flaw: string }

/** Returns what the options set, by API name. */
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

/** Reads the whole body from the file of --file, which cannot be combined with options that set something. */
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
