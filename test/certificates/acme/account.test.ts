import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { Accounts, UnreadableKey } from '../../../src/certificates/acme/account.ts'
import { AcmeProblem, type Authority } from '../../../src/certificates/acme/authority.ts'
import { KnownCertificates } from '../../../src/certificates/acme/known-certificates.ts'
import { CertificateOrders } from '../../../src/certificates/acme/orders.ts'
import type { AcmeConfig } from '../../../src/config/model/config.ts'
import { createLogger } from '../../../src/log/log.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { until } from '../../help/until.ts'
import { memory } from './machine.ts'

const config: AcmeConfig = {
  ...{ directory: 'https://slow.test', email: null, termsAgreed: true, binding: null, ca: null },
  ...{ challenges: ['http-01'], hosts: ['site.test'] },
}
const elsewhere = { ...config, directory: 'https://other.test' }

/** The accounts of a machine, which waits for `connect` before it has the first authority. */
function accountsOf(store: Store, keys = new SecretKeys(Buffer.alloc(32, 7))) {
  const first = Promise.withResolvers<void>()
  const directories: string[] = []
  const accounts = new Accounts({
    ...{ records: store.acmeAccounts, secrets: keys, clock: systemClock },
    connect: async ({ directory }) => {
      if (directories.push(directory) === 1) await first.promise
      return { register: async () => `${directory}/account`, close: () => {} } as unknown as Authority
    },
  })
  return { accounts, directories, connect: first.resolve }
}

async function registered(t: TestContext): Promise<Store> {
  const store = await memory(t)
  const { accounts, connect } = accountsOf(store)
  connect()
  await accounts.open(config, false)
  return store
}

test('orders at once share a connection', async t => {
  const { accounts, directories, connect } = accountsOf(await memory(t))
  const both = [accounts.open(config, false), accounts.open(config, false)]
  connect()
  assert.equal(new Set(await Promise.all(both)).size, 1)
  assert.deepEqual(directories, ['https://slow.test'])
})

test('while the authority before a reload is connected to, the one after it is not taken for it', async t => {
  const { accounts, directories, connect } = accountsOf(await memory(t))
  const before = accounts.open(config, false)
  const after = accounts.open(elsewhere, false)
  connect()
  assert.notEqual(await before, await after)
  assert.deepEqual(directories, ['https://slow.test', 'https://other.test'])
  assert.equal(await accounts.open(elsewhere, false), await after)
})

test('a renewal by hand replaces an unreadable key, even while another order fails at it', async t => {
  const store = await registered(t)
  const { accounts, connect } = accountsOf(store, new SecretKeys(Buffer.alloc(32, 8)))
  connect()
  const results = await Promise.allSettled([accounts.open(config, false), accounts.open(config, true)])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  assert.ok((results[0] as PromiseRejectedResult).reason instanceof UnreadableKey)
})

/** Accounts whose authorities respond to nothing; returns also how often they were closed. */
function hanging(store: Store) {
  const called = Promise.withResolvers<void>()
  let closed = 0
  const accounts = new Accounts({
    ...{ records: store.acmeAccounts, secrets: new SecretKeys(Buffer.alloc(32, 7)), clock: systemClock },
    connect: async () => {
      const end = Promise.withResolvers<string>()
      const register = () => {
        called.resolve()
        return end.promise
      }
      const close = () => {
        closed++
        end.reject(new DOMException('closed', 'AbortError'))
      }
      return { register, close } as unknown as Authority
    },
  })
  return { accounts, called: called.promise, closed: () => closed }
}

test('a stop does not wait for an account that is being opened, nor for those that wait for it', async t => {
  const { accounts, called, closed } = hanging(await memory(t))
  const openings = [accounts.open(config, false), accounts.open(elsewhere, false)]
  await called
  accounts.close()
  const results = await Promise.allSettled(openings)
  assert.deepEqual(
    results.map(result => result.status === 'rejected' && result.reason.name),
    ['AbortError', 'AbortError'],
  )
  assert.ok(closed() >= 2)
})

test('an authority that refuses the account keeps no connection', async t => {
  let closed = 0
  const accounts = new Accounts({
    ...{ records: (await memory(t)).acmeAccounts, clock: systemClock },
    secrets: new SecretKeys(Buffer.alloc(32, 7)),
    connect: async () =>
      ({
        register: async () => Promise.reject(new Error('refused')),
        close: () => void closed++,
      }) as unknown as Authority,
  })
  await assert.rejects(accounts.open(config, false), /refused/)
  assert.equal(closed, 1)
})

test('hosts do not wait for the authority after a reload because the one before it fails', async t => {
  const store = await memory(t)
  const [secrets, log] = [new SecretKeys(Buffer.alloc(32, 7)), createLogger('info', { write: () => {} })]
  const certificates = new KnownCertificates({ store, secrets, log, copyPath: null, clock: systemClock })
  const [directories, down] = [[] as string[], Promise.withResolvers<never>()]
  const orders = new CertificateOrders({
    ...{ store, secrets, certificates, log, period: 20, shared: async () => {} },
    connect: async ({ directory }) => {
      directories.push(directory)
      return { register: () => down.promise, close: () => {} } as unknown as Authority
    },
  })
  t.after(() => certificates.close())
  t.after(() => orders.close())
  await certificates.open()
  // One more than are ordered at a time, so that one begins after the failure of the others.
  const hosts = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test']
  orders.follow({ ...config, hosts })
  await until(() => directories.length === 1)
  orders.follow({ ...elsewhere, hosts })
  down.reject(new AcmeProblem({ type: null, detail: 'it is down', status: null }))
  await until(() => directories.includes(elsewhere.directory), 5_000)
})
