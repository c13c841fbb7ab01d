// All mutations.

import { access } from './access.ts'
import { admin } from './admin.ts'
import { ai } from './ai.ts'
import { certificates } from './certificates.ts'
import { compression } from './compression.ts'
import { credentials } from './credentials.ts'
import { dashboard } from './dashboard.ts'
import { edge } from './edge.ts'
import { forward } from './forward.ts'
import { frontDoor } from './front-door.ts'
import { http1 } from './http1.ts'
import { http2Clients } from './http2-clients.ts'
import { http2Origin } from './http2-origin.ts'
import { members } from './members.ts'
import { oauthServer } from './oauth-server.ts'
import { origin } from './origin.ts'
import { pages } from './pages.ts'
import { people } from './people.ts'
import { process } from './process.ts'
import { store } from './store.ts'
import { telemetry } from './telemetry.ts'
import { upgrades } from './upgrades.ts'
import { type Mutation, mutationsOf } from './mutation.ts'

export const allMutations: readonly Mutation[] = mutationsOf([
  ...access,
  ...admin,
  ...ai,
  ...certificates,
  ...compression,
  ...credentials,
  ...dashboard,
  ...edge,
  ...forward,
  ...frontDoor,
  ...http1,
  ...http2Clients,
  ...http2Origin,
  ...members,
  ...oauthServer,
  ...origin,
  ...pages,
  ...people,
  ...process,
  ...store,
  ...telemetry,
  ...upgrades,
])
