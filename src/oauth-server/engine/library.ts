// The parts of oidc-provider that are used here; the package has no types of its own.

import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Payload {
  jti?: string
  kind?: string
  iat?: number
  exp?: number
  accountId?: string
  clientId?: string
  grantId?: string
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

export interface Context {
  readonly req: IncomingMessage
  readonly headers: IncomingMessage['headers']
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
  readonly provider: Provider
  readonly route: string
  readonly client: LibraryClient | undefined
  readonly account: { readonly accountId: string } | undefined
  readonly grant: Payload | undefined
  readonly params: Record<string, string | string[] | undefined>
  readonly result: InteractionResult | undefined
  readonly entities: Readonly<Record<string, object | undefined>>
}

export interface InteractionResult {
  readonly login?: { readonly accountId: string; readonly ts?: number }
}

export interface LibraryClient {
  readonly clientId: string
  readonly clientAuthMethod: string
  /** The client as stored; the library passes it on as extra metadata. */
  readonly registered: unknown
  grantTypeAllowed(type: string): boolean
}

interface Session {
  destroyed?: boolean
  loginAccount(details: object): void
}

interface Token {
  format?: string
  generateTokenId(): string
}

interface IdToken {
  readonly ctx: Context | undefined
  set(claim: string, value: unknown): void
  issue(options: { readonly use: string }): Promise<string>
}

type Model<T> = new (payload: Payload) => T

export interface Provider {
  proxy: boolean
  readonly Client: { readonly prototype: object }
  readonly Grant: Model<Payload>
  readonly AccessToken: Model<Token>
  readonly RefreshToken: Model<Token>
  readonly IdToken: new (claims: object, options: object) => IdToken
  readonly Session: Model<Session> & { get(context: Context): Promise<Session> }
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
  use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): this
  on(event: string, listener: (...values: never[]) => void): this
}

export interface OidcError extends Error {
  readonly error: string
  error_description?: string
  readonly error_detail?: string
  status: number
  statusCode: number
}

type ErrorClass<P extends readonly unknown[]> = new (...values: P) => OidcError
type WithDetail = ErrorClass<[options?: { readonly detail?: string; readonly cause?: Error }]>
type WithDescription = ErrorClass<[description: string]>

interface PromptCheck {
  readonly reason: string
}

export interface Library {
  readonly Provider: {
    new (issuer: string, configuration: object): Provider
    readonly ctx: Context | undefined
  }
  readonly errors: {
    readonly OIDCProviderError: ErrorClass<[status: number, message: string]>
    readonly InvalidClient: WithDescription
    readonly InvalidClientAuth: WithDetail
    readonly InvalidGrant: WithDetail
    readonly InvalidToken: WithDetail
    readonly InvalidRequest: WithDescription
    readonly InvalidScope: WithDescription
    readonly InvalidTarget: WithDescription
    readonly LoginRequired: WithDescription
    readonly TemporarilyUnavailable: WithDescription
    readonly UnauthorizedClient: WithDescription
    readonly UnsupportedResponseMode: WithDescription
  }
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
