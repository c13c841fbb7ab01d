// A row of the management API, the input of its handler, and what all handlers work on.

import type { Clock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { LogSeries } from '../../ai-logs/series/log-series.ts'
import type { ZoneConfig } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import type { LogExport } from '../../log-export/log-export.ts'
import type { SpoolWriter } from '../../log-export/spool-writer.ts'
import type { Actor, Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Permission } from '../../permissions/permit.ts'
import type { TokenTags } from '../../tokens/token-tags.ts'
import type { TokenVerifier } from '../../tokens/verify.ts'
import type { ApiResponse } from '../http/envelope.ts'
import type { LimitsWatch } from '../../limits/limits-watch.ts'
import type { Attention } from '../attention/attention.ts'
import type { Instance } from '../facts/instance.ts'
import type { ProviderFacts } from '../facts/provider-facts.ts'
import type { GrantKeeper } from '../upkeep/grant-keeper.ts'
import type { BodyKind } from '../http/request-body.ts'
import type { Refusals } from './refusal-log.ts'
import type { LastingAccess } from './lasting-access.ts'
import type { Method, ApiRequest } from '../http/router.ts'
import type { WriteLimit } from './write-limit.ts'
import type { Zones } from '../facts/zone-facts.ts'

export const account = '/client/v4/accounts/{account_id}'
export const user = '/client/v4/user'

export type Row = RowOfAny & (Reading | Deleting | Writing)

interface Reading {
  readonly method: 'GET'
  readonly lastingAccess?: undefined
}

/** Deletions leave no access behind. */
interface Deleting {
  readonly method: 'DELETE'
  readonly lastingAccess?: 'nothing'
}

interface Writing {
  readonly method: Exclude<Method, 'GET' | 'DELETE'>
  readonly lastingAccess: LastingAccess
}

interface RowOfAny {
  readonly path: string
  /** On the account; null if any token of it is enough. */
  readonly permission: Permission | null
  /** The OAuth scope, for tokens that must act for a user. */
  readonly scope?: string
  /** The known parameters; null if the handler checks them itself. */
  readonly query?: readonly string[] | null
  readonly body?: BodyKind
  /** The request header fields that it obeys beside those of every row, for the document. */
  readonly headers?: readonly ('if-match' | 'if-none-match' | 'idempotency-key')[]
}

export type ApiRow = Row & {
  readonly handle: (call: Call, api: Api) => Promise<ApiResponse>
}

export type PlainRow = Row & {
  readonly permission: null
  readonly handle: (call: Call, api: Api) => ApiResponse | Promise<ApiResponse>
}

export type UserRow = Row & {
  readonly permission: null
  readonly scope: string
  readonly handle: (call: UserCall, api: Api) => Promise<ApiResponse>
}

export type ZoneRow = Row & {
  readonly permission: Permission
  readonly handle: (call: ZoneCall, api: Api) => Promise<ApiResponse>
}

export function row<const M extends Method, const P extends Permission | null, H, const More = object>(
  method: M,
  path: string,
  permission: P,
  handle: H,
  more?: More,
) {
  return { method, path, permission, handle, ...(more as More) }
}

/** As `WebhookSender` of budget alerts sends. */
interface Webhooks {
  send(
    url: string,
    message: { readonly id: string; readonly body: string },
    secrets: readonly string[],
    now: number,
  ): Promise<string | null>
}

export interface Api {
  readonly store: Store
  readonly verifier: TokenVerifier
  readonly tags: TokenTags
  readonly secrets: SecretKeys
  readonly log: Logger
  readonly zones: Zones
  readonly providers: ProviderFacts
  readonly logSeries: LogSeries
  readonly instance: Instance
  readonly attention: Attention
  readonly limits: Pick<LimitsWatch, 'differences'>
  /** The URL of the authorization server; null or absent without one. */
  readonly issuer?: string | null
  readonly grants: GrantKeeper
  /** Sends messages to URLs that callers choose. */
  readonly webhooks: Webhooks
  /** The origin of the sign-in pages, in the form of URL.origin; null for none. */
  readonly pages: string | null
  /** The origin of AI calls; null if the gateway serves none. */
  readonly aiOrigin?: () => string | null
  readonly writes?: WriteLimit
  readonly logExport?: Pick<LogExport, 'state'>
  /** Takes lines for the export of AI log entries. */
  readonly spool?: Pick<SpoolWriter, 'tell'>
  /** Receives every request that is refused for its caller, or for their rate. */
  readonly refusals?: Refusals
  readonly clock?: Clock
}

export interface Call {
  /** The account of the path; for a zone its owner, and outside of accounts that of the token. */
  readonly account: string
  readonly caller: Token
  readonly params: ApiRequest['params']
  readonly query: URLSearchParams
  readonly body: unknown
  readonly bytes: Buffer | null
  /** The time of the request, in ms since the epoch. */
  readonly now: number
  /** The caller's address, as `addressOf` has it, and the ray id of the request. */
  readonly address: string
  readonly ray: string
  readonly ifMatch: string | null
  readonly ifNoneMatch: string | null
  readonly idempotencyKey: string | null
}

export interface UserCall extends Call {
  readonly actor: Actor
}

export interface ZoneCall extends Call {
  readonly zone: ZoneConfig
}

/** Whether the method of a row normally has a body, but the row takes none. */
export function takesNoBody({ method, body }: Pick<Row, 'method' | 'body'>): boolean {
  return body === undefined && (method === 'POST' || method === 'PUT')
}
