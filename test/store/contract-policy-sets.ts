// The promises of a store about the policies of gateways.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routeOwner } from '../../src/store/records/model-route.ts'
import type { Place } from './contract.ts'
import { budgetAlertSet, gateway, hex, policySet } from './contract-specimens.ts'

export function policySetsContract(name: string, place: Place): void {
  test(`${name}: a gateway has one set of policies, which is replaced by its version`, async t => {
    const { gateways, policySets } = await (await place(t))()
    const ours = gateway()
    await gateways.insert(ours)
    const set = policySet({ account: routeOwner(ours) })
    assert.equal(await policySets.insert(set), true)
    assert.equal(await policySets.insert(policySet({ account: set.account })), false)
    const { record, version } = (await policySets.get(set.account, set.id))!
    assert.deepEqual(record, set)
    const without = { ...set, draft: null }
    assert.equal(await policySets.replace(without, version), true)
    assert.equal(await policySets.replace(set, version), false)
    assert.deepEqual((await policySets.get(set.account, set.id))?.record, without)
  })

  test(`${name}: policies and budget alerts end with their gateway, and another one of its name has none`, async t => {
    const { gateways, policySets, budgetAlertSets } = await (await place(t))()
    const ours = gateway({ id: 'a' })
    const theirs = gateway({ id: 'a-b', account: ours.account })
    for (const one of [ours, theirs]) {
      await gateways.insert(one)
      assert.equal(await policySets.insert(policySet({ account: routeOwner(one) })), true)
      assert.equal(await budgetAlertSets.insert(budgetAlertSet({ account: routeOwner(one) })), true)
    }
    const set = policySet({ account: routeOwner(ours) })
    assert.equal(await gateways.remove(ours.account, ours.id), true)
    assert.equal(await policySets.get(set.account, set.id), null)
    assert.equal((await policySets.list(set.account, { offset: 0, limit: 9 })).total, 0)
    assert.equal(await policySets.insert(set), false, 'without its gateway')
    assert.notEqual(await policySets.get(routeOwner(theirs), set.id), null)
    const alerts = budgetAlertSet({ account: set.account })
    assert.equal(await budgetAlertSets.get(set.account, alerts.id), null)
    assert.equal(await budgetAlertSets.insert(alerts), false, 'without its gateway')
    assert.notEqual(await budgetAlertSets.get(routeOwner(theirs), alerts.id), null)
    await gateways.insert(ours)
    assert.equal(await policySets.get(set.account, set.id), null)
    assert.equal(await policySets.insert(set), true)
    assert.equal(await policySets.insert(policySet({ account: `${hex(16)}/a` })), false)
  })

  test(`${name}: every change of policies is reported with their owner`, async t => {
    const open = await place(t)
    const [own, other] = await Promise.all([open(), open()])
    const ours = gateway()
    await own.gateways.insert(ours)
    const set = policySet({ account: routeOwner(ours) })
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = other.changes.follow(change => {
      if (change.kind === 'policy_set' && change.account === set.account && change.id === set.id) resolve()
    })
    await own.policySets.insert(set)
    await promise
    stop()
  })
}
