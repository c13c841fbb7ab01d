// Calls along dynamic routes: by name, by conditions, within rates, and by what is deployed at the moment.

import { deepEqual, equal, match } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import type { AiConfig } from '../../src/config/model/config.ts'
import { type ModelRoute, type RouteElement, routeOwner } from '../../src/store/records/model-route.ts'
import { call, completion, json, startAi, type AiSettings } from '../help/ai.ts'
import { startOrigin } from '../help/origin.ts'
import { until } from '../help/until.ts'

const failover: AiConfig['failover'] = {
  statuses: [503],
  maxAttempts: 3,
  deadline: 0,
  retryWithin: 0,
}

const to = (elementId: string) => ({ elementId })
const from = (id: string): RouteElement => ({ id: 'start', type: 'start', outputs: { next: to(id) } })
const end: RouteElement = { id: 'end', type: 'end', outputs: {} }
const model = (id: string, fallback = 'end', provider = 'openai'): RouteElement => ({
  id,
  type: 'model',
  properties: { provider, model: id, timeout: 20_000, retries: 0 },
  outputs: { success: to('end'), fallback: to(fallback) },
})
const rate = (key: string, limit: number, beyond: string): RouteElement => ({
  id: 'rate',
  type: 'rate',
  properties: { key, limit, limitType: 'count', window: 3_600 },
  outputs: { success: to('big'), fallback: to(beyond) },
})
const both = [model('big', 'small'), model('small', 'end', 'groq'), end]
const paid: RouteElement = {
  id: 'paid',
  type: 'conditional',
  properties: { conditions: { 'metadata.plan': { $in: ['pro', 'team'] } } },
  outputs: { true: to('big'), false: to('small') },
}

/** Starts an edge with the route `support` of a gateway; a model is named after its element. */
async function start(t: TestContext, elements: readonly RouteElement[], settings: AiSettings = {}) {
  const serve = (status: string) =>
    startOrigin(t, async wire => {
      for (;;) {
        await wire.request()
        await wire.send(
          status === '200 OK' ? json(completion) : `HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`,
        )
      }
    })
  const [good, bad] = [await serve('200 OK'), await serve('503 Service Unavailable')]
  const providers = {
    openai: { url: good.url, keys: ['sk-1'] },
    groq: { url: good.url, keys: ['sk-2'] },
    mistral: { url: bad.url, keys: ['sk-3'] },
  }
  const ai = await startAi(t, providers, { ...settings, ai: { failover, ...settings.ai } })
  const owner = routeOwner({ account: ai.account, id: 'default' })
  const version = { id: randomUUID(), elements, createdAt: 0 }
  const route: ModelRoute = {
    ...{ account: owner, id: 'a'.repeat(32), name: 'support', createdAt: 0, modifiedAt: 0 },
    versions: [version],
    deployments: [{ id: randomUUID(), version: version.id, createdAt: 0 }],
  }
  await ai.store.modelRoutes.insert(route)
  const ask = async (name: string, ...fields: string[]) => {
    const request = JSON.stringify({ model: name, messages: [] })
    const authorization = `Authorization: Bearer ${ai.token}`
    return ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, request, authorization, ...fields))
  }
  /** Returns the model that responds, or the status of a refusal. */
  const modelOf = async (...args: Parameters<typeof ask>) => {
    const response = await ask(...args)
    return response.status === 200 ? response.field('svc-aig-model') : response.status
  }
  const deploy = async (next: readonly RouteElement[]) => {
    const { record, version } = (await ai.store.modelRoutes.get(owner, route.id))!
    const id = randomUUID()
    const versions = [...record.versions, { id, elements: next, createdAt: 1 }]
    const deployments = [...record.deployments, { id: randomUUID(), version: id, createdAt: 1 }]
    await ai.store.modelRoutes.replace({ ...record, versions, deployments }, version)
  }
  return { ai, owner, route, ask, modelOf, deploy }
}

describe('a dynamic route', () => {
  test('leads calls by their metadata, logged or not', async t => {
    const { modelOf } = await start(t, [from('paid'), paid, ...both])
    equal(await modelOf('dynamic/support', 'svc-aig-metadata: {"plan":"pro"}'), 'big')
    equal(await modelOf('dynamic/support', 'svc-aig-metadata: {"plan":"free"}'), 'small')
    equal(await modelOf('dynamic/support'), 'small')
    const unlogged = ['svc-aig-metadata: {"plan":"team"}', 'svc-aig-collect-log: false']
    equal(await modelOf('dynamic/support', ...unlogged), 'big')
  })

  test('leads a call from a failed model to the next one', async t => {
    const failing = model('down', 'small', 'mistral')
    const { ask } = await start(t, [from('down'), failing, model('small', 'end', 'groq'), end])
    const response = await ask('dynamic/support')
    deepEqual([response.status, response.field('svc-aig-step')], [200, '1'])
    match(
      response.field('svc-aig-attempts')!,
      /^mistral;model="down";outcome=http_503;ms=\d+, groq;model="small"/,
    )
  })

  test('counts calls, and leads those beyond a rate elsewhere', async t => {
    const { modelOf } = await start(t, [from('rate'), rate('metadata.user', 2, 'small'), ...both])
    const ada = () => modelOf('dynamic/support', 'svc-aig-metadata: {"user":"ada"}')
    deepEqual([await ada(), await ada(), await ada()], ['big', 'big', 'small'])
    equal(await modelOf('dynamic/support', 'svc-aig-metadata: {"user":"bob"}'), 'big')
  })

  test('counts in the store, which calls wait for at once', async t => {
    const elements = [from('rate'), rate('gateway', 3, 'small'), ...both]
    const { modelOf } = await start(t, elements, { countsInStore: true })
    const models = await Promise.all(Array.from({ length: 6 }, () => modelOf('dynamic/support')))
    deepEqual(models.toSorted(), ['big', 'big', 'big', 'small', 'small', 'small'])
  })

  test('refuses calls beyond a rate that leads to an end', async t => {
    const { ask, modelOf } = await start(t, [from('rate'), rate('token', 1, 'end'), model('big'), end])
    equal(await modelOf('dynamic/support'), 'big')
    const response = await ask('dynamic/support')
    equal(response.status, 429)
    match(response.field('retry-after')!, /^\d+$/)
  })

  test('is unknown by another name, in another gateway and by its bare name', async t => {
    const { ai, ask, modelOf } = await start(t, [from('big'), model('big'), end])
    equal(await modelOf('dynamic/other'), 404)
    equal(await modelOf('support'), 404)
    const { record } = (await ai.store.gateways.get(ai.account, 'default'))!
    await ai.store.gateways.insert({ ...record, id: 'second' })
    equal((await ask('dynamic/support', 'svc-aig-gateway-id: second')).status, 404)
    equal(await modelOf('dynamic/support'), 'big')
  })

  test('comes before an alias as dynamic/NAME, which keeps its bare name', async t => {
    const models = [
      { name: 'support', steps: [{ model: 'groq/alias', timeout: null, retries: 0, weight: null }] },
    ]
    const { ai, owner, route, modelOf } = await start(t, [from('big'), model('big'), end], { ai: { models } })
    equal(await modelOf('dynamic/support'), 'big')
    equal(await modelOf('support'), 'alias')
    await ai.store.modelRoutes.remove(owner, route.id)
    await until(async () => (await modelOf('dynamic/support')) === 'alias')
  })

  test('changes with a deployment, a new name and its gateway, within a second', async t => {
    const { ai, owner, route, modelOf, deploy } = await start(t, [from('big'), model('big'), end])
    equal(await modelOf('dynamic/support'), 'big')
    equal(await modelOf('dynamic/renamed'), 404)
    await deploy([from('small'), model('small'), end])
    await until(async () => (await modelOf('dynamic/support')) === 'small')
    const { record, version } = (await ai.store.modelRoutes.get(owner, route.id))!
    await ai.store.modelRoutes.replace({ ...record, name: 'renamed' }, version)
    await until(async () => (await modelOf('dynamic/renamed')) === 'small')
    equal(await modelOf('dynamic/support'), 404)
  })
})
