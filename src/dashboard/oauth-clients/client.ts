// OAuth clients in the form of the management API, and in words.

export interface Client {
  readonly client_id: string
  /** Of a new client or secret. */
  readonly client_secret?: string
  readonly client_name: string
  readonly grant_types: readonly string[]
  readonly token_endpoint_auth_method: Method
  readonly redirect_uris: readonly string[]
  readonly post_logout_redirect_uris: readonly string[]
  readonly allowed_cors_origins: readonly string[]
  readonly scopes: readonly string[]
  readonly optional_scopes: readonly string[]
  readonly logo_uri?: string
  readonly policy_uri?: string
  readonly tos_uri?: string
  readonly client_uri?: string
  readonly visibility: 'private' | 'public'
  readonly client_secrets: readonly Secret[]
  readonly client_uri_verification?: Verification
  readonly created_at: string
  readonly updated_at: string
  readonly promoted_at?: string
}

type Method = 'client_secret_basic' | 'client_secret_post' | 'none'

export interface Secret {
  readonly created_at: string
  readonly tail: string
  readonly status?: 'key_lost'
  /** To the hour. */
  readonly last_used_at?: string
}

export interface Verification {
  readonly status: 'pending' | 'in_progress' | 'verified' | 'failed'
  /** The required value of a TXT record of the host. */
  readonly text: string
  readonly host: string
  readonly last_answer?: {
    readonly at: string
    readonly outcome: string
    readonly records: readonly string[]
    readonly hint?: string
  }
  readonly next_check?: string
  readonly deadline: string
  readonly verified_at?: string
}

export interface Scope {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly description: string
}

/** The scope that follows refresh tokens, so that nobody has to tick it. */
export const refreshing = 'offline_access'

/** Whether a client has secrets. */
export function isConfidential({ token_endpoint_auth_method }: Client): boolean {
  return token_endpoint_auth_method !== 'none'
}

export const methodsInWords: Readonly<Record<Method, string>> = {
  client_secret_basic: 'Server app, with a secret in a header (client_secret_basic)',
  client_secret_post: 'Server app, with a secret in the body (client_secret_post)',
  none: 'Browser, mobile, desktop or command-line app, with PKCE and no secret (none)',
}

export const statesInWords: Readonly<Record<Verification['status'], string>> = {
  pending: 'verification pending',
  in_progress: 'verifying',
  verified: 'verified',
  failed: 'verification failed',
}

interface Precondition {
  readonly isMet: boolean
  readonly text: string
}

/** Lists the preconditions of publishing a client. */
export function preconditionsOf(
  client: Client,
  scopes: readonly (Scope & { readonly is_identity: boolean })[],
) {
  const opening = new Set(scopes.filter(({ is_identity }) => !is_identity).map(({ id }) => id))
  const list: readonly Precondition[] = [
    { isMet: client.client_name !== '', text: 'A name' },
    { isMet: client.logo_uri !== undefined, text: 'A logo' },
    { isMet: client.client_uri !== undefined, text: 'A home page' },
    {
      isMet: client.client_uri_verification?.status === 'verified',
      text: 'The host of the home page, verified by DNS',
    },
    {
      isMet: client.scopes.some(id => opening.has(id)),
      text: 'A scope that opens something beside who the user is',
    },
  ]
  return list
}
