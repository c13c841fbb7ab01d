// Scripts of a user who may not run all of their commands: Redis undoes nothing of what a script did before it failed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchOf } from '../../../src/store/log-batch/batch.ts'
import { changeChannel, keys } from '../../../src/store/redis/server/keys.ts'
import type { BudgetLine } from '../../../src/store/records/budget.ts'
import { boundsWithin, owned } from '../answer-bounds.ts'
import { slotOf } from '../../../src/store/records/tally.ts'
import { type Store, StoreUnreachable } from '../../../src/store/contract/store.ts'
import { type RedisServer, startRedis } from '../../help/redis.ts'
import { thorough } from '../../help/thorough.ts'
import { until } from '../../help/until.ts'
import {
  account,
  auditEntry,
  auditQuery,
  authorizationEvent,
  credential,
  firstStart,
  gateway,
  identity,
  storedResponse,
  logEntries,
  logQuery,
  member,
  oauthClient,
  oauthGrant,
  token,
  user,
  verification,
} from '../contract-specimens.ts'
import { commandsDuring } from './commands.ts'
import { methods, openRedis } from './open.ts'
import { aclRules } from '../../../src/store/redis/server/acl.ts'

interface Case {
  /** Puts there what `act` finds, with all rights. */
  readonly arrange?: (store: Store) => Promise<unknown>
  readonly act: (store: Store) => Promise<unknown>
}

const due = oauthClient({ verification: verification({ nextCheckAt: 1 }) })
const logged = gateway()
const entries = logEntries(logged, 4)
const append = (store: Store, some = entries, most = 3) =>
  store.logs.append(logged.account, logged.id, batchOf(some), { maxEntries: most, strategy: 'DELETE_OLDEST' })
const arrangeLogs = async (store: Store) => {
  await store.gateways.insert(logged)
  await append(store)
}
const home = [logged.account, logged.id] as const
const forward = { filters: [], descending: false, limit: 9, maxScanned: 9 }
const windows = { since: 0, width: 86_400_000, count: 2 }
const page = { offset: 0, limit: 10 }
const beside = {
  audit: auditEntry({ account: due.account }),
  response: storedResponse({ account: due.account }),
}
const told = auditEntry({ account: due.account, actor: 'gatehouse' })
const first = firstStart()
const owner = account()
const known = token()
const opening = credential('refresh_token')
const another = credential('access_token', { client: opening.client })
const end = credential('ended_family', { client: opening.client })
const { kind, digest } = opening
const exchange = { kind, digest, at: 1, grace: 1, issued: [another], end }
const third = credential('access_token')
const next = credential('refresh_token', { client: opening.client })
const family = credential('token_family', {
  ...{ client: opening.client, digest: end.digest },
  data: { spent: digest, refresh: next.digest, access: another.digest },
})
const beginning = {
  gateway: gateway({ account: owner.id }),
  audit: auditEntry({ account: owner.id }),
}
const [granted, happened] = [oauthGrant(), authorizationEvent()]
const person = user({ identity: identity() })
const joined = member({ isSuper: true })
const second = member({ account: joined.account, isSuper: true })
const seen = { at: Date.now(), ray: '0', method: 'GET', host: 'x', path: '/', status: 403, format: 'json' }
const slot = slotOf('error', seen.at)
const counted = { kind: 'error', scope: 'none', name: '1020', slot, count: 1, last: seen.at } as const
const tally = { ...counted, occurrences: [seen] }
const far = Date.now() + 20 * 86_400_000
const spend = (store: Store, window: 'sliding' | 'fixed') =>
  store.counters.spend({
    key: 'key',
    window: window === 'sliding' ? { kind: window, period: 60_000 } : { kind: window, until: far },
    limit: 5,
    done: 1,
    wanted: 2,
  })

const budget = {
  ...{ bucket: 'b', window: { kind: 'sliding', period: 7 * 86_400_000 } as const, limit: 99, share: 'p.0' },
  ...{ total: 0, confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 },
}
const stepOn = (store: Store, sequence: number, line: Partial<BudgetLine>, lease = 60_000) =>
  store.budgets.step({ account: owner.id, sequence, lease, lines: [{ ...budget, ...line }] })

const answer = { account: owner.id, gateway: 'default', key: 'k' }
const bounds = boundsWithin({ bytes: 8, entries: 4 }, 4)
const writeAnswer = (store: Store, key = 'k', more = bounds) =>
  store.answers.write({ ...answer, key }, Buffer.from('two'), far, more)
const claim = {
  ...{ ...answer, fingerprint: 'f', holder: 'h', lease: 1, expiresAt: far, note: '', ...owned },
}

const cases: Readonly<Record<string, Case>> = {
  bootstrap: { act: store => store.bootstrap(first) },
  'accounts.insert': { act: store => store.accounts.insert(owner) },
  'accounts.insert, with what it begins with': {
    act: store => store.accounts.insert(owner, beginning),
  },
  'accounts.update': {
    arrange: store => store.accounts.insert(owner),
    act: store => store.accounts.update(owner.id, { enforceTwoFactor: true }, beside),
  },
  'users.insert': { act: store => store.users.insert(person, beside) },
  'users.replace': {
    arrange: store => store.users.insert(person),
    act: async store => {
      const { version } = (await store.users.get(person.account, person.id))!
      return store.users.replace({ ...person, email: 'new@people.example', identity: null }, version)
    },
  },
  'members.remove': {
    arrange: async store => {
      await store.members.insert(joined)
      await store.members.insert(second)
    },
    act: store => store.members.remove(joined.account, joined.id, beside),
  },
  'members.ofUser': {
    arrange: store => store.members.insert(joined),
    act: store => store.members.ofUser(joined.user),
  },
  'credentials.putAll': {
    arrange: store => store.credentials.put(opening),
    act: store => store.credentials.putAll([opening, another]),
  },
  'credentials.consume': {
    arrange: store => store.credentials.put(opening),
    act: store => store.credentials.consume(opening.kind, opening.digest, 1),
  },
  'credentials.exchange': {
    arrange: store => store.credentials.put(opening),
    act: store => store.credentials.exchange(exchange),
  },
  'credentials.exchange, a replay': {
    arrange: store => store.credentials.put({ ...opening, consumedAt: 1 }),
    act: store => store.credentials.exchange({ ...exchange, at: 3 }),
  },
  'credentials.exchange, once more': {
    arrange: store => store.credentials.putAll([{ ...opening, consumedAt: 1 }, another, next, family]),
    act: store => store.credentials.exchange({ ...exchange, issued: [third], at: 2 }),
  },
  'credentials.endFamily': { act: store => store.credentials.endFamily(end) },
  'credentials.remove': {
    arrange: store => store.credentials.put(opening),
    act: store => store.credentials.remove(opening.kind, opening.digest),
  },
  'credentials.removeOf': {
    arrange: store => store.credentials.putAll([opening, another]),
    act: store => store.credentials.removeOf({ client: opening.client! }),
  },
  'credentials.list': {
    arrange: store => store.credentials.put(opening),
    act: store => store.credentials.list({ user: opening.user! }, opening.kind, 9),
  },
  'oauthGrants.ofUser': {
    arrange: store => store.oauthGrants.insert(granted),
    act: store => store.oauthGrants.ofUser(granted.user, page),
  },
  'oauthGrants.remove': {
    arrange: store => store.oauthGrants.insert(granted),
    act: store => store.oauthGrants.remove(granted.account, granted.id, beside),
  },
  'authorizationEvents.append': { act: store => store.authorizationEvents.append(happened) },
  'authorizationEvents.list': {
    arrange: store => store.authorizationEvents.append(happened),
    act: store => store.authorizationEvents.list(happened.clientAccount, happened.client),
  },
  'authorizationEvents.removeOf': {
    arrange: store => store.authorizationEvents.append(happened),
    act: store => store.authorizationEvents.removeOf(happened.client),
  },
  'tokens.insert': { act: store => store.tokens.insert(known) },
  'tokens.replace': {
    arrange: store => store.tokens.insert(known),
    act: async store => {
      const { version } = (await store.tokens.get(known.account, known.id))!
      return store.tokens.replace({ ...known, digest: 'f'.repeat(64) }, version)
    },
  },
  'tokens.remove': {
    arrange: store => store.tokens.insert(known),
    act: store => store.tokens.remove(known.account, known.id),
  },
  'tokens.findByDigest': {
    arrange: store => store.tokens.insert(known),
    act: async store => store.tokens.findByDigest(known.digest),
  },
  'tokens.noteUses': {
    arrange: store => store.tokens.insert(known),
    act: store => store.tokens.noteUses([{ account: known.account, id: known.id, at: 1 }]),
  },
  'gateways.list': {
    arrange: store => store.gateways.insert(logged),
    act: store => store.gateways.list(logged.account, page),
  },
  'gateways.remove': {
    arrange: store => store.gateways.insert(logged),
    act: store => store.gateways.remove(logged.account, logged.id),
  },
  'oauthClients.insert': { act: store => store.oauthClients.insert(due, beside) },
  'oauthClients.replace': {
    arrange: store => store.oauthClients.insert(due),
    act: async store => {
      const { version } = (await store.oauthClients.get(due.account, due.id))!
      return store.oauthClients.replace({ ...due, verification: null, revision: 2 }, version, beside)
    },
  },
  'oauthClients.remove': {
    arrange: store => store.oauthClients.insert(due),
    act: store => store.oauthClients.remove(due.account, due.id, beside),
  },
  'oauthClients.find': {
    arrange: async store => {
      await store.accounts.insert(account({ id: due.account }))
      await store.oauthClients.insert(due)
    },
    act: store => store.oauthClients.find(due.id),
  },
  'gateways.search': {
    arrange: store => store.gateways.insert(logged),
    act: store => store.gateways.search(logged.account, logged.id, { offset: 0, limit: 1 }),
  },
  'oauthClients.search': {
    arrange: store => store.oauthClients.insert(due),
    act: store =>
      store.oauthClients.search(due.account, { name: '', visibility: null }, { offset: 0, limit: 1 }),
  },
  'oauthClients.claimDue': {
    arrange: store => store.oauthClients.insert(due),
    act: store => store.oauthClients.claimDue(10, 60_000),
  },
  'oauthClients.renewLeases': {
    arrange: store => store.oauthClients.insert(due),
    act: store => store.oauthClients.renewLeases([due], 60_000),
  },
  'audit.append': { act: store => store.audit.append(beside.audit) },
  'audit.list': {
    arrange: store => store.audit.append(beside.audit),
    act: store => store.audit.list(due.account, auditQuery()),
  },
  'audit.trim': {
    arrange: store => store.audit.append(beside.audit),
    act: store =>
      store.audit.trim(due.account, { before: 0, maxOf: () => 0 }, (_, dropped) => ({ ...told, dropped })),
  },
  'logs.append': {
    arrange: async store => {
      await store.gateways.insert(logged)
      await append(store, entries.slice(0, 2))
    },
    act: store => append(store, entries.slice(2)),
  },
  'logs.remove': {
    arrange: arrangeLogs,
    act: store => store.logs.remove(...home, logQuery()),
  },
  'logs.scan': { arrange: arrangeLogs, act: store => store.logs.scan(...home, forward) },
  'logs.marks': { arrange: arrangeLogs, act: store => store.logs.marks(...home, windows) },
  'logs.keepSum': {
    arrange: arrangeLogs,
    act: store => store.logs.keepSum(...home, { since: 0, width: 60_000, mark: 'a' }, 'sums'),
  },
  'logs.tail': { arrange: arrangeLogs, act: store => store.logs.tail(...home, null, 9) },
  'logs.entries': { arrange: arrangeLogs, act: store => Array.fromAsync(store.logs.entries(...home)) },
  'tallies.add': { act: store => store.tallies.add([tally]) },
  'tallies.list': {
    arrange: store => store.tallies.add([tally]),
    act: store => store.tallies.list('error', 'none', 0),
  },
  'peers.exchange': { act: store => store.peers!.exchange('one', 'words', 60_000) },
  adopt: {
    arrange: store => store.tokens.insert(known),
    act: store => store.continueAs({ identity: 'a'.repeat(32), generation: 3, last: '', isBehind: false }),
  },
  'budgets.step': {
    arrange: async store => {
      await stepOn(store, 1, { share: 'q.0', total: 1, need: 1 })
      await stepOn(store, 1, { total: 3, need: 2 })
    },
    act: store => stepOn(store, 2, { total: 4, need: 2 }),
  },
  'budgets.step, after leases expired': {
    arrange: store => stepOn(store, 1, { share: 'q.0', need: 1 }, -700_000),
    act: store => stepOn(store, 2, { total: 4 }, -700_000),
  },
  'budgets.reset': {
    arrange: store => stepOn(store, 1, { total: 3, need: 2 }),
    act: store => store.budgets.reset(owner.id, budget),
  },
  'budgets.read': {
    arrange: store => stepOn(store, 1, { total: 3, need: 2 }),
    act: store => store.budgets.read(owner.id, [budget]),
  },
  'budgets.entries': {
    arrange: store => stepOn(store, 1, { total: 3, need: 2 }),
    act: store => Array.fromAsync(store.budgets.entries(owner.id)),
  },
  'budgets.restore': {
    arrange: store => stepOn(store, 1, { total: 3, need: 2 }),
    act: store =>
      store.budgets.restore(owner.id, [{ bucket: 'b', endsAt: far, slots: [[0, 1]], shares: {} }]),
  },
  'answers.write': {
    arrange: async store => {
      await writeAnswer(store)
      await writeAnswer(store, 'l', boundsWithin({ bytes: 99, entries: 99 }, 9))
    },
    act: store => writeAnswer(store),
  },
  'answers.read': { arrange: store => writeAnswer(store), act: store => store.answers.read(answer) },
  'answers.remove': { arrange: store => writeAnswer(store), act: store => store.answers.remove(answer) },
  'answers.eraseAccount': {
    arrange: store => writeAnswer(store),
    act: store => store.answers.eraseAccount(owner.id),
  },
  'answers.sweep': {
    arrange: async store => {
      await store.accounts.insert(owner)
      await store.answers.write(answer, Buffer.from('two'), 1, bounds)
    },
    act: store => store.answers.sweep(9),
  },
  'claims.claim': { act: store => store.claims.claim(claim) },
  'claims.claim, of another': {
    arrange: store => store.claims.claim(claim),
    act: store => store.claims.claim({ ...claim, holder: 'i' }),
  },
  'claims.look': { arrange: store => store.claims.claim(claim), act: store => store.claims.look(claim) },
  'claims.renew': {
    arrange: store => store.claims.claim(claim),
    act: store => store.claims.renew(claim, 'h', 1),
  },
  'claims.settle': {
    arrange: store => store.claims.claim(claim),
    act: store => store.claims.settle(claim, 'h', 'note'),
  },
  'claims.release': {
    arrange: store => store.claims.claim(claim),
    act: store => store.claims.release(claim, 'h'),
  },
  'counters.spend, sliding': { act: store => spend(store, 'sliding') },
  'counters.spend, fixed': { act: store => spend(store, 'fixed') },
}

/** Runs all cases, each in an empty database. */
async function runAll(server: RedisServer, store: Store, ran = async (_name: string) => {}): Promise<void> {
  for (const [name, { arrange, act }] of Object.entries(cases)) {
    await server.ask('FLUSHALL')
    await arrange?.(store)
    await act(store)
    await ran(name)
  }
}

test('every script has its case, and the documented rights are the commands that the store runs', async t => {
  const server = await startRedis(t, { aof: false })
  const scriptCount = async () =>
    /number_of_cached_scripts:(\d+)/.exec(String(await server.ask('INFO', 'memory')))![1]
  const { sent, scripted } = await commandsDuring(server, async () => {
    const store = await openRedis(t, server.url, 5_000)
    await runAll(server, store)
    const before = await scriptCount()
    for (const ask of Object.values(methods)) await ask(store)
    assert.equal(await scriptCount(), before)
    // What is left of a removed gateway is cleared in the background.
    await store.gateways.insert(logged)
    await store.gateways.remove(...home)
    await until(async () => /cmdstat_unlink/.test(String(await server.ask('INFO', 'commandstats'))))
  })
  const granted = aclRules.filter(rule => /^\+[a-z]+$/.test(rule)).map(rule => rule.slice(1).toUpperCase())
  assert.deepEqual([...new Set(granted).difference(sent.union(scripted))], [])
  assert.deepEqual([...scripted.difference(new Set(granted))], [])
})

test('a script does everything or nothing, whichever command is denied', async t => {
  const server = await startRedis(t, { aof: false })
  const grant = (...rules: string[]) =>
    server.ask('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '+@all', '~*', '&*', ...rules)
  await grant()
  const full = await openRedis(t, server.url, 5_000)
  const limited = await openRedis(t, `redis://limited:secret@127.0.0.1:${server.port}`, 5_000)
  const wholes = new Map<string, unknown>()
  /** What ran for each case, as Redis counts it. */
  const counts = new Map<string, string>()
  const { scripted: commands } = await commandsDuring(server, () =>
    runAll(server, full, async name => {
      wholes.set(name, shapeOf(await contentOf(server)))
      counts.set(name, String(await server.ask('INFO', 'commandstats')))
      await server.ask('CONFIG', 'RESETSTAT')
    }),
  )
  const refusedBy = new Map<string, string[]>()
  for (const [name, one] of Object.entries(cases)) {
    for (const command of commands) {
      // Nothing misses what it does not call.
      if (!thorough(true, counts.get(name)!.includes(`cmdstat_${command.toLowerCase()}:`))) continue
      await grant()
      await server.ask('FLUSHALL')
      await one.arrange?.(full)
      const before = await contentOf(server)
      await grant(`-${command}`)
      const failure = await one.act(limited).then(
        () => null,
        error => error,
      )
      const after = await contentOf(server)
      const what = `${name} without ${command}`
      if (failure === null) assert.deepEqual(shapeOf(after), wholes.get(name), what)
      else {
        assert.ok(failure instanceof StoreUnreachable, `${what}: ${failure}`)
        assert.deepEqual(after, before, what)
        refusedBy.set(command, [...(refusedBy.get(command) ?? []), name])
      }
    }
  }
  const never = [...commands].filter(command => !refusedBy.has(command))
  assert.deepEqual(never, ['PUBLISH'], 'only a notice may be left out')
})

for (const rule of ['-hset', '-evalsha', `resetkeys ~${keys.proof} ~${keys.format}`]) {
  test(`writes that are refused for ${rule} count as refused until that is granted, whatever else is confirmed`, async t => {
    const server = await startRedis(t, { aof: false })
    const grant = (...rules: string[]) =>
      server.ask('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '+@all', '~*', '&*', ...rules)
    await grant()
    const store = await openRedis(t, `redis://limited:secret@127.0.0.1:${server.port}`)
    assert.equal(await store.tokens.insert(token()), true)
    await grant(...rule.split(' '))
    await assert.rejects(store.tokens.insert(token()), StoreUnreachable)
    for (let look = 0; look < 3; look++) {
      await store.durability()
      await store.confirm()
      assert.equal(store.refusal, 'Redis refuses them: NOPERM')
    }
    await grant()
    await until(() => store.refusal === null)
    assert.equal(await store.tokens.insert(token()), true)
  })
}

test('a user without channels writes all the same, and others hear of it a little later', async t => {
  const server = await startRedis(t)
  await server.ask('ACL', 'SETUSER', 'quiet', 'on', '>secret', '+@all', '~*', 'resetchannels')
  const quiet = await openRedis(t, `redis://quiet:secret@127.0.0.1:${server.port}`, 10_000)
  const other = await openRedis(t, server.url, 10_000)
  const heard = new Promise(resolve => other.changes.follow(resolve))
  const kept = token()
  assert.equal(await quiet.tokens.insert(kept), true)
  assert.deepEqual(await heard, { kind: 'token', account: kept.account, id: kept.id })
  assert.equal((await server.ask('ACL', 'DRYRUN', 'quiet', 'PUBLISH', changeChannel, '')) === 'OK', false)
})

type Content = Readonly<Record<string, unknown>>

/** Reads all that the server holds, but what is written before a proof and how long keys last. */
async function contentOf(server: RedisServer): Promise<Content> {
  const content: Record<string, unknown> = {}
  for (const key of ((await server.ask('KEYS', '*')) as string[]).sort()) {
    if (key === keys.proof) continue
    const type = String(await server.ask('TYPE', key))
    const expires = Number(await server.ask('PTTL', key)) > 0
    content[key] = { expires, value: await server.ask(...readers[type as keyof typeof readers](key)) }
  }
  return content
}

type Asked = readonly [name: string, ...args: (string | number)[]]

const readers = {
  string: (key: string): Asked => ['GET', key],
  hash: (key: string): Asked => ['HGETALL', key],
  zset: (key: string): Asked => ['ZRANGE', key, 0, -1, 'WITHSCORES'],
  list: (key: string): Asked => ['LRANGE', key, 0, -1],
  stream: (key: string): Asked => ['XRANGE', key, '-', '+'],
}

/** Masks what is another each time: versions and the numbers of buckets. */
function shapeOf(content: Content): unknown {
  return JSON.parse(JSON.stringify(content).replaceAll(/\d{8,}/g, '#'))
}
