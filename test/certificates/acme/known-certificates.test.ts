import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { acmeOwner } from '../../../src/store/records/acme.ts'
import { KnownCertificates } from '../../../src/certificates/acme/known-certificates.ts'
import { createLogger } from '../../../src/log/log.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { AcmeServer } from '../../help/acme-server.ts'
import { startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { hostCertificate } from '../../store/contract-specimens.ts'
import { Machine } from './machine.ts'

function copyIn(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data', 'certificates.json')
}

async function opened(t: TestContext, url: string): Promise<Store> {
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  return store
}

test('a start while Redis is unreachable serves the certificates of the local copy, and orders none', async t => {
  const [server, redis, copyPath] = [await AcmeServer.start(t), await startRedis(t), copyIn(t)]
  const first = await Machine.start(t, { server, store: await opened(t, redis.url), copyPath })
  const { notAfter } = await first.settled()
  await first.stop()
  assert.equal(statSync(copyPath).mode & 0o777, 0o600)
  const text = readFileSync(copyPath, 'utf8')
  assert.ok(text.includes('BEGIN CERTIFICATE') && !text.includes('PRIVATE KEY'))
  assert.ok(text.includes('"order":null,') && !text.includes('keyAuthorization'))
  await redis.kill()
  const second = await Machine.start(t, { server, store: await opened(t, redis.url), copyPath })
  assert.equal(Date.parse((await second.shown(server.ca)).validTo), notAfter)
  assert.deepEqual([second.standing().state, second.known.isRead], ['valid', false])
  assert.ok(second.lines.some(({ msg }) => msg === 'automatic certificates loaded from the local copy'))
  const other = new SecretKeys(Buffer.alloc(32, 8))
  const third = await Machine.start(t, {
    server,
    store: await opened(t, redis.url),
    copyPath,
    secrets: other,
  })
  assert.equal(third.standing().state, 'unreadable')
  await redis.restart()
  await until(() => second.known.isRead)
  await second.orders.idle()
  assert.deepEqual([second.standing().state, second.standing().notAfter], ['valid', notAfter])
  assert.equal(server.orders.length, 1)
})

test('the copy follows each new certificate', async t => {
  const [server, store, copyPath] = [await AcmeServer.start(t), await opened(t, 'sqlite::memory:'), copyIn(t)]
  const machine = await Machine.start(t, { server, store, copyPath })
  await machine.settled()
  const chain = () => machine.known.get('site.test')!.record.issued!.chain
  const first = chain()
  await until(() => existsSync(copyPath) && readFileSync(copyPath, 'utf8').includes(JSON.stringify(first)))
  const { record, version } = (await store.certificates.get(acmeOwner, 'site.test'))!
  await store.certificates.replace({ ...record, requestedAt: machine.clock.now() }, version)
  await until(() => chain() !== first)
  await until(() => readFileSync(copyPath, 'utf8').includes(JSON.stringify(chain())))
})

test('a copy leaves out orders in progress, which other machines continue', async t => {
  const [store, copyPath] = [await opened(t, 'sqlite::memory:'), copyIn(t)]
  const record = hostCertificate()
  await store.certificates.insert(record)
  const log = createLogger('info', { write: () => {} })
  const known = new KnownCertificates({ store, log, copyPath, secrets: new SecretKeys(Buffer.alloc(32, 7)) })
  await known.open()
  await known.close()
  const [, json] = readFileSync(copyPath, 'utf8').split('\n')
  const { certificates } = JSON.parse(json!)
  assert.deepEqual(certificates, [{ ...record, order: null, lease: null }])
})
