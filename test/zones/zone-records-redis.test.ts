import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { maxErrorPage } from '../../src/config/model/custom-errors-config.ts'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import { freePort } from '../help/free-port.ts'
import { startRedis } from '../help/redis.ts'
import { until } from '../help/until.ts'
import { accessRuleList, errorPage, errorRuleList } from '../store/contract-specimens.ts'
import { cachePath, opened, openZones, put } from './opened-zones.ts'

const id = 'shop.example'
const [errors, access, page] = [errorRuleList(), accessRuleList(), errorPage()]
const all = { errorRules: errors.rules, accessRules: access.rules, errorPages: { '500_errors': page.html } }
const soon = 1_000

/** Starts a server that has something of every kind for the zone. */
async function filled(t: TestContext) {
  const server = await startRedis(t)
  const writer = await opened(t, server.url)
  await put(writer.errorRules, errors)
  await put(writer.accessRules, access)
  await put(writer.errorPages, page)
  return { server, writer }
}

/** Leaves the copy of a server behind that is then gone. */
async function copied(t: TestContext) {
  const { server } = await filled(t)
  const path = cachePath(t)
  const { zones } = await openZones(t, await opened(t, server.url), { cachePath: path, writes: true })
  await zones.close()
  await server.kill()
  return { server, path }
}

test('a setting made on one machine applies on another within a second', async t => {
  const server = await startRedis(t)
  const [writer, reader] = [await opened(t, server.url), await opened(t, server.url)]
  const { zones } = await openZones(t, reader)
  await put(writer.errorRules, errors)
  await until(() => zones.of(id)?.errorRules.length === 2, soon)
  await put(writer.accessRules, access)
  await until(() => zones.of(id)?.accessRules.length === 2, soon)
  await put(writer.errorPages, page)
  await until(() => zones.of(id)?.errorPages['500_errors'] !== undefined, soon)
  assert.deepEqual(zones.of(id), all)
  await put(writer.accessRules, { ...access, rules: [] })
  await until(() => zones.of(id)?.accessRules.length === 0, soon)
  await writer.errorPages.remove(zoneOwner, page.id)
  await until(() => zones.of(id)?.errorPages['500_errors'] === undefined, soon)
})

test('pages of the largest size are known within a second, and from the start', async t => {
  const server = await startRedis(t)
  const [writer, reader] = [await opened(t, server.url), await opened(t, server.url)]
  const { zones } = await openZones(t, reader)
  const html = 'x'.repeat(maxErrorPage)
  for (let i = 0; i < 5; i++) await put(writer.errorPages, errorPage({ zone: `${i}.example`, html }))
  await until(() => zones.of('4.example')?.errorPages['500_errors']?.length === html.length, soon)
  const later = await openZones(t, await opened(t, server.url))
  for (let i = 0; i < 5; i++) assert.equal(later.zones.of(`${i}.example`)?.errorPages['500_errors'], html)
})

test('cached records stay in effect while Redis is unreachable, and changes made meanwhile apply soon after it is back', async t => {
  const { server, writer } = await filled(t)
  const reader = await opened(t, server.url)
  const { zones, lines } = await openZones(t, reader)
  await server.kill()
  await until(() => reader.isUnreachable && writer.isUnreachable)
  assert.deepEqual(zones.of(id), all)
  await server.restart()
  await until(() => !writer.isUnreachable)
  await put(writer.accessRules, { ...access, rules: [] })
  await until(() => zones.of(id)?.accessRules.length === 0)
  assert.deepEqual(zones.of(id), { ...all, accessRules: [] })
  assert.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  )
})

test('a start while Redis is unreachable uses the last copy, and current data once it is back', async t => {
  const { server, path } = await copied(t)
  const { zones, lines, told } = await openZones(t, await opened(t, server.url), { cachePath: path })
  assert.deepEqual(zones.of(id), all)
  assert.deepEqual(zones.of('other.example'), { errorRules: [], accessRules: [], errorPages: {} })
  assert.partialDeepStrictEqual(lines, [
    { level: 'warn', reason: 'ECONNREFUSED', msg: 'API-managed rules of zones not read: store unreachable' },
    { level: 'warn', path, msg: 'API-managed rules of zones loaded from the local copy' },
  ])
  await server.restart()
  const writer = await opened(t, server.url)
  await put(writer.errorRules, { ...errors, rules: [] })
  await until(() => told() > 0)
  assert.deepEqual(zones.of(id)?.accessRules, access.rules)
  await until(() => zones.of(id)?.errorRules.length === 0)
})

test('a start while Redis is unreachable knows nothing without a copy, until it is back', async t => {
  const port = await freePort()
  const { zones, lines, told } = await openZones(t, await opened(t, `redis://127.0.0.1:${port}`), {
    cachePath: cachePath(t),
  })
  assert.equal(zones.of(id), null)
  assert.partialDeepStrictEqual(lines[1], {
    level: 'warn',
    msg: 'API-managed rules of zones unknown: not read from the store, and no local copy',
  })
  await startRedis(t, { port })
  await until(() => told() > 0)
  assert.deepEqual(zones.of(id), { errorRules: [], accessRules: [], errorPages: {} })
})

test('a start while Redis is unreachable uses nothing from a damaged copy', async t => {
  const { server, path } = await copied(t)
  writeFileSync(path, readFileSync(path, 'utf8').replace('"deny"', '"allow"'))
  const { zones, lines } = await openZones(t, await opened(t, server.url), { cachePath: path })
  assert.equal(zones.of(id), null)
  assert.partialDeepStrictEqual(lines[1], {
    level: 'error',
    path,
    reason: 'damaged: its digest does not match',
  })
})

test('only the process that writes the copy updates it', async t => {
  const { server, path } = await copied(t)
  await server.restart()
  const before = readFileSync(path, 'utf8')
  const [reader, writer] = [await opened(t, server.url), await opened(t, server.url)]
  const quiet = await openZones(t, reader, { cachePath: path })
  await put(writer.errorPages, { ...page, html: 'another' })
  await until(() => quiet.zones.of(id)?.errorPages['500_errors'] === 'another')
  await quiet.zones.close()
  assert.equal(readFileSync(path, 'utf8'), before)
  await openZones(t, writer, { cachePath: path, writes: true })
  await until(() => readFileSync(path, 'utf8').includes('"another"'))
  await put(writer.errorPages, { ...page, html: 'a third' })
  await until(() => readFileSync(path, 'utf8').includes('"a third"'), soon)
})
