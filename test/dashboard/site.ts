// The dashboard over a real admin listener and a real store, and a person who is signed in, with a browser without script or with Chromium.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { noRoutes } from '../help/route-resources.ts'
import pino from 'pino'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import type { GatewayEndpoint } from '../../src/dashboard/page/gateway-endpoint.ts'
import { DashboardFace } from '../../src/dashboard/dashboard.ts'
import { Passwords } from '../../src/people/passwords/passwords.ts'
import { People } from '../../src/people/people.ts'
import { PersonTokens } from '../../src/people/sign-in/person-token.ts'
import { roles } from '../../src/permissions/roles.ts'
import { Grants } from '../../src/sign-in/connected-apps.ts'
import { SignInFace } from '../../src/sign-in/face.ts'
import type { Member, User } from '../../src/store/records/people.ts'
import { startApi } from '../admin/api.ts'
import { cheap } from '../people/cheap.ts'
import { userWith } from '../people/user-with.ts'
import { type ShownPage, Visitor } from '../sign-in/site.ts'
import { account } from '../tokens/token-with.ts'

/** The roles of a member, by the beginning of their names. */
export type RoleName =
  | 'Super Administrator'
  | 'Administrator'
  | 'OAuth Client Write'
  | 'AI Gateway Admin'
  | 'Administrator Read Only'

export const password = 'correct horse battery'

const passwords = new Passwords({ cost: cheap })

/** Starts the dashboard with a member who has signed in, a super administrator unless another role is said; `url` says where its store is, for much that is kept. */
export async function openDashboard(t: TestContext, role: RoleName = 'Super Administrator', url?: string) {
  const api = await (url === undefined ? startApi(t) : startApi(t, store => store, url, 5_000))
  const { server, kept: store, clock, keys, origin } = api
  const people = new People({
    store,
    keys: keys.current,
    config: { signUp: 'invited', openid: null },
    log: pino({ enabled: false }),
    passwords,
    clock,
  })
  const parts = { people, origins: () => [origin], knowsScheme: () => true }
  const edge: { entrance: GatewayEndpoint | null } = { entrance: null }
  server.apps = [
    new SignInFace({
      ...parts,
      grants: new Grants(store, () => 'management', noRoutes, clock),
      interactions: null,
      hasDashboard: () => true,
    }),
    new DashboardFace({
      ...parts,
      persons: new PersonTokens(store, clock),
      issuer: () => origin,
      entrance: () => edge.entrance,
      askAs: (...question) => server.askAs(...question),
      clock,
    }),
    ...server.apps,
  ]

  /** Adds a user with the password, who is a member of an account by a role. */
  const addPerson = async (name: RoleName | null, more: Partial<User> = {}, place = account) => {
    const user = userWith({ password: await passwords.hash(password), ...more })
    await store.users.insert(user)
    if (name !== null) await join(user, name, place)
    return user
  }

  let joined = 0
  /** Makes a user a member of an account by a role. */
  const join = (user: User, name: RoleName, place: string) =>
    store.members.insert({ ...memberOf(user, name, place), createdAt: joined++ })

  /** Returns the browser of a user who has just signed in. */
  const signIn = async (user: User): Promise<Visitor> => {
    const visitor = new Visitor(origin)
    const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
    const visit = { address: '127.0.0.1', userAgent: 'test', ray: '0123456789abcdef' }
    const { value } = await people.sessions.begin(user, proof, visit)
    visitor.cookies.set('gatehouse', value)
    return visitor
  }

  const user = await addPerson(role)
  const visitor = await signIn(user)
  return {
    ...api,
    account,
    /** The path of the account's pages, without a slash at the end. */
    base: `/dashboard/${account}`,
    people,
    /** Where AI gateways are called; nowhere, unless a test says so. */
    edge,
    user,
    visitor,
    addPerson,
    join,
    signIn,
    /** Loads a page. */
    get: (path: string): Promise<ShownPage> => visitor.get(path),
    /** Loads the page that has a form which leads to its own path, fills it in and sends it. */
    submit: async (path: string, fields: Readonly<Record<string, string>> = {}): Promise<ShownPage> => {
      const page = await visitor.get(path)
      assert.equal(page.status, 200, page.text)
      return page.submit(path, fields)
    },
    /** Opens a context of Chromium in which the person is signed in. */
    browse: async (browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> => {
      const context = await browser.newContext({ baseURL: origin, ...options })
      t.after(() => context.close())
      const value = visitor.cookies.get('gatehouse')!
      await context.addCookies([{ name: 'gatehouse', value, url: origin, httpOnly: true, sameSite: 'Lax' }])
      return context
    },
  }
}

function memberOf({ id: user }: User, name: RoleName, place: string): Member {
  const role = roles.find(one => one.name.split(' - ')[0] === name)!
  return {
    account: place,
    id: randomBytes(16).toString('hex'),
    user,
    status: 'accepted',
    roles: [role.id],
    isSuper: role === roles[0],
    createdAt: 0,
    modifiedAt: 0,
  }
}
