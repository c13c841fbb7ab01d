import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import type { Store } from '../../src/store/contract/store.ts'
import type { KnownZone } from '../../src/zones/known-zones.ts'
import { secondsUntil } from '../help/clock.ts'
import { until } from '../help/until.ts'
import { accessRuleList, errorPage, errorRuleList } from '../store/contract-specimens.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'
import { opened, openZones, put, SteeredStore } from './opened-zones.ts'

const id = 'shop.example'
const [errors, access, page] = [errorRuleList(), accessRuleList(), errorPage()]
const soon = 1_000

/** Opens two handles on one file, as two processes have them. */
async function pair(t: TestContext): Promise<readonly [Store, Store]> {
  const url = `sqlite:${temporaryFile(t)}`
  return [await opened(t, url), await opened(t, url)]
}

test('a zone setting of one process applies in another within a second', async t => {
  const [writer, reader] = await pair(t)
  const { zones } = await openZones(t, reader)
  const known = () => zones.of(id) as KnownZone
  await put(writer.errorRules, errors)
  await until(() => known().errorRules.length === 2, soon)
  assert.deepEqual(known(), { errorRules: errors.rules, accessRules: [], errorPages: {} })
  await put(writer.accessRules, access)
  await until(() => known().accessRules.length === 2, soon)
  await put(writer.errorPages, page)
  await until(() => known().errorPages['500_errors'] === page.html, soon)
  await put(writer.errorPages, { ...page, html: 'another' })
  await until(() => known().errorPages['500_errors'] === 'another', soon)
  await put(writer.errorRules, { ...errors, rules: [errors.rules[1]!] })
  await until(() => known().errorRules.length === 1, soon)
  assert.deepEqual(known().errorRules, [errors.rules[1]])
  assert.deepEqual(known().accessRules, access.rules)
  await writer.errorPages.remove(zoneOwner, page.id)
  await until(() => known().errorPages['500_errors'] === undefined, soon)
  assert.deepEqual(known().errorPages, {})
})

test('two hundred zones are read at the start, and a change leaves the others as they are', async t => {
  const [writer, reader] = await pair(t)
  const names = Array.from({ length: 200 }, (_, i) => `${i}.example`)
  for (const name of names) {
    await put(writer.errorRules, errorRuleList({ id: name }))
    await put(writer.accessRules, accessRuleList({ id: name }))
    await put(writer.errorPages, errorPage({ zone: name, html: name }))
  }
  const { zones, told } = await openZones(t, reader)
  const before = names.map(name => zones.of(name)!)
  for (const [i, zone] of before.entries()) {
    assert.equal(zone.errorRules.length, 2)
    assert.equal(zone.accessRules.length, 2)
    assert.deepEqual(zone.errorPages, { '500_errors': names[i] })
  }
  await put(writer.errorPages, errorPage({ zone: '7.example', html: 'new' }))
  await until(() => told() > 0, soon)
  assert.equal(told(), 1)
  for (const [i, name] of names.entries()) assert.equal(zones.of(name) === before[i], i !== 7, name)
  assert.deepEqual(zones.of('7.example')?.errorPages, { '500_errors': 'new' })
})

test('a zone for which nothing is set is empty, and nothing of any is known before the store was read', async t => {
  const steered = await SteeredStore.open(t)
  const empty = { errorRules: [], accessRules: [], errorPages: {} }
  const { zones } = await openZones(t, steered.store)
  assert.deepEqual(zones.of(id), empty)
  const away = await SteeredStore.open(t)
  away.isUnreachable = true
  assert.equal((await openZones(t, away.store)).zones.of(id), null)
})

test('followers are notified once of changes made together, and read only those', async t => {
  const steered = await SteeredStore.open(t)
  const { zones, told } = await openZones(t, steered.store)
  await put(steered.inner.errorRules, errors)
  await put(steered.inner.errorPages, page)
  steered.asked.length = 0
  steered.tell({ kind: 'token', account: zoneOwner, id })
  for (let i = 0; i < 3; i++) {
    steered.tell({ kind: 'error_rule_list', account: zoneOwner, id })
    steered.tell({ kind: 'error_page', account: zoneOwner, id: page.id })
  }
  await until(() => told() > 0)
  assert.equal(told(), 1)
  assert.deepEqual(steered.asked, [id, page.id])
  assert.deepEqual(zones.of(id), {
    errorRules: errors.rules,
    accessRules: [],
    errorPages: { '500_errors': page.html },
  })
})

test('a change that is told while the record is read is read again', async t => {
  const steered = await SteeredStore.open(t)
  const { zones, told } = await openZones(t, steered.store)
  const letGo = steered.hold()
  await put(steered.inner.errorRules, errors)
  steered.tell({ kind: 'error_rule_list', account: zoneOwner, id })
  await until(() => steered.asked.includes(id))
  await put(steered.inner.errorRules, { ...errors, rules: [] })
  steered.tell({ kind: 'error_rule_list', account: zoneOwner, id })
  letGo()
  await until(() => told() === 2)
  assert.deepEqual(zones.of(id)?.errorRules, [])
})

test('a change that is told while all is read is read again', async t => {
  const steered = await SteeredStore.open(t)
  await put(steered.inner.errorRules, errors)
  const letGo = steered.hold()
  const opening = openZones(t, steered.store)
  await until(() => steered.asked.length > 0)
  await put(steered.inner.errorRules, { ...errors, rules: [] })
  steered.tell({ kind: 'error_rule_list', account: zoneOwner, id })
  letGo()
  const { zones } = await opening
  await until(() => zones.of(id)?.errorRules.length === 0)
})

test('when anything may have changed all is read, and who follows is told only if it has', async t => {
  const steered = await SteeredStore.open(t)
  await put(steered.inner.errorRules, errors)
  await put(steered.inner.errorPages, page)
  const { zones, told } = await openZones(t, steered.store)
  const before = zones.of(id)
  steered.asked.length = 0
  steered.tell({ kind: 'everything' })
  await until(() => steered.asked.length === 3)
  assert.equal(zones.of(id), before)
  assert.equal(told(), 0)
  await put(steered.inner.errorRules, errorRuleList({ id: 'other.example' }))
  await steered.inner.errorPages.remove(zoneOwner, page.id)
  steered.tell({ kind: 'everything' })
  await until(() => told() > 0)
  assert.equal(told(), 1)
  assert.deepEqual(zones.of(id), { ...before, errorPages: {} })
  assert.equal(zones.of('other.example')?.errorRules.length, 2)
})

test('a record that moves up while pages of a list are read is not missed', async t => {
  const steered = await SteeredStore.open(t)
  const { errorPages } = steered.inner
  for (const [i, zone] of ['a', 'b', 'c', 'd', 'e'].entries())
    await put(errorPages, errorPage({ zone, createdAt: i }))
  const list = errorPages.list.bind(errorPages)
  let calls = 0
  errorPages.list = async (...query) => {
    const found = await list(...query)
    if (++calls === 1) await errorPages.remove(zoneOwner, 'a/500_errors')
    return found
  }
  const { zones } = await openZones(t, steered.store)
  for (const zone of ['b', 'c', 'd', 'e'])
    assert.deepEqual(zones.of(zone)?.errorPages, { '500_errors': page.html }, zone)
  assert.deepEqual(zones.of('a')?.errorPages, {})
})

test('cached records stay in effect while the store is unreachable, which is logged once, and are updated afterwards', async t => {
  const steered = await SteeredStore.open(t)
  await put(steered.inner.errorRules, errors)
  const { zones, lines } = await openZones(t, steered.store)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  steered.isUnreachable = true
  await put(steered.inner.errorRules, { ...errors, rules: [] })
  steered.tell({ kind: 'error_rule_list', account: zoneOwner, id })
  steered.asked.length = 0
  assert.equal(await secondsUntil(t, () => steered.asked.length === 4), 3)
  assert.deepEqual(zones.of(id)?.errorRules, errors.rules)
  steered.isUnreachable = false
  assert.equal(await secondsUntil(t, () => zones.of(id)?.errorRules.length === 0), 1)
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [
      ['warn', 'API-managed rules of zones not read: store unreachable'],
      ['info', 'API-managed rules of zones read again'],
    ],
  )
})

test('a follower that throws does not keep others from being notified, and one that left is not notified', async t => {
  const steered = await SteeredStore.open(t)
  const { zones, lines, told } = await openZones(t, steered.store)
  const end = zones.follow(() => assert.fail('it no longer follows'))
  end()
  zones.follow(() => {
    throw new Error('broken')
  })
  await put(steered.inner.errorRules, errors)
  steered.tell({ kind: 'error_rule_list', account: zoneOwner, id })
  await until(() => told() > 0)
  assert.equal(told(), 1)
  assert.partialDeepStrictEqual(lines, [{ level: 'error', err: { message: 'broken' } }])
  assert.equal(zones.of(id)?.errorRules.length, 2)
})

test('once closed, nothing is read and no listener is called', async t => {
  const steered = await SteeredStore.open(t)
  const { zones, told } = await openZones(t, steered.store)
  await put(steered.inner.errorRules, errors)
  const letGo = steered.hold()
  steered.tell({ kind: 'error_rule_list', account: zoneOwner, id })
  await until(() => steered.asked.includes(id))
  await zones.close()
  letGo()
  const { length } = steered.asked
  steered.tell({ kind: 'everything' })
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  assert.equal(steered.asked.length, length)
  assert.equal(told(), 0)
})
