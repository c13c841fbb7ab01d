// The promises of a store about model routes, besides those about all records.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routeOwner } from '../../src/store/records/model-route.ts'
import type { Place } from './contract.ts'
import { gateway, hex, modelRoute } from './contract-specimens.ts'

const all = { offset: 0, limit: 1000 }

export function modelRoutesContract(name: string, place: Place): void {
  test(`${name}: a route is found by its name in its gateway, and its name is unique there`, async t => {
    const { gateways, modelRoutes } = await (await place(t))()
    const [ours, other] = [gateway(), gateway()]
    const owner = routeOwner(ours)
    await gateways.insert(ours)
    await gateways.insert(other)
    const route = modelRoute({ account: owner, name: 'Support % 1' })
    assert.equal(await modelRoutes.insert(route), true)
    assert.deepEqual((await modelRoutes.find(owner, route.name))?.record, route)
    assert.equal(await modelRoutes.find(owner, 'support % 1'), null)
    assert.equal(await modelRoutes.find(routeOwner(other), route.name), null)
    const second = modelRoute({ account: owner, name: 'second' })
    assert.equal(await modelRoutes.insert({ ...second, name: route.name }), false)
    assert.equal(await modelRoutes.insert({ ...second, account: routeOwner(other), name: route.name }), true)
    assert.equal(await modelRoutes.insert(second), true)
    const { version } = (await modelRoutes.get(owner, second.id))!
    assert.equal(await modelRoutes.replace({ ...second, name: route.name }, version), false)
    assert.equal(await modelRoutes.replace({ ...second, name: 'renamed' }, version), true)
    assert.equal(await modelRoutes.find(owner, 'second'), null)
    assert.deepEqual((await modelRoutes.find(owner, 'renamed'))?.record.id, second.id)
    assert.equal(await modelRoutes.remove(owner, route.id), true)
    assert.equal(await modelRoutes.find(owner, route.name), null)
    assert.equal((await modelRoutes.list(owner, all)).total, 1)
  })

  test(`${name}: routes end with their gateway, and another one of its name has none`, async t => {
    const { gateways, modelRoutes } = await (await place(t))()
    const [ours, longer] = [gateway({ id: 'a' }), gateway({ id: 'a-b' })]
    const theirs = { ...longer, account: ours.account }
    await gateways.insert(ours)
    await gateways.insert(theirs)
    const routes = Array.from({ length: 3 }, () => modelRoute({ account: routeOwner(ours) }))
    for (const route of routes) assert.equal(await modelRoutes.insert(route), true)
    assert.equal(await modelRoutes.insert(modelRoute({ account: routeOwner(theirs) })), true)
    assert.equal(await gateways.remove(ours.account, ours.id), true)
    assert.deepEqual(await modelRoutes.list(routeOwner(ours), all), { items: [], total: 0 })
    assert.equal(await modelRoutes.get(routeOwner(ours), routes[0]!.id), null)
    assert.equal(await modelRoutes.find(routeOwner(ours), routes[0]!.name), null)
    assert.equal(await modelRoutes.insert(routes[0]!), false, 'without its gateway')
    assert.equal((await modelRoutes.list(routeOwner(theirs), all)).total, 1)
    await gateways.insert(ours)
    assert.deepEqual(await modelRoutes.list(routeOwner(ours), all), { items: [], total: 0 })
    assert.equal(await modelRoutes.insert(routes[0]!), true)
    assert.equal(await modelRoutes.insert(modelRoute({ account: `${hex(16)}/a` })), false)
  })

  test(`${name}: every change of a route is reported with its owner`, async t => {
    const { gateways, modelRoutes, changes } = await (await place(t))()
    const ours = gateway()
    await gateways.insert(ours)
    const route = modelRoute({ account: routeOwner(ours) })
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = changes.follow(change => {
      if (change.kind === 'model_route' && change.account === route.account && change.id === route.id)
        resolve()
    })
    await modelRoutes.insert(route)
    await promise
    stop()
  })
}
