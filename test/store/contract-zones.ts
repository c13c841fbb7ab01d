// The promises of a store about what zones have: all that holds for records, however large; contract-together.ts and contract-changes.ts try them, too.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxErrorPage, maxRuleContent } from '../../src/config/model/custom-errors-config.ts'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import type { Place } from './contract.ts'
import {
  accessRuleList,
  auditEntry,
  auditQuery,
  errorPage,
  errorRuleList,
  hex,
  storedResponse,
} from './contract-specimens.ts'

const all = { offset: 0, limit: 1000 }

export function zonesContract(name: string, place: Place): void {
  test(`${name}: rules and pages of a zone are kept as they were given, each by itself`, async t => {
    const { errorRules, accessRules, errorPages } = await (await place(t))()
    const [errors, access, page] = [errorRuleList(), accessRuleList(), errorPage()]
    assert.equal(await errorRules.insert(errors), true)
    assert.equal(await accessRules.insert(access), true)
    assert.equal(await errorPages.insert(page), true)
    assert.deepEqual((await errorRules.get(zoneOwner, errors.id))?.record, errors)
    assert.deepEqual((await accessRules.get(zoneOwner, access.id))?.record, access)
    assert.deepEqual((await errorPages.get(zoneOwner, page.id))?.record, page)
    assert.equal(await errorRules.remove(zoneOwner, errors.id), true)
    assert.equal(await errorRules.get(zoneOwner, errors.id), null)
    assert.deepEqual(await accessRules.list(zoneOwner, all), { items: [access], total: 1 })
    assert.deepEqual(await errorPages.list(zoneOwner, all), { items: [page], total: 1 })
  })

  test(`${name}: a page of the largest size is kept, replaced as its version only, and removed`, async t => {
    const { errorPages } = await (await place(t))()
    const page = errorPage({ html: 'é"\n'.repeat(maxErrorPage / 4) })
    await errorPages.insert(page)
    const read = (await errorPages.get(zoneOwner, page.id))!
    assert.deepEqual(read.record, page)
    const next = { ...page, html: page.html.replace('é', 'É') }
    assert.equal(await errorPages.replace(next, read.version), true)
    assert.equal(await errorPages.replace(page, read.version), false)
    const after = (await errorPages.get(zoneOwner, page.id))!
    assert.deepEqual(after.record, next)
    assert.equal(await errorPages.remove(zoneOwner, page.id, {}, read.version), false)
    assert.equal(await errorPages.remove(zoneOwner, page.id, {}, after.version), true)
    assert.equal(await errorPages.get(zoneOwner, page.id), null)
  })

  test(`${name}: a list of a hundred error rules of the longest content is kept`, async t => {
    const { errorRules } = await (await place(t))()
    const content = 'x'.repeat(maxRuleContent)
    const [rule] = errorRuleList().rules
    const rules = Array.from({ length: 100 }, () => ({ ...rule!, id: hex(16), content }))
    const list = errorRuleList({ rules })
    await errorRules.insert(list)
    assert.deepEqual((await errorRules.get(zoneOwner, list.id))?.record, list)
  })

  test(`${name}: pages are listed by creation and then id, a few at a time`, async t => {
    const { errorPages } = await (await place(t))()
    const pages = ['b.example', 'a.example', 'c.example'].map((zone, i) =>
      errorPage({ zone, createdAt: i === 0 ? 1000 : 20_000 }),
    )
    for (const i of [2, 0, 1]) await errorPages.insert(pages[i]!)
    assert.deepEqual(await errorPages.list(zoneOwner, all), { items: pages, total: 3 })
    const middle = await errorPages.list(zoneOwner, { offset: 1, limit: 1 })
    assert.deepEqual(middle, { items: [pages[1]], total: 3 })
  })

  test(`${name}: what is written with rules of a zone belongs to the account that asked`, async t => {
    const store = await (await place(t))()
    const account = hex(16)
    const audit = auditEntry({ account, resourceKind: 'error_rules', action: 'reorder' })
    const response = storedResponse({ account })
    assert.equal(await store.errorRules.insert(errorRuleList(), { audit, response }), true)
    assert.deepEqual(await store.audit.list(account, auditQuery()), { items: [audit], total: 1 })
    assert.equal((await store.audit.list(zoneOwner, auditQuery())).total, 0)
    assert.deepEqual(await store.responses.get(account, response.key), response)
  })
}
