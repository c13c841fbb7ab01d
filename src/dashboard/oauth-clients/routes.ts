// The pages of OAuth clients.

import type { Route } from '../ask.ts'
import { createClient, continueToScopes, showNewClient, startAgain } from './creation.ts'
import { confirmDeletion, deleteClient } from './deletion.ts'
import { changeDetails, changeScopes, showDetails, showScopes } from './editing.ts'
import { showEvents } from './events.ts'
import { confirmEndAll, confirmEndGrant, endAllGrants, endGrant, showGrants } from './grants.ts'
import { showClients } from './list.ts'
import { showClient } from './one-client.ts'
import { confirmPublication, publish, restartVerification } from './publication.ts'
import { confirmDrop, createSecret, dropSecret } from './secrets.ts'

const reading = { permission: 'OAuth Clients Read' } as const
const writing = { permission: 'OAuth Clients Write' } as const
const dangerous = { ...writing, isDangerous: true } as const

const clients = '/dashboard/{account}/oauth-clients'
const client = `${clients}/{client}`

export const clientRoutes: readonly Route[] = [
  { path: clients, ...reading, show: showClients },
  { path: `${clients}/new`, ...writing, show: showNewClient, take: continueToScopes },
  { path: `${clients}/new/scopes`, ...dangerous, show: startAgain, take: createClient },
  { path: client, ...reading, show: showClient },
  { path: `${client}/edit`, ...dangerous, show: showDetails, take: changeDetails },
  { path: `${client}/scopes`, ...dangerous, show: showScopes, take: changeScopes },
  { path: `${client}/secrets/new`, ...dangerous, take: createSecret },
  { path: `${client}/secrets/drop`, ...dangerous, show: confirmDrop, take: dropSecret },
  { path: `${client}/verify`, ...writing, take: restartVerification },
  { path: `${client}/publish`, ...dangerous, show: confirmPublication, take: publish },
  { path: `${client}/delete`, ...dangerous, show: confirmDeletion, take: deleteClient },
  { path: `${client}/events`, ...reading, show: showEvents },
  { path: `${client}/grants`, ...reading, show: showGrants },
  { path: `${client}/grants/end`, ...writing, show: confirmEndAll, take: endAllGrants },
  { path: `${client}/grants/{grant}/end`, ...writing, show: confirmEndGrant, take: endGrant },
]
