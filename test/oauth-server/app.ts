// What apps do at an authorization server, in tests.

import assert from 'node:assert/strict'
import type { OAuthClient } from '../../src/store/records/oauth-client.ts'
import {
  authorizationPath,
  authorize,
  Browser,
  callback,
  makeAccount,
  makeUser,
  register,
  type Site,
  tokenRequest,
} from './site.ts'

export interface App {
  readonly client: OAuthClient
  readonly secret: string | null
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
  readonly scope: string
  readonly expires_in: number
}

interface OAuthError {
  readonly error: string
  readonly error_description: string
  readonly error_uri: string
}

export const scope = 'openid offline_access user.read ai_gateway.run'

/** Makes an app, and somebody of its account who is signed in. */
export async function visit(site: Site, settings: Partial<OAuthClient> = {}) {
  const account = await makeAccount(site)
  const user = await makeUser(site, account)
  const app = await register(site, account, settings)
  return { account, user, app, browser: new Browser(site.issuer).signIn(user) }
}

type Params = Readonly<Record<string, string>>

/** Gets a code; fails where the app gets an error. */
export async function codeOf(site: Site, browser: Browser, client: OAuthClient, more: Params = {}) {
  const url = await authorize(site, browser, authorizationPath(client, { scope, ...more }))
  assert.equal(url.searchParams.get('error_description'), null)
  return url.searchParams.get('code')!
}

export function exchange(site: Pick<Site, 'issuer'>, app: App, code: string, more: Params = {}) {
  const params = { grant_type: 'authorization_code', code, redirect_uri: callback, ...more }
  return tokenRequest(site, app, params)
}

export function refresh(site: Pick<Site, 'issuer'>, app: App, token: string, more: Params = {}) {
  return tokenRequest(site, app, { grant_type: 'refresh_token', refresh_token: token, ...more })
}

/** Gets the tokens of a new code. */
export async function tokensOf(site: Site, browser: Browser, app: App, more: Params = {}): Promise<Tokens> {
  return tokensIn(await exchange(site, app, await codeOf(site, browser, app.client, more)))
}

export function userinfo({ issuer }: Pick<Site, 'issuer'>, token: string): Promise<Response> {
  return fetch(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } })
}

export async function errorIn(response: Response): Promise<OAuthError> {
  return (await response.json()) as OAuthError
}

export async function tokensIn(response: Response): Promise<Tokens> {
  assert.equal(response.status, 200, await response.clone().text())
  return (await response.json()) as Tokens
}

/** Waits until what was noted is written, and returns what the owner of a client reads. */
export async function eventsOf({ oauth, store }: Site, { account, id }: OAuthClient) {
  await oauth.close()
  return store.authorizationEvents.list(account, id)
}

/** Sends a form to a path with the authentication of an app. */
export function send({ issuer }: Site, path: string, { client, secret }: App, params: Params) {
  const body = new URLSearchParams(params)
  const headers: Record<string, string> = {}
  if (secret === null) body.set('client_id', client.id)
  else headers.authorization = `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}`
  return fetch(`${issuer}${path}`, { method: 'POST', headers, body })
}
