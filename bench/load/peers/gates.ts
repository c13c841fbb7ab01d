// The gates of contestants, and a store and an issuer with what clients show them.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newValue } from '../../../src/people/records/secret-value.ts'
import { newUser } from '../../../src/people/records/users.ts'
import { Sessions } from '../../../src/people/sessions/sessions.ts'
import { challengeOf, SiteSessions } from '../../../src/people/sessions/site-sessions.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { newToken } from '../../../src/tokens/new-token.ts'
import { TokenTags } from '../../../src/tokens/token-tags.ts'
import { audience, issuer, issuerKey, keySetOf, sign } from '../../../test/help/issuer.ts'
import { consent } from './gatehouse-oauth.ts'

/** What clients show: without a gate what others gave them, or what its gate takes. */
export type GateKind = 'cookie' | 'bearer' | 'session' | 'token' | 'access' | 'jwt'

export interface Gate {
  readonly account: string
  /** The setting of the zone; null for none. */
  readonly protect: string | null
  /** Further ones of the file. */
  readonly settings: string
  /** The field of each client. */
  readonly shown: readonly Field[]
}

type Field = readonly [name: string, value: string]

/** What the credentials are kept in, and where they are for. */
interface Place {
  readonly store: Store
  readonly clients: number
  readonly account: string
  readonly origin: string
  readonly now: number
}

const PERMISSION = 'AI Gateway Run'
const SCOPE = 'orders.read'

/** Fills a new store as a first start does, and adds what so many clients show to a gate on the given port. */
export async function fillStore(
  path: string,
  { kind, clients, port }: { readonly kind: GateKind; readonly clients: number; readonly port: number },
): Promise<Gate> {
  const store = await openStore(`sqlite:${path}`, { commandTimeout: 5000 })
  try {
    const now = Date.now()
    const { account } = (await new FirstFill(store).run(now))!
    const place = { store, clients, account, origin: `http://127.0.0.1:${port}`, now }
    return { account, ...(await gates[kind](place)) }
  } finally {
    await store.close()
  }
}

const gates: Readonly<Record<GateKind, (place: Place) => Promise<Omit<Gate, 'account'>>>> = {
  cookie: async ({ clients }) => {
    return { protect: null, settings: '', shown: await each(clients, () => cookie('session-of-site')) }
  },
  bearer: async ({ clients }) => ({
    protect: null,
    settings: '',
    shown: (await issuedTokens(clients)).shown,
  }),
  session: async ({ store, clients, origin }) => {
    const shown = await each(clients, async () => cookie('gatehouse-site', await siteSession(store, origin)))
    return { protect: '{ sign_in: {} }', settings: '', shown }
  },
  token: async ({ store, clients, account, now }) => {
    const tags = new TokenTags(store)
    const shown = await each(clients, async () => bearer(await apiToken(store, account, tags, now)))
    return { protect: `{ token: { permission: ${PERMISSION} } }`, settings: '', shown }
  },
  access: async ({ store, clients, account, origin, now }) => {
    const wish = { scopes: [SCOPE], resource: [origin] }
    const shown = await each(clients, async () => bearer(await consent(store, account, now, wish)))
    const settings = `scopes: { ${SCOPE}: See your orders. }\noauth: { issuer: 'http://127.0.0.1:9' }\n`
    return { protect: `{ token: { scopes: [${SCOPE}] } }`, settings, shown }
  },
  jwt: async ({ clients }) => {
    const { keys, shown } = await issuedTokens(clients)
    const settings = `issuer: '${issuer}', audience: '${audience}', keys: '${keys}', allow_networks: [127.0.0.0/8]`
    return { protect: `{ jwt: { ${settings} } }`, settings: '', shown }
  },
}

async function each(clients: number, make: () => Field | Promise<Field>): Promise<readonly Field[]> {
  const fields: Field[] = []
  for (let i = 0; i < clients; i++) fields.push(await make())
  return fields
}

function bearer(token: string): Field {
  return ['Authorization', `Bearer ${token}`]
}

/** Among others, as in browsers. */
function cookie(name: string, value = newValue().value): Field {
  const others = `_ga=GA1.1.${randomUUID()}; theme=dark; csrf=${randomUUID()}`
  return ['Cookie', `${others}; ${name}=${value}; seen=1`]
}

/** Begins a session at the site for a new person, who has signed in at our pages. */
async function siteSession(store: Store, site: string): Promise<string> {
  const [sessions, sites] = [new Sessions(store), new SiteSessions(store, new TokenTags(store))]
  const user = newUser(`${randomUUID()}@example.com`, Date.now())
  await store.users.insert(user)
  const proof = { method: 'password', secondFactor: false, at: Date.now() } as const
  const { session } = await sessions.begin(user, proof, { address: '127.0.0.1', userAgent: 'bench', ray: '' })
  const verifier = newValue().value
  const code = await sites.issueCode(session, { site, challenge: challengeOf(verifier) })
  return (await sites.begin(code, site, verifier))!
}

async function apiToken(store: Store, account: string, tags: TokenTags, now: number): Promise<string> {
  const granted = permissionGroups.filter(({ name }) => name === PERMISSION).map(({ id }) => id)
  const policy = { effect: 'allow', permissionGroups: granted, accounts: [account] } as const
  const { token, value } = newToken(
    account,
    { name: 'bench', policies: [policy] },
    now,
    await tags.mint('svct_'),
  )
  await store.tokens.insert(token)
  return value
}

/** Tokens of an issuer, which publishes its key as long as the bench runs. */
async function issuedTokens(
  clients: number,
): Promise<{ readonly keys: string; readonly shown: readonly Field[] }> {
  const key = issuerKey()
  const server = createServer((_, response) => response.end(keySetOf(key))).listen(0, '127.0.0.1')
  server.unref()
  await once(server, 'listening')
  const claims = () => ({ sub: randomUUID(), scope: SCOPE, email: `${randomUUID()}@example.com` })
  const shown = await each(clients, async () => bearer(await sign(key, claims())))
  return { keys: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`, shown }
}
