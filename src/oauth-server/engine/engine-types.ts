// What is used here of the package oidc-provider, which has no types of its own.

import type { IncomingMessage, ServerResponse } from 'node:http'

/** Fields of a model as they are kept. */
export interface Payload {
  jti?: string
  kind?: string
  iat?: number
  exp?: number
  accountId?: string
  clientId?: string
  grantId?: string
  consumed?: number | boolean
  [name: string]: unknown
}

export interface Adapter {
  upsert(id: string, payload: Payload, expiresIn: number): Promise<void>
  find(id: string): Promise<Payload | undefined>
  findByUid(uid: string): Promise<Payload | undefined>
  findByUserCode(code: string): Promise<Payload | undefined>
  consume(id: string): Promise<void>
  destroy(id: string): Promise<void>
  revokeByGrantId(id: string): Promise<void>
}

/** A request in the engine. */
export interface Context {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly headers: IncomingMessage['headers']
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | string[] | undefined>>
  readonly oidc: OidcContext
  readonly response: { get(name: string): string | undefined }
  status: number
  type: string
  body: unknown
  set(name: string, value: string): void
  remove(name: string): void
  redirect(location: string): void
}

interface OidcContext {
  readonly route: string
  readonly client: Client | undefined
  readonly account: { readonly accountId: string } | undefined
  readonly grant: Grant | undefined
  readonly session: Session | undefined
  readonly params: Record<string, string | string[] | undefined>
  readonly prompts: ReadonlySet<string>
  readonly result: InteractionResult | undefined
  readonly entities: Readonly<Record<string, Payload | undefined>>
  readonly resourceServers: Readonly<Record<string, object>>
  readonly requestParamScopes: ReadonlySet<string>
}

export interface InteractionResult {
  readonly login?: { readonly accountId: string; readonly ts?: number }
  readonly select_account?: object
  readonly consent?: object
  readonly error?: string
  readonly error_description?: string
}

interface Client {
  readonly clientId: string
  readonly clientAuthMethod: string
  /** What was put into the record as extra metadata. */
  readonly registered: unknown
  grantTypeAllowed(type: string): boolean
}

interface Session {
  accountId?: string
  uid: string
  jti: string
  loginTs?: number
  destroyed?: boolean
}

interface Grant {
  readonly jti?: string
  readonly accountId?: string
  readonly clientId?: string
  getOIDCScope(): string
  getResourceScope(resource: string): string
}

interface Interaction {
  readonly uid: string
  readonly returnTo: string
  readonly exp: number
  readonly iat: number
  readonly prompt: { readonly name: string; readonly reasons: readonly string[] }
  readonly params: Readonly<Record<string, string | string[] | undefined>>
  readonly lastSubmission?: InteractionResult
  result?: InteractionResult
  save(ttl: number): Promise<string>
}

interface Model {
  readonly prototype: object
}

export interface Provider {
  proxy: boolean
  readonly Client: Model
  readonly Grant: Model & { new (payload: Payload): Grant }
  readonly AccessToken: Model
  readonly RefreshToken: Model
  readonly Session: Model & {
    new (payload: Payload): Session
    get(context: Context): Promise<Session>
  }
  readonly Interaction: Model & { find(uid: string): Promise<Interaction | undefined> }
  readonly IdToken: Model & {
    validate(token: string, client: Client): Promise<{ readonly payload: Readonly<Record<string, unknown>> }>
  }
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): this
  on(event: string, listener: (...values: never[]) => void): this
}

interface OidcError extends Error {
  error: string
  error_description?: string
  error_detail?: string
  status: number
  statusCode: number
  expose: boolean
  allow_redirect: boolean
}

interface PromptCheck {
  readonly reason: string
}

/** The package. */
export interface EngineModule {
  readonly Provider: {
    new (issuer: string, configuration: object): Provider
    readonly ctx: Context | undefined
  }
  readonly errors: Readonly<
    Record<
      | 'AccessDenied'
      | 'InvalidClientAuth'
      | 'InvalidGrant'
      | 'InvalidRequest'
      | 'InvalidScope'
      | 'InvalidTarget'
      | 'LoginRequired'
      | 'OIDCProviderError'
      | 'TemporarilyUnavailable'
      | 'UnsupportedResponseMode',
      new (
        ...values: unknown[]
      ) => OidcError
    >
  >

  readonly interactionPolicy: {
    readonly Prompt: new (
      info: { name: string; requestable: boolean },
      ...checks: PromptCheck[]
    ) => { readonly name: string }
    readonly Check: new (
      reason: string,
      description: string,
      error: string,
      check: (context: Context) => boolean | Promise<boolean>,
    ) => PromptCheck
    base(): { get(name: string): { readonly name: string } | undefined }
  }
}
