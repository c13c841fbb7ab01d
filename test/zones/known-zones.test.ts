import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorPageTypes } from '../../src/config/model/custom-errors-config.ts'
import { KnownZones, type ZoneRecordLists } from '../../src/zones/known-zones.ts'
import { accessRuleList, errorPage, errorRuleList } from '../store/contract-specimens.ts'

const none: ZoneRecordLists = { error_rule_list: [], access_rule_list: [], error_page: [] }
const [errors, access] = [errorRuleList({ id: 'a' }), accessRuleList({ id: 'a' })]

test('a zone has the rules of its name and its pages of every type, and none of another zone', () => {
  const known = new KnownZones()
  const pages = errorPageTypes.map(type => errorPage({ zone: 'a', type, html: type }))
  const other = errorPage({ zone: 'b', type: '1000_errors' })
  known.putAll({ error_rule_list: [errors], access_rule_list: [access], error_page: [...pages, other] })
  assert.deepEqual(known.of('a'), {
    errorRules: errors.rules,
    accessRules: access.rules,
    errorPages: Object.fromEntries(errorPageTypes.map(type => [type, type])),
  })
  assert.deepEqual(known.of('b'), {
    errorRules: [],
    accessRules: [],
    errorPages: { '1000_errors': other.html },
  })
  assert.deepEqual(known.of('constructor'), { errorRules: [], accessRules: [], errorPages: {} })
})

test('a zone is the same object until a record of its own is another one', () => {
  const known = new KnownZones()
  known.putAll({ ...none, error_rule_list: [errors] })
  const before = known.of('a')
  assert.equal(known.put('error_rule_list', 'a', structuredClone(errors)), false)
  assert.equal(known.put('error_page', 'a/500_errors', null), false)
  assert.equal(known.put('error_page', 'b/500_errors', errorPage({ zone: 'b' })), true)
  assert.equal(known.putAll({ ...none, error_rule_list: [structuredClone(errors)] }), true)
  assert.equal(known.of('a'), before)
  assert.equal(known.put('access_rule_list', 'a', access), true)
  assert.notEqual(known.of('a'), before)
  assert.deepEqual(known.of('a').accessRules, access.rules)
})

test('a record that is gone is gone, alone or with all that were not there any more', () => {
  const known = new KnownZones()
  const page = errorPage({ zone: 'a' })
  const all = { error_rule_list: [errors], access_rule_list: [access], error_page: [page] }
  assert.equal(known.putAll(all), true)
  assert.equal(known.putAll(all), false)
  assert.equal(known.put('error_page', page.id, null), true)
  assert.deepEqual(known.of('a').errorPages, {})
  assert.equal(known.putAll({ ...none, access_rule_list: [access] }), true)
  assert.deepEqual(known.of('a'), { errorRules: [], accessRules: access.rules, errorPages: {} })
  assert.deepEqual(known.lists(), { ...none, access_rule_list: [access] })
})
