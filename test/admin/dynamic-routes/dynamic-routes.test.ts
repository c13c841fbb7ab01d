// Dynamic routes by the published client, over the real API and store.

import { deepEqual, equal, match, ok, partialDeepStrictEqual, rejects } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Cloudflare from 'cloudflare'
import { routeOwner } from '../../../src/store/records/model-route.ts'
import { customProvider } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'

const here = { account_id: account }
const gateway = { ...here, gateway_id: 'default' }

type Elements = Cloudflare.AIGateway.DynamicRoutingCreateParams['elements']

/** Elements that lead to one model, and from there to the end. */
function elementsTo(model: string): Elements {
  return [
    { id: 'start', type: 'start', outputs: { next: { elementId: 'model' } } },
    {
      id: 'model',
      type: 'model',
      properties: { provider: 'openai', model, timeout: 20_000, retries: 1 },
      outputs: { success: { elementId: 'end' }, fallback: { elementId: 'end' } },
    },
    { id: 'end', type: 'end', outputs: {} },
  ]
}

async function start(t: TestContext) {
  const api = await startApi(t)
  const client = new Cloudflare({
    apiToken: api.owner.value,
    baseURL: `${api.origin}/client/v4`,
    maxRetries: 0,
  })
  return { ...api, routing: client.aiGateway.dynamicRouting }
}

test('a route may name a provider that its account has added, and no other', async t => {
  const { routing, kept } = await start(t)
  const elements = elementsTo('llama')
  Object.assign(elements[1]!, {
    properties: { provider: 'custom-team', model: 'llama', timeout: 1_000, retries: 0 },
  })
  const create = () => routing.create('default', { ...here, name: 'team', elements })
  await kept.customProviders.insert(customProvider({ id: 'team' }))
  await rejects(create, /unknown provider or resource: \\?"custom-team\/llama/)
  await kept.customProviders.insert(customProvider({ account, id: 'team' }))
  const { id } = await create()
  equal((await routing.createVersion(id, { ...gateway, elements })).elements.length, 3)
})

test('the published client creates, shows, renames, lists and deletes a route', async t => {
  const { routing, clock } = await start(t)
  const created = await routing.create('default', { ...here, name: 'support', elements: elementsTo('gpt-5') })
  deepEqual([created.name, created.gateway_id], ['support', 'default'])
  deepEqual(created.elements, elementsTo('gpt-5'))
  deepEqual(JSON.parse(created.version.data), elementsTo('gpt-5'))
  deepEqual([created.version.active, created.version.is_valid], ['true', true])
  equal(created.deployment.version_id, created.version.version_id)
  deepEqual(await routing.get(created.id, gateway), created)

  clock.advance(1_000)
  const { route, success } = await routing.update(created.id, { ...gateway, name: 'Route Name' })
  deepEqual([success, route.name, route.elements.length], [true, 'Route Name', 3])
  equal(route.modified_at, '2026-01-01T00:00:01.000Z')
  clock.advance(1_000)
  await routing.create('default', { ...here, name: 'second', elements: elementsTo('gpt-5') })
  const { data } = await routing.list('default', { ...here, page: 2, per_page: 1 })
  deepEqual([data.page, data.per_page, data.routes.map(({ name }) => name)], [2, 1, ['second']])
  equal((await routing.list('default', here)).data.routes.length, 2)

  equal((await routing.delete(created.id, gateway)).name, 'Route Name')
  await rejects(routing.get(created.id, gateway), Cloudflare.NotFoundError)
  await rejects(routing.delete(created.id, gateway), Cloudflare.NotFoundError)
})

test('a version takes calls once it is deployed, and an earlier one after a roll-back', async t => {
  const { routing } = await start(t)
  const route = await routing.create('default', { ...here, name: 'support', elements: elementsTo('gpt-5') })
  const first = route.version.version_id
  const added = await routing.createVersion(route.id, { ...gateway, elements: elementsTo('gpt-6') })
  deepEqual(added.elements, elementsTo('gpt-6'))
  deepEqual((await routing.get(route.id, gateway)).elements, elementsTo('gpt-5'))
  const { data } = await routing.listVersions(route.id, gateway)
  deepEqual(
    data.versions.map(({ active }) => active),
    ['false', 'true'],
  )
  const second = data.versions[0]!.version_id
  const shown = await routing.getVersion(second, { ...gateway, id: route.id })
  deepEqual([shown.id, shown.version_id, shown.active], [route.id, second, 'false'])
  deepEqual(shown.elements, elementsTo('gpt-6'))

  const deployed = await routing.createDeployment(route.id, { ...gateway, version_id: second })
  deepEqual(deployed.elements, elementsTo('gpt-6'))
  equal((await routing.get(route.id, gateway)).version.version_id, second)
  await routing.createDeployment(route.id, { ...gateway, version_id: first })
  equal((await routing.get(route.id, gateway)).version.version_id, first)
  const { data: history } = await routing.listDeployments(route.id, gateway)
  deepEqual(
    history.deployments.map(({ version_id }) => version_id),
    [first, second, first],
  )
  const nowhere = routing.createDeployment(route.id, { ...gateway, version_id: route.id })
  await rejects(nowhere, Cloudflare.NotFoundError)
})

test('elements are refused by name and rule, and nothing is stored', async t => {
  const { routing, kept } = await start(t)
  const elements = elementsTo('gpt-5').slice(0, 2)
  await rejects(routing.create('default', { ...here, name: 'support', elements }), error => {
    ok(error instanceof Cloudflare.BadRequestError)
    deepEqual(
      (error.errors as { message: string; source?: { pointer: string } }[]).map(({ message, source }) => [
        source?.pointer,
        message,
      ]),
      [
        [
          '/elements/1/outputs/success',
          'outputs.success of element "model" leads to an unknown element, "end"',
        ],
        [
          '/elements/1/outputs/fallback',
          'outputs.fallback of element "model" leads to an unknown element, "end"',
        ],
      ],
    )
    return true
  })
  const unknown = elementsTo('gpt-5')
  Object.assign(unknown[1]!, {
    properties: { provider: 'nobody', model: 'gpt-5', timeout: 1000, retries: 0 },
  })
  await rejects(
    routing.create('default', { ...here, name: 'support', elements: unknown }),
    /unknown provider or resource: \\?"nobody\/gpt-5/,
  )
  await rejects(
    routing.create('default', { ...here, name: ' support', elements: elementsTo('gpt-5') }),
    /name must be 1 to 64 letters/,
  )
  equal((await kept.modelRoutes.list(`${account}/default`, { offset: 0, limit: 9 })).total, 0)
})

test('a name is unique in its gateway, and a gateway has at most 100 routes', async t => {
  const { routing, ask, kept } = await start(t)
  const create = (name: string) => routing.create('default', { ...here, name, elements: elementsTo('gpt-5') })
  const first = await create('first')
  await create('second')
  await rejects(create('second'), Cloudflare.ConflictError)
  await rejects(routing.update(first.id, { ...gateway, name: 'second' }), Cloudflare.ConflictError)
  await routing.update(first.id, { ...gateway, name: 'first' })
  await ask('POST', '/ai-gateway/gateways', { body: { id: 'other' } })
  await routing.create('other', { ...here, name: 'second', elements: elementsTo('gpt-5') })
  await rejects(
    routing.create('nowhere', { ...here, name: 'x', elements: elementsTo('gpt-5') }),
    Cloudflare.NotFoundError,
  )
  const owner = routeOwner({ account, id: 'default' })
  const [route] = (await kept.modelRoutes.list(owner, { offset: 0, limit: 1 })).items
  for (let i = 2; i < 100; i++)
    await kept.modelRoutes.insert({ ...route!, id: i.toString(16).padStart(32, '0'), name: `route ${i}` })
  await rejects(create('one too many'), /already has 100 dynamic routes/)
})

test('the oldest version that is not in effect goes when there are too many', async t => {
  const { routing, kept } = await start(t)
  const { id, version } = await routing.create('default', {
    ...here,
    name: 'support',
    elements: elementsTo('gpt-5'),
  })
  const owner = routeOwner({ account, id: 'default' })
  const current = (await kept.modelRoutes.get(owner, id))!
  const [first] = current.record.versions
  const others = Array.from({ length: 99 }, (_, i) => ({ ...first!, id: i.toString(16).padStart(32, '0') }))
  await kept.modelRoutes.replace({ ...current.record, versions: [first!, ...others] }, current.version)
  await routing.createVersion(id, { ...gateway, elements: elementsTo('gpt-6') })
  const { data } = await routing.listVersions(id, gateway)
  const ids = data.versions.map(({ version_id }) => version_id)
  deepEqual([ids.length, ids.at(-1), ids.includes(others[0]!.id)], [100, version.version_id, false])
})

test('every change is in the audit log', async t => {
  const { routing, ask } = await start(t)
  const route = await routing.create('default', { ...here, name: 'support', elements: elementsTo('gpt-5') })
  const added = await routing.createVersion(route.id, { ...gateway, elements: elementsTo('gpt-6') })
  const { version_id } = (added as unknown as typeof route).version
  await routing.createDeployment(route.id, { ...gateway, version_id })
  await routing.update(route.id, { ...gateway, name: 'renamed' })
  await routing.delete(route.id, gateway)
  const { json } = await ask('GET', '/audit_logs?direction=asc')
  const entries = json.result.filter(
    ({ resource }: { resource: { type: string } }) => resource.type === 'dynamic_route',
  )
  partialDeepStrictEqual(entries, [
    { action: { type: 'create' }, metadata: { changed: ['name', 'elements'] } },
    { action: { type: 'update' }, metadata: { changed: ['elements'] } },
    { action: { type: 'deploy' }, metadata: { changed: ['version_id'] } },
    { action: { type: 'update' }, metadata: { changed: ['name'] } },
    { action: { type: 'delete' }, resource: { id: route.id } },
  ])
  match(JSON.stringify(entries[2]), new RegExp(`${route.version.version_id}.*${version_id}`))
})

test('reading needs AI Gateway Read, and all else AI Gateway Edit', async t => {
  const { ask, routing, keepToken } = await start(t)
  const path = '/ai-gateway/gateways/default/routes'
  const { id } = await routing.create('default', { ...here, name: 'support', elements: elementsTo('gpt-5') })
  const { value: token } = await keepToken(['AI Gateway Read'])
  equal((await ask('GET', path, { token })).status, 200)
  equal((await ask('GET', `${path}/${id}/versions`, { token })).status, 200)
  for (const [method, rest, body] of [
    ['POST', '', { name: 'x', elements: elementsTo('gpt-5') }],
    ['PATCH', `/${id}`, { name: 'x' }],
    ['POST', `/${id}/versions`, { elements: elementsTo('gpt-5') }],
    ['POST', `/${id}/deployments`, { version_id: id }],
    ['DELETE', `/${id}`, undefined],
  ] as const)
    equal((await ask(method, path + rest, { token, body })).status, 403, `${method} ${rest}`)
})
