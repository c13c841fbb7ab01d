// The requests of the pages of OAuth clients to the management API.

import { apiPath } from '../page/api-client.ts'
import type { PageRequest } from '../page/page-request.ts'
import { paths } from '../page/paths.ts'
import type { Client, Scope } from './client.ts'

/** A scope, and whether it only reveals who the user is. */
export type ListedScope = Scope & { readonly is_identity: boolean }

export function clientsOf({ account }: PageRequest): string {
  return apiPath('accounts', account.id, 'oauth_clients')
}

/** Returns the API path of the page's client, or one below it. */
export function clientOf({ account, params }: PageRequest, ...below: readonly string[]): string {
  return apiPath('accounts', account.id, 'oauth_clients', params.client!, ...below)
}

export function findClient(request: PageRequest) {
  return request.api.get<Client>(clientOf(request))
}

export function listScopes({ api }: PageRequest) {
  return api.get<readonly ListedScope[]>('/oauth/scopes')
}

/** Returns the page of the client. */
export function pageOf({ account, params }: PageRequest): string {
  return paths.client(account.id, params.client!)
}

/** Returns the pages above one below that of the client. */
export function crumbsOf(request: PageRequest, client: Client | null = null) {
  const list = { title: 'OAuth clients', path: paths.clients(request.account.id) }
  return client === null ? [list] : [list, { title: client.client_name, path: pageOf(request) }]
}
