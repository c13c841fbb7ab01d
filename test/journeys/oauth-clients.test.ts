// The way of a new user with an OAuth client: create, rotate, prove a domain, publish; everything is killed in between, and everything is found again. On either store.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gatehouse, type Outcome } from '../help/command.ts'
import { type DnsServer, startDns } from '../help/dns.ts'
import { main, type RunningGateway, spawnGateway, startGateway } from '../help/gateway.ts'
import { startRedis } from '../help/redis.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

const configuration = (dns: DnsServer) => `
store: { url: '\${STORE:-}', command_timeout: 5s }
domains: { resolvers: ['${dns.address}'], timeout: 2s }
ai: { hosts: [127.0.0.1] }
zones: []
`

interface Reply {
  readonly status: number
  readonly etag: string | null
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly result: any
  readonly errors: readonly { readonly code: number; readonly message: string }[]
}

/** Where a store is, and what kills it and starts it again: nothing for a file. */
interface Place {
  readonly env: NodeJS.ProcessEnv
  readonly crash: () => Promise<void>
}

const stores: Readonly<Record<string, (t: TestContext) => Promise<Place>>> = {
  SQLite: async () => ({ env: {}, crash: async () => {} }),
  Redis: async t => {
    const redis = await startRedis(t, { aof: 'always' })
    return { env: { STORE: redis.url }, crash: () => redis.restart() }
  },
}

/** A gateway that is killed and started again, and who uses it. */
class User {
  readonly #t: TestContext
  readonly #place: Place
  readonly #file: string
  readonly account: string
  readonly token: string
  gateway: RunningGateway

  static async arrive(t: TestContext, place: Place, yaml: string): Promise<User> {
    const gateway = await startGateway(t, yaml, { env: place.env })
    return new User(t, place, gateway, await gateway.firstStart)
  }

  constructor(
    t: TestContext,
    place: Place,
    gateway: RunningGateway,
    first: { readonly account: string; readonly token: string },
  ) {
    this.#t = t
    this.#place = place
    this.#file = gateway.file
    this.gateway = gateway
    this.account = first.account
    this.token = first.token
  }

  /** Asks for a path below the account. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const headers = {
      authorization: `Bearer ${this.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...more,
    }
    const url = `${this.gateway.admin}/client/v4/accounts/${this.account}${path}`
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await fetch(url, init)
    const envelope = (await response.json()) as Pick<Reply, 'result' | 'errors'>
    return { ...envelope, status: response.status, etag: response.headers.get('etag') }
  }

  async client(...args: string[]): Promise<Outcome> {
    return gatehouse(['client', ...args, '--url', this.gateway.admin], {
      GATEHOUSE_ACCOUNT: this.account,
      GATEHOUSE_TOKEN: this.token,
    })
  }

  /** Kills the gateway and its store, without a warning to either, and starts both again. */
  async crash(env: NodeJS.ProcessEnv = {}): Promise<void> {
    this.gateway.signal('SIGKILL')
    await this.gateway.exited
    await this.#place.crash()
    const own = { ...process.env, GATEHOUSE_DATA: join(dirname(this.#file), 'data'), ...this.#place.env }
    const args = [main, 'start', '--config', this.#file]
    this.gateway = await spawnGateway(this.#t, args, { env: { ...own, ...env } }, this.#file)
  }
}

const shop = {
  client_name: 'Shop',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'client_secret_basic',
  redirect_uris: ['https://app.example.com/callback'],
  scopes: ['ai_gateway.read'],
}

for (const name of thorough(['SQLite', 'Redis'], ['Redis'])) {
  const open = stores[name]!
  test(`a client is created, rotated, proven and published, and every kill -9 in between loses nothing (${name})`, async t => {
    const dns = await startDns(t)
    const user = await User.arrive(t, await open(t), configuration(dns))

    const created = await user.ask('POST', '/oauth_clients', shop)
    assert.equal(created.status, 200)
    const { client_id: id, client_secret: first, ...settings } = created.result
    await user.crash()
    const path = `/oauth_clients/${id}`
    const found = await user.ask('GET', path)
    assert.deepEqual([found.result, found.etag], [{ client_id: id, ...settings }, created.etag])

    const rotated = await user.ask('POST', `${path}/rotate_secret`)
    const tails = [rotated.result.client_secret, first].map(secret => secret.slice(-4))
    await user.crash()
    const { result: both } = await user.ask('GET', path)
    assert.deepEqual(
      [both.has_rotated_secret, both.client_secrets.map(({ tail }: { tail: string }) => tail)],
      [true, tails],
    )
    assert.equal((await user.ask('DELETE', `${path}/rotate_secret`)).status, 200)
    await user.crash()
    const { result: one } = await user.ask('GET', path)
    assert.deepEqual([one.has_rotated_secret, one.client_secrets.length], [false, 1])

    const site = { client_uri: 'https://app.example.com/', logo_uri: 'https://app.example.com/logo.png' }
    const asked = await user.ask('PATCH', path, site)
    const { text } = asked.result.client_uri_verification
    const early = await user.ask('PATCH', path, { visibility: 'public' })
    assert.deepEqual([early.status, early.errors.map(({ code }) => code)], [400, [10412]])
    const proof = async () => (await user.ask('GET', path)).result.client_uri_verification
    await until(async () => (await proof()).status === 'in_progress')
    const before = await proof()
    assert.deepEqual([before.last_answer.outcome, before.text], ['no_such_name', text])
    await user.crash()
    assert.deepEqual(await proof(), before)

    dns.txt('app.example.com', 'v=spf1 -all', text)
    const verified = await user.client('verify', id, '--wait')
    assert.equal(verified.code, 0, verified.stderr)
    await user.crash()
    assert.equal((await proof()).status, 'verified')
    assert.equal((await user.client('publish', id, '--yes')).code, 0)
    await user.crash()
    const { result: published } = await user.ask('GET', path)
    assert.equal(published.visibility, 'public')
    assert.ok(Date.parse(published.promoted_at) >= Date.parse(published.created_at))

    const { result: entries } = await user.ask('GET', '/audit_logs?direction=asc')
    assert.deepEqual(
      entries
        .filter(({ resource }: { resource: { id: string } }) => resource.id === id)
        .map(({ action }: { action: { type: string } }) => action.type)
        .filter((type: string, i: number, all: string[]) => type !== all[i - 1]),
      ['create', 'rotate_secret', 'delete_rotated_secret', 'update'],
    )
    assert.equal((await user.ask('DELETE', path)).status, 200)
    await user.crash()
    assert.equal((await user.ask('GET', path)).status, 404)
  })

  test(`a request that is repeated after a kill -9 gets the response of the first, while the key that encrypted it is known (${name})`, async t => {
    const dns = await startDns(t)
    const place = await open(t)
    const [old, fresh] = [randomBytes(32), randomBytes(32)].map(key => key.toString('hex'))
    const env = { ...place.env, KEY: old, OLD: old }
    const keys = `secrets: { key: '\${KEY}', old_keys: ['\${OLD}'] }`
    const user = await User.arrive(t, { ...place, env }, `${configuration(dns)}${keys}`)
    const once = { 'idempotency-key': 'first-shop' }
    const repeat = () => user.ask('POST', '/oauth_clients', shop, once)
    const first = await repeat()
    assert.match(first.result.client_secret, /^svcs_/)
    await user.crash()
    assert.deepEqual(await repeat(), first)
    await user.crash({ KEY: fresh! })
    assert.deepEqual(await repeat(), first)
    await user.gateway.logged('key of client secrets replaced in the store')
    await user.crash({ KEY: fresh!, OLD: fresh! })
    const sealed = await repeat()
    assert.deepEqual([sealed.status, sealed.result], [409, null])
    assert.equal((await user.ask('GET', '/oauth_clients')).result.length, 1)
  })
}

test('no secret, token or key ever stands in the log, or in what a person is told later', async t => {
  const dns = await startDns(t)
  const user = await User.arrive(t, await stores.SQLite!(t), configuration(dns))
  const { result } = await user.ask('POST', '/oauth_clients', shop)
  const rotated = await user.ask('POST', `/oauth_clients/${result.client_id}/rotate_secret`)
  const { gateway } = user
  const { actor, changed } = await gateway.logged('audit', ({ action }) => action === 'rotate_secret')
  assert.match(String(actor), /^[0-9a-f]{32}$/)
  assert.ok(Array.isArray(changed))
  await user.crash()
  const log = JSON.stringify([...gateway.lines, ...user.gateway.lines])
  user.gateway.signal('SIGTERM')
  const told = `${log}${await user.gateway.stderr}`
  for (const secret of [result.client_secret, rotated.result.client_secret, user.token])
    assert.equal(told.includes(secret), false)
})
