// docs/production.md as an operator moves a running gateway from SQLite to Redis, and back: with its commands, a second machine, and clients that change records and
// ask for the site all the time.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { Sessions } from '../../src/people/sessions/sessions.ts'
import { openStore } from '../../src/store/open.ts'
import { completion } from '../help/ai.ts'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { freePort } from '../help/free-port.ts'
import { main, spawnGateway, type RunningGateway } from '../help/gateway.ts'
import { say, startProvider } from '../help/provider.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { endDaemon } from '../help/redis.ts'
import { SharedLog } from '../help/shared-log.ts'
import { startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'
import { refresh, tokensIn, tokensOf, userinfo } from '../oauth-server/app.ts'
import { Browser, makeUser, register, startSite as startAuthorizationServer } from '../oauth-server/site.ts'

const run = promisify(execFile)
const page = section(readPage('docs/production.md'), 'From SQLite on one machine to Redis on many')
const [startRedis, prepare, backup, change, joining, undo, goBack] = blocksOf(page).map(({ text }) =>
  text.trim(),
)
const [moveAndUpgrade, askReadiness] = change!.split('\n')
const [onlyMove] = moveAndUpgrade!.split(' && ')

test('docs/production.md works as written: from SQLite to Redis and a second machine, without losing a confirmed change', async t => {
  const place = await settle(t)
  const { sh, folder, admin, owner } = place
  const { token } = owner
  const before = await fill(t, place)

  await sh(startRedis!)
  endDaemon(t, String(await place.redis('info', 'server')))
  await sh(prepare!)
  const clients = new Clients(place)
  t.after(() => clients.end())
  await clients.confirm(20)

  await t.test(
    'a backup under writes has all that was confirmed before it began, and is private',
    async () => {
      const confirmed = [...clients.tokens]
      let isOver = false
      const copying = sh(backup!).finally(() => {
        isOver = true
      })
      // Without a pause, or the copy may be over before a client writes.
      while (!isOver) await (await place.createToken(admin, token)).arrayBuffer()
      const { stderr } = await copying
      assert.match(
        stderr,
        /^gatehouse: warning: sqlite:.* is in use \(process \d+.*\); what is written to it/,
      )
      assert.match(stderr, /\nCopied 1 account, .*tokens.* to sqlite:.*\/backup\/gatehouse\.db\.\n/)
      assert.match(stderr, /changes? (was|were) made in sqlite:.* since the copy began\n$/)
      for (const name of ['', '-credentials'])
        assert.equal(statSync(join(folder, `backup/gatehouse.db${name}`)).mode & 0o777, 0o600)
      const copy = await openStore(`sqlite:${folder}/backup/gatehouse.db`, { commandTimeout: 5_000 })
      const found = await copy.tokens.list(owner.account, { offset: 0, limit: 100_000 })
      await copy.close()
      const ids = new Set(found.items.map(({ id }) => id))
      assert.deepEqual(
        confirmed.filter(({ id }) => !ids.has(id)),
        [],
      )
      await assert.rejects(sh(backup!), {
        stderr: /nothing was copied: .* the target must be an empty store/,
      })
    },
  )

  await t.test(
    'between move and upgrade, changes are refused with the reason, and sites are served',
    async () => {
      const { stderr } = await sh(onlyMove!)
      assert.match(stderr, /^Moved 1 account, .* to redis:.*\nGateways on the old store /)
      assert.doesNotMatch(stderr, /:[0-9a-f]{48}@/)
      await until(async () => (await readiness(admin)).status === 'degraded')
      assert.equal((await readiness(admin)).reason, movedReason)
      const refused = await place.createToken(admin, token)
      assert.equal(refused.status, 503)
      assert.ok(Number(refused.headers.get('retry-after')) > 0)
      await assert.rejects(sh('npx gatehouse token create --config before.yaml'), {
        code: 1,
        stderr: /the records of the store were moved to another one.*\n.*store accept/,
      })
      const { refusals } = clients
      await until(() => clients.refusals > refusals + 5)
    },
  )

  await t.test('before the upgrade, the gateway takes up its old store again', async () => {
    await sh(undo!)
    await until(async () => (await readiness(admin)).status === 'ready')
    await clients.confirm(5)
    await place.redis('flushall')
  })

  await t.test('the switch, while clients go on', async () => {
    const began = performance.now()
    await sh(moveAndUpgrade!)
    t.diagnostic(`moved and upgraded in ${Math.round(performance.now() - began)} ms`)
    assert.equal((JSON.parse((await sh(askReadiness!)).stdout) as Readiness).status, 'ready')
    await clients.confirm(20)
  })

  const second = await joinSecond(t, place)

  await t.test(
    'a copy of Redis names the machines that use it, and what that means for the copy',
    async () => {
      let copies = 0
      await until(async () => {
        const { stderr } = await sh(
          `npx gatehouse store copy --from file:store-url --to sqlite:backup/redis-${++copies}.db`,
        )
        assert.match(
          stderr,
          /^gatehouse: warning: redis:.* is in use \(\S+.*\); what is written to it from now on may be missing in the copy, or be there in part\n/,
        )
        assert.match(stderr, /\nCopied 1 account, .*\.\n/)
        // A copy may be over before a client writes.
        return /\n.*changes? (was|were) made in redis:/.test(stderr)
      })
    },
  )

  await clients.end()
  const machines = [admin, second.admin]

  await t.test(
    'every change that was confirmed is on both machines, and the site was served all the time',
    async () => {
      t.diagnostic(
        `${clients.tokens.length} tokens confirmed, ${clients.refusals} refused, ${clients.served} pages`,
      )
      assert.ok(clients.refusals > 0)
      assert.deepEqual(clients.failures, [])
      for (const machine of machines)
        for (const one of clients.tokens) {
          const response = await place.verify(machine, one.value)
          assert.equal(response.status, 200, `token ${one.id} at ${machine}`)
          await response.arrayBuffer()
        }
    },
  )

  await t.test('people, apps and their secrets, rules and logs are on both machines', async () => {
    for (const machine of machines) {
      const home = await fetch(`${machine}/auth/account`, {
        headers: { cookie: `gatehouse=${before.session}` },
        redirect: 'manual',
      })
      assert.match(await home.text(), /Ada/, `${home.status}`)
      assert.equal((await userinfo({ issuer: machine }, before.tokens.access_token)).status, 200)
      const { result } = await place.ask(machine, 'GET', '/ai-gateway/gateways/default/logs')
      assert.ok((result as unknown[]).length > 0)
    }
    // A refresh token is used once: its successor works on the other machine.
    const next = await tokensIn(await refresh({ issuer: admin }, before.app, before.tokens.refresh_token))
    await tokensIn(await refresh({ issuer: second.admin }, before.app, next.refresh_token))
    for (const edge of [place.edge, second.edge]) {
      const response = await fetch(`${edge}/denied`)
      assert.equal(response.status, 403)
      await response.arrayBuffer()
    }
  })

  await t.test('a rule and a limit apply on both machines', async () => {
    const rule = { action: 'deny', expression: 'request.path == "/late"' }
    await place.ask(second.admin, 'POST', '/client/v4/zones/site/access_rules', rule)
    for (const edge of [place.edge, second.edge])
      await until(async () => (await statusOf(`${edge}/late`)) === 403)
    const statuses: number[] = []
    for (let i = 0; i < 16; i++) statuses.push(await statusOf(`${i % 2 ? place.edge : second.edge}/limited`))
    // Ten are allowed to all; each process may let one in before it hears of the others.
    const passed = statuses.filter(status => status === 200).length
    assert.ok(passed >= 10 && passed <= 13, statuses.join())
    assert.equal(statuses.at(-1), 429)
  })

  await t.test('and back to one machine, without losing a confirmed change', async () => {
    second.signal('SIGTERM')
    await second.exited
    const again = new Clients(place)
    t.after(() => again.end())
    await again.confirm(20)
    await sh(goBack!)
    await again.confirm(20)
    await again.end()
    assert.deepEqual(again.failures, [])
    for (const one of [...clients.tokens, ...again.tokens])
      assert.equal((await place.verify(admin, one.value)).status, 200)
    assert.equal((await readiness(admin)).status, 'ready')
    await place.redis('flushall')
    assert.equal((await place.createToken(admin, token)).status, 200)
    // Neither the copies nor the upgrades were taken for damage.
    const doubts = place.log.lines.filter(({ msg }) => msg === 'store not trusted')
    assert.deepEqual(new Set(doubts.map(({ reason }) => reason)), new Set([movedReason]))
  })
})

const movedReason = 'the records of the store were moved to another one, or are being moved'

interface Readiness {
  readonly status: string
  readonly reason?: string
}

interface Kept {
  readonly id: string
  readonly value: string
}

type Place = Awaited<ReturnType<typeof settle>>

/** Starts a gateway on SQLite, in a folder as the page expects it. */
async function settle(t: TestContext) {
  const folder = quickFolder(t, 'move')
  const origin = await startSite(t, (_, response) => response.end('hello'))
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const [redisPort, adminPort, edgePort] = await Promise.all([freePort(), freePort(), freePort()])
  const { GATEHOUSE_DATA: _, ...env } = process.env
  const here = (text: string): string =>
    text
      .replaceAll(/^(openssl|redis-server)/gm, program => process.env[variables[program]!] ?? program)
      .replaceAll('npx gatehouse', `'${process.execPath}' '${main}'`)
      .replaceAll(/ssh second '(.*)'/g, '(mkdir -p second; cd second; $1)')
      .replaceAll('scp -p', 'cp -p')
      .replaceAll('second:', 'second/')
      .replaceAll('10.0.0.5', '127.0.0.1')
      .replaceAll('6379', `${redisPort}`)
      .replaceAll('8081', `${adminPort}`)
  const sh = (text: string) => run('sh', ['-ec', here(text)], { cwd: folder, env })
  const config = `workers: ${thorough(2, 1)}
listen: ['127.0.0.1:${edgePort}']
admin: 127.0.0.1:${adminPort}
shutdown: { grace: 2s }
management: { writes: 1000000/5m }
ai: { hosts: [localhost], providers: { openai: { url: '${provider.url}' } } }
pools: { site: { origins: ['${origin}'] } }
zones:
  - name: site
    hosts: [127.0.0.1]
    rate_limits: [{ name: few, rate: 10/h, when: 'request.path == "/limited"' }]
    routes: [{ path: /, pool: site }]
`
  writeFileSync(join(folder, 'my.yaml'), config)
  const child = spawn(process.execPath, [main, 'start', '--config', 'my.yaml'], {
    ...{ cwd: folder, env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let told = ''
  child.stderr.on('data', (bytes: Buffer) => (told += bytes))
  const log = new SharedLog(child)
  t.after(async () => {
    for (const pid of new Set(log.lines.map(({ pid }) => pid))) terminate(pid)
    await log.closed
  })
  await log.nth('ready')
  const facts = /"account":"([0-9a-f]{32})".*"token":"(svct_[^"]+)"/
  await until(() => facts.test(told))
  const [, account, token] = facts.exec(told)!
  const admin = `http://127.0.0.1:${adminPort}`
  const owner = { account: account!, token: token! }
  const ask = async (machine: string, method: string, path: string, body?: unknown) => {
    const url = path.startsWith('/client/') ? path : `/client/v4/accounts/${owner.account}${path}`
    const response = await fetch(machine + url, {
      ...{ method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return JSON.parse(text) as { readonly result: unknown }
  }
  const groups = (await ask(admin, 'GET', '/tokens/permission_groups')).result as {
    id: string
    name: string
  }[]
  const { id } = groups.find(({ name }) => name === 'Metrics Read')!
  const resources = { [`svc.api.account.${account}`]: '*' }
  const createToken = (machine: string, by: string, name = 'one') =>
    fetch(`${machine}/client/v4/accounts/${account}/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({
        name,
        policies: [{ effect: 'allow', permission_groups: [{ id }], resources }],
      }),
    })
  const verify = (machine: string, value: string) =>
    fetch(`${machine}/client/v4/accounts/${account}/tokens/verify`, {
      headers: { authorization: `Bearer ${value}` },
    })
  const password = () => readFileSync(join(folder, 'redis-password'), 'utf8').trim()
  const redis = async (...words: string[]) => {
    const client = new Redis(redisPort, '127.0.0.1', {
      password: password(),
      // As a daemon, it returns before it listens.
      retryStrategy: attempts => (attempts < 400 ? 50 : null),
      maxRetriesPerRequest: null,
    })
    client.on('error', () => {})
    try {
      return await client.call(words[0]!, ...words.slice(1))
    } finally {
      client.disconnect()
    }
  }
  const edge = `http://127.0.0.1:${edgePort}`
  return { folder, env, admin, edge, owner, sh, ask, createToken, verify, redis, log, edgePort, adminPort }
}

function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // It has ended already.
  }
}

/** Has people, an app with tokens, a rule and AI logs in the store. */
async function fill(t: TestContext, { folder, admin, edge, owner, ask }: Place) {
  const { account, token } = owner
  await ask(admin, 'POST', '/client/v4/zones/site/access_rules', {
    action: 'deny',
    expression: 'request.path == "/denied"',
  })
  const chat = await fetch(
    `${edge}/client/v4/accounts/${account}/ai/v1/chat/completions`.replace('127.0.0.1', 'localhost'),
    {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }),
    },
  )
  assert.equal(chat.status, 200, await chat.text())
  await until(async () => {
    const { result } = await ask(admin, 'GET', '/ai-gateway/gateways/default/logs')
    return (result as unknown[]).length === 1
  })
  let filled: Awaited<ReturnType<typeof letIn>> | undefined
  await t.test('somebody signs in and lets an app act for them', async t => {
    const keys = new SecretKeys(Buffer.from(readFileSync(join(folder, 'data/secrets.key'), 'utf8'), 'base64'))
    filled = await letIn(t, `sqlite:${folder}/data/gatehouse.db`, keys, account)
  })
  return filled!
}

async function letIn(t: TestContext, url: string, keys: SecretKeys, account: string) {
  const site = await startAuthorizationServer(t, { url, keys })
  const user = await makeUser(site, account)
  const app = await register(site, account)
  const tokens = await tokensOf(site, new Browser(site.issuer).signIn(user), app)
  const proof = { at: Date.now(), method: 'password', secondFactor: false } as const
  const begun = await new Sessions(site.store).begin(user, proof, {
    address: '127.0.0.1',
    ray: '',
    userAgent: null,
  })
  return { app, tokens, session: begun.value }
}

/** Clients that create tokens and ask for the site, one request after another, until they are ended. */
class Clients {
  readonly tokens: Kept[] = []
  readonly failures: string[] = []
  refusals = 0
  served = 0
  #isOver = false
  readonly #done: Promise<unknown>

  constructor(place: Place) {
    this.#done = Promise.all([this.#write(place), this.#write(place), this.#read(place)])
  }

  /** Waits until so many more changes are confirmed. */
  async confirm(count: number): Promise<void> {
    const { length } = this.tokens
    await until(() => {
      assert.deepEqual(this.failures, [])
      return this.tokens.length >= length + count
    })
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #write({ admin, owner, createToken }: Place): Promise<void> {
    while (!this.#isOver) {
      try {
        const response = await createToken(admin, owner.token)
        const body = (await response.json()) as { success: boolean; result: Kept }
        if (response.status === 200 && body.success) this.tokens.push(body.result)
        else if (response.status === 503) this.refusals++
        else this.failures.push(`${response.status} ${JSON.stringify(body)}`)
      } catch (cause) {
        this.failures.push(`${cause}: ${(cause as Error).cause}`)
      }
      await sleep(100)
    }
  }

  async #read({ edge }: Place): Promise<void> {
    while (!this.#isOver) {
      try {
        const response = await fetch(edge, { headers: { connection: 'close' } })
        if ((await response.text()) === 'hello') this.served++
        else this.failures.push(`the site: ${response.status}`)
      } catch (cause) {
        this.failures.push(`the site: ${cause}: ${(cause as Error).cause}`)
      }
      await sleep(100)
    }
  }
}

/** Does as the page says on the first machine, and starts the gateway of the second one, which has addresses of its own here. */
async function joinSecond(
  t: TestContext,
  { folder, env, sh, edgePort, adminPort }: Place,
): Promise<RunningGateway> {
  const lines = joining!.split('\n')
  const [, args] = /^ssh second 'cd gatehouse && npx gatehouse (.*)'$/.exec(lines.pop()!)!
  mkdirSync(join(folder, 'second'))
  await sh(lines.join('\n'))
  const cwd = join(folder, 'second/gatehouse')
  const file = join(cwd, 'my.yaml')
  const [edge, admin] = await Promise.all([freePort(), freePort()])
  const config = readFileSync(file, 'utf8')
  writeFileSync(file, config.replace(`:${edgePort}`, `:${edge}`).replace(`:${adminPort}`, `:${admin}`))
  return spawnGateway(t, [main, ...args!.split(' ')], { cwd, env })
}

async function readiness(admin: string): Promise<Readiness> {
  return (await (await fetch(`${admin}/readyz`)).json()) as Readiness
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url)
  await response.arrayBuffer()
  return response.status
}

/** What names another place of a program. */
const variables: Readonly<Record<string, string>> = { openssl: 'OPENSSL', 'redis-server': 'REDIS_SERVER' }
