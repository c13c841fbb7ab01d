// The pages of OAuth clients.

import type { Route } from '../page/page-request.ts'
import { createClient, continueToScopes, showNewClient, startAgain } from './creation.ts'
import { confirmDeletion, deleteClient } from './deletion.ts'
import { changeDetails, changeScopes, showDetails, showScopes } from './editing.ts'
import { showEvents } from './events.ts'
import { confirmEndAll, confirmEndGrant, endAllGrants, endGrant, showGrants } from './grants.ts'
import { showClients } from './list.ts'
import { showClient } from './client-page.ts'
import { confirmPublication, publish, restartVerification } from './publication.ts'
import { confirmDrop, createSecret, dropSecret } from './secrets.ts'

const reading = { permission: 'OAuth Clients Read' } as const
const writing = { permission: 'OAuth Clients Write' } as const

const clients = '/dashboard/{account}/oauth-clients'
const client = `${clients}/{client}`

export const clientRoutes: readonly Route[] = [
  { path: clients, ...reading, show: showClients },
  { path: `${clients}/new`, ...writing, show: showNewClient, effect: 'tries', take: continueToScopes },
  { path: `${clients}/new/scopes`, ...writing, show: startAgain, effect: 'opens', take: createClient },
  { path: client, ...reading, show: showClient },
  { path: `${client}/edit`, ...writing, show: showDetails, effect: 'opens', take: changeDetails },
  { path: `${client}/scopes`, ...writing, show: showScopes, effect: 'opens', take: changeScopes },
  { path: `${client}/secrets/new`, ...writing, effect: 'opens', take: createSecret },
  { path: `${client}/secrets/drop`, ...writing, show: confirmDrop, effect: 'ends', take: dropSecret },
  { path: `${client}/verify`, ...writing, effect: 'sets', take: restartVerification },
  { path: `${client}/publish`, ...writing, show: confirmPublication, effect: 'opens', take: publish },
  { path: `${client}/delete`, ...writing, show: confirmDeletion, effect: 'ends', take: deleteClient },
  { path: `${client}/events`, ...reading, show: showEvents },
  { path: `${client}/grants`, ...reading, show: showGrants },
  { path: `${client}/grants/end`, ...writing, show: confirmEndAll, effect: 'ends', take: endAllGrants },
  { path: `${client}/grants/{grant}/end`, ...writing, show: confirmEndGrant, effect: 'ends', take: endGrant },
]
