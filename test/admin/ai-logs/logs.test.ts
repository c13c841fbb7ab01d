import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { logCursorOf } from '../../../src/ai-logs/query.ts'
import type { LogEntry } from '../../../src/store/records/records.ts'
import { type Store, StoreUnreachable, StoreUntouched } from '../../../src/store/contract/store.ts'
import { thorough } from '../../help/thorough.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { entryWith, keepEntries } from './log-entries.ts'

const path = '/ai-gateway/gateways/default/logs'
const idsOf = (result: readonly { id: string }[]) => result.map(({ id }) => id.slice(-1))

test('entries are listed, newest first, without their bodies', async t => {
  const { ask, kept } = await startApi(t)
  await keepEntries(kept, [entryWith(1), entryWith(2, { metadata: { team: 'blue', tries: 2 }, cost: 0.5 })])
  const { status, json } = await ask('GET', path)
  assert.equal(status, 200)
  assert.deepEqual(json.result_info, { page: 1, per_page: 20, count: 2, total_count: 2 })
  assert.deepEqual(json.result[0], {
    id: '0000000000000002',
    created_at: '2026-01-01T00:00:02.000Z',
    provider: 'openai',
    model: 'gpt-5',
    path: '/v1/chat/completions',
    status_code: 200,
    success: true,
    error: null,
    duration: 12,
    time_to_first_byte: 3,
    tokens_in: 10,
    tokens_out: 20,
    cost: 0.5,
    cached: false,
    authentication: true,
    token_id: null,
    token_name: null,
    streamed: false,
    metadata: '{"team":"blue","tries":2}',
    request_content_type: 'application/json',
    response_content_type: 'application/json',
  })
})

test('an entry says what the provider did not get', async t => {
  const { ask, kept } = await startApi(t)
  const dropped = ['thinking', 'messages[].content[].cache_control']
  await keepEntries(kept, [entryWith(1, { dropped })])
  const { json } = await ask('GET', path)
  assert.deepEqual(json.result[0].dropped, dropped)
})

test('feedback, score and metadata of an entry are set, changed and removed', async t => {
  const { ask, kept, keepToken } = await startApi(t)
  await keepEntries(kept, [entryWith(1, { metadata: { team: 'blue' } })])
  const entry = `${path}/0000000000000001`
  const edit = async (body: object) => {
    const { status, json } = await ask('PATCH', entry, { body })
    assert.equal(status, 200)
    assert.deepEqual((await ask('GET', path)).json.result, [json.result])
    return [json.result.feedback, json.result.score, json.result.metadata]
  }
  assert.deepEqual(await edit({ feedback: -1 }), [-1, undefined, '{"team":"blue"}'])
  assert.deepEqual(await edit({ feedback: 0, score: 99.5 }), [0, 99.5, '{"team":"blue"}'])
  assert.deepEqual(await edit({ metadata: { suite: 1 } }), [0, 99.5, '{"suite":1}'])
  assert.deepEqual(await edit({ feedback: null, score: null, metadata: null }), [undefined, undefined, null])
  assert.deepEqual(await edit({}), [undefined, undefined, null])
  for (const body of [
    ...[{ feedback: 2 }, { feedback: 0.5 }, { score: -1 }, { score: 100.5 }, { score: '5' }],
    ...[{ metadata: [] }, { metadata: { a: {} } }, { metadata: { a: 'x'.repeat(5_000) } }, { cost: 1 }],
  ]) {
    const { status, json } = await ask('PATCH', entry, { body })
    assert.deepEqual([status, json.errors[0].source.pointer], [400, `/${Object.keys(body)[0]}`])
  }
  for (const id of ['00000000000000ff', 'x'])
    assert.equal((await ask('PATCH', `${path}/${id}`, { body: { feedback: 1 } })).status, 404)
  const { value: token } = await keepToken(['AI Gateway Read'])
  assert.equal((await ask('PATCH', entry, { body: { feedback: 1 }, token })).status, 403)
})

test('an entry has the attempts at its call, and is found by its event', async t => {
  const { ask, kept } = await startApi(t)
  const attempts = [
    { provider: 'openai', model: 'gpt-5', outcome: 'http_503', duration: 12 },
    { provider: 'groq', model: 'llama', outcome: 'ok', duration: 340 },
  ]
  const entry = entryWith(1, { attempts, step: 1, eventId: 'order-1', hasCustomCost: true })
  await keepEntries(kept, [entry, entryWith(2)])
  const { result } = (await ask('GET', `${path}?event_id=order-1`)).json
  assert.equal(result.length, 1)
  const [{ attempts: shown, step, event_id, custom_cost }] = result
  assert.deepEqual([shown, step, event_id, custom_cost], [attempts, 1, 'order-1', true])
  const key = 'filters.key=event_id&filters.operator=neq&filters.value=order-1'
  const others = (await ask('GET', `${path}?${key}`)).json.result
  assert.deepEqual([others.length, 'attempts' in others[0], 'step' in others[0]], [1, false, false])
})

test('entries are filtered, ordered and cut into pages', async t => {
  const { ask, kept } = await startApi(t)
  const providers = ['openai', 'anthropic', 'openai', 'mistral']
  await keepEntries(
    kept,
    providers.map((provider, i) => entryWith(i + 1, { provider, duration: 10 * (4 - i) })),
  )
  const list = async (query: string) => {
    const { json } = await ask('GET', `${path}?${query}`)
    return [idsOf(json.result).join(''), json.result_info.total_count]
  }
  assert.deepEqual(await list('provider=openai'), ['31', 2])
  assert.deepEqual(await list('order_by=duration&order_by_direction=asc&per_page=3&page=2'), ['1', 4])
  assert.deepEqual(await list('filters.key=provider&filters.operator=neq&filters.value=openai'), ['42', 2])
})

test('an entry is shown with what was kept of its bodies, and whether that is all', async t => {
  const { ask, kept } = await startApi(t)
  const request = { text: '{"model":"gpt-5"}', isCut: false }
  await keepEntries(kept, [
    entryWith(1, { request, response: { text: 'data: {"a', isCut: true } }),
    entryWith(2),
  ])
  const { result } = (await ask('GET', `${path}/0000000000000001`)).json
  assert.deepEqual(
    [result.request_head, result.request_head_complete, result.response_head, result.response_head_complete],
    [request.text, true, 'data: {"a', false],
  )
  assert.ok(!('request_head' in (await ask('GET', `${path}/0000000000000002`)).json.result))
})

test('a body is given as it was kept: as JSON where it is JSON and whole, else as text that no browser runs', async t => {
  const { kept, origin, owner } = await startApi(t)
  const payloads: readonly [LogEntry['request'], string][] = [
    [{ text: '{"a":1}', isCut: false }, 'application/json'],
    [{ text: '{"a":1', isCut: true }, 'text/plain; charset=utf-8'],
    [{ text: '12', isCut: true }, 'text/plain; charset=utf-8'],
    [{ text: '<script>alert(1)</script>', isCut: false }, 'text/plain; charset=utf-8'],
    [{ text: 'data: {"é":1}\n\n', isCut: false }, 'text/plain; charset=utf-8'],
  ]
  await keepEntries(
    kept,
    payloads.map(([request], i) => entryWith(i + 1, { request, response: request })),
  )
  for (const [i, [payload, type]] of payloads.entries())
    for (const side of ['request', 'response']) {
      const url = `${origin}/client/v4/accounts/${account}${path}/000000000000000${i + 1}/${side}`
      const response = await fetch(url, { headers: { authorization: `Bearer ${owner.value}` } })
      assert.equal(response.headers.get('content-type'), type)
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(await response.text(), payload!.text)
    }
})

test('a body that is no text is base64 and says so, and what the provider sent stands beside it', async t => {
  const { ask, kept, origin, owner } = await startApi(t)
  const response = { text: 'AP8=', isCut: false, isBase64: true as const }
  await keepEntries(kept, [entryWith(1, { response, providerResponse: { text: '{"b":1}', isCut: true } })])
  const entry = `${path}/0000000000000001`
  const { result } = (await ask('GET', entry)).json
  assert.deepEqual([result.response_head, result.response_head_encoding], ['AP8=', 'base64'])
  assert.deepEqual(
    [result.provider_response_head, result.provider_response_head_complete],
    ['{"b":1}', false],
  )
  assert.ok(!('provider_response_head_encoding' in result))
  const get = (name: string) =>
    fetch(`${origin}/client/v4/accounts/${account}${entry}/${name}`, {
      headers: { authorization: `Bearer ${owner.value}` },
    })
  const body = await get('response')
  assert.deepEqual([body.headers.get('svc-body-encoding'), await body.text()], ['base64', 'AP8='])
  const provided = await get('provider_response')
  assert.deepEqual([provided.headers.get('svc-body-encoding'), await provided.text()], [null, '{"b":1}'])
  assert.equal((await get('request')).status, 404)
})

test('missing entries, bodies that were not stored and missing gateways are 404', async t => {
  const { ask, kept } = await startApi(t)
  await keepEntries(kept, [entryWith(1)])
  for (const wrong of [
    `${path}/0000000000000009`,
    `${path}/x`,
    `${path}/%00`,
    `${path}/0000000000000001/request`,
    `${path}/0000000000000001/response`,
    `${path}/0000000000000009/request`,
    '/ai-gateway/gateways/none/logs',
    '/ai-gateway/gateways/A%2F/logs',
    '/ai-gateway/gateways/none/logs/0000000000000001',
  ]) {
    const { status, json } = await ask('GET', wrong)
    assert.deepEqual([status, json.errors[0].code], [404, 7003], wrong)
  }
})

test('entries are deleted as filters and limit say, and all of them go with their gateway', async t => {
  const { ask, kept } = await startApi(t)
  await keepEntries(
    kept,
    [1, 2, 3, 4].map(n => entryWith(n, { status: n === 3 ? 500 : 200, success: n !== 3 })),
  )
  const left = async () => idsOf((await ask('GET', path)).json.result).join('')
  const removed = await ask('DELETE', `${path}?filters.key=status&filters.operator=eq&filters.value=500`)
  assert.deepEqual([removed.status, removed.json.result, await left()], [200, { deleted: 1 }, '421'])
  await ask('DELETE', `${path}?limit=1&order_by=created_at&order_by_direction=asc`)
  assert.equal(await left(), '42')
  await ask('DELETE', '/ai-gateway/gateways/default')
  await ask('POST', '/ai-gateway/gateways', { body: { id: 'default' } })
  assert.equal(await left(), '')
})

test('entries are called deleted once that is confirmed', async t => {
  const proof = { isHad: false }
  const { ask, kept } = await startApi(t, store => {
    const confirm = async () => {
      if (!proof.isHad) throw new StoreUnreachable()
    }
    return new Proxy(store, {
      get: (target, name) => (name === 'confirm' ? confirm : target[name as keyof Store]),
    })
  })
  await keepEntries(kept, [entryWith(1)])
  assert.equal((await ask('DELETE', path)).status, 503)
  assert.equal(await kept.logs.count(account, 'default'), 0)
  assert.equal((await ask('DELETE', path)).status, 503)
  proof.isHad = true
  assert.equal((await ask('DELETE', path)).status, 200)
})

test('a deletion whose audit entry a full disk refuses does nothing, and is in no log', async t => {
  const { ask, kept, lines } = await startApi(t)
  await keepEntries(kept, [entryWith(1)])
  const messages = () => lines.map(({ msg }) => msg)
  const append = t.mock.method(kept.audit, 'append', () =>
    Promise.reject(new StoreUntouched({ code: 'SQLITE_FULL' })),
  )
  assert.equal((await ask('DELETE', path)).status, 503)
  assert.equal(await kept.logs.count(account, 'default'), 1)
  assert.deepEqual(messages(), [])
  append.mock.restore()
  // The entry is there then, whatever became of the rest.
  const remove = t.mock.method(kept.logs, 'remove', () => Promise.reject(new StoreUntouched()))
  assert.equal((await ask('DELETE', path)).status, 503)
  assert.deepEqual(messages(), ['audit: write not confirmed'])
  remove.mock.restore()
  assert.equal((await ask('DELETE', path)).status, 200)
  assert.deepEqual(messages(), ['audit: write not confirmed', 'audit'])
})

test('a read-only token deletes nothing, a run-only token reads nothing', async t => {
  const { ask, keepToken } = await startApi(t)
  const reader = await keepToken(['AI Gateway Read'])
  const runner = await keepToken(['AI Gateway Run'])
  assert.equal((await ask('GET', path, { token: reader.value })).status, 200)
  assert.equal((await ask('DELETE', path, { token: reader.value })).status, 403)
  assert.equal((await ask('GET', path, { token: runner.value })).status, 403)
})

test('any query gets a list or an explained refusal', async t => {
  const { ask, bugs } = await startApi(t)
  const names = [
    'page',
    'per_page',
    'order_by',
    'status',
    'search',
    'filters.key',
    'filters.operator',
    'filters.value',
    'x',
  ]
  const values = fc.oneof(
    fc.constantFrom('1', 'created_at', 'status', 'eq', 'contains', '', 'true'),
    fc.string(),
  )
  const query = fc.array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(query, async pairs => {
      const { status, json } = await ask('GET', `${path}?${new URLSearchParams(pairs)}`)
      assert.ok(status === 200 || (status === 400 && json.errors.length > 0), String(status))
    }),
    { numRuns: thorough(300, 60) },
  )
  assert.deepEqual(bugs, [])
})

for (const order of [
  '',
  '&direction=asc',
  '&order_by=status',
  '&order_by=model&order_by_direction=asc',
  '&status=200',
])
  test(`a cursor leads on to what is left, whatever goes before it:${order || ' newest first'}`, async t => {
    const { ask, kept } = await startApi(t)
    const entries = Array.from({ length: 30 }, (_, i) =>
      entryWith(i, { status: i % 3 === 0 ? 500 : 200, model: i % 4 === 0 ? null : `m${i % 5}` }),
    )
    await keepEntries(kept, entries)
    const seen: string[] = []
    let cursor: string | undefined = ''
    while (cursor !== undefined) {
      const { json } = await ask('GET', `${path}?per_page=4${order}${cursor && `&cursor=${cursor}`}`)
      const ids = json.result.map(({ id }: { id: string }) => id)
      seen.push(...ids)
      for (const id of ids)
        await kept.logs.remove(account, 'default', {
          filters: [{ field: 'id', operator: 'eq', values: [id] }],
          orderBy: 'created_at',
          descending: false,
          offset: 0,
          limit: 1,
        })
      cursor = json.result_info.cursor
    }
    const expected = entries.filter(({ status }) => !order.includes('status=200') || status === 200)
    assert.deepEqual(seen.toSorted(), expected.map(({ id }) => id).toSorted())
  })

test('a cursor that no list gave is refused, and one beside a page', async t => {
  const { ask } = await startApi(t)
  const messages = async (query: string) => {
    const { status, json } = await ask('GET', `${path}?${query}`)
    return [status, json.errors.map(({ message }: { message: string }) => message)]
  }
  for (const text of [
    'x',
    '',
    btoa('[1]'),
    btoa('[{},1,"0123456789abcdef"]'),
    btoa('[1,"1","0123456789abcdef"]'),
  ])
    assert.deepEqual(
      await messages(`cursor=${text}`),
      [400, ['cursor must be a cursor from an earlier page of this list']],
      text,
    )
  const cursor = logCursorOf({ value: null, createdAt: 1, id: '0123456789abcdef' })
  assert.deepEqual(await messages(`cursor=${cursor}&page=1`), [400, ['cursor cannot be combined with page']])
})

const saved = { tokensIn: 30, tokensOut: null, cost: 0.1 }
const savings = { count_cached: 1, saved_tokens_in: 30, saved_tokens_out: 0, saved_cost: 0.1 }
const noSavings = { count_cached: 0, saved_tokens_in: 0, saved_tokens_out: 0, saved_cost: 0 }

test('entries are summed in all, and by what is asked for', async t => {
  const { ask, kept } = await startApi(t)
  const mine = { tokenId: 'a'.repeat(32), tokenName: 'mine' }
  const day = 86_400_000
  await keepEntries(kept, [
    entryWith(1, { ...mine, cost: 0.1 }),
    entryWith(2, { ...mine, tokenName: 'mine, renamed', cost: 0.2, model: 'gpt-5-mini' }),
    entryWith(3, { cost: 0.5, tokensIn: null, createdAt: Date.UTC(2026, 0, 1) + day, cached: true, saved }),
    entryWith(4, { ...mine, tokenName: 'mine, renamed', provider: 'anthropic', model: null, status: 500 }),
  ])
  const sum = async (query: string) => (await ask('GET', `${path}/summary?${query}`)).json.result
  const all = { count: 4, tokens_in: 30, tokens_out: 80, cost: 0.8, count_without_cost: 1, ...savings }
  assert.deepEqual(await sum(''), { ...all, groups: [] })
  assert.deepEqual(await sum('group_by=token'), {
    ...all,
    groups: [
      {
        token_id: null,
        token_name: null,
        count: 1,
        tokens_in: 0,
        tokens_out: 20,
        cost: 0.5,
        count_without_cost: 0,
        ...savings,
      },
      {
        token_id: 'a'.repeat(32),
        token_name: 'mine, renamed',
        count: 3,
        tokens_in: 30,
        tokens_out: 60,
        cost: 0.3,
        count_without_cost: 1,
        ...noSavings,
      },
    ],
  })
  const { groups } = await sum(`token_id=${'a'.repeat(32)}&group_by=day,provider,model`)
  assert.deepEqual(
    groups.map(({ model, provider, day, cost }: Record<string, unknown>) => [model, provider, day, cost]),
    [
      ['gpt-5-mini', 'openai', '2026-01-01', 0.2],
      ['gpt-5', 'openai', '2026-01-01', 0.1],
      [null, 'anthropic', '2026-01-01', 0],
    ],
  )
  assert.equal((await sum('status=500')).count, 1)
  assert.equal((await sum('start_date=2026-01-02')).cost, 0.5)
  for (const query of ['group_by=user', 'group_by=day,day', 'group_by=', 'page=1'])
    assert.equal((await ask('GET', `${path}/summary?${query}`)).status, 400, query)
})

test('sums over time have a window for each minute, hour or day, and groups', async t => {
  const { ask, kept, clock } = await startApi(t)
  const app = { user: 'u', email: 'ann@example.com', client: 'c'.repeat(32), clientName: 'Shop' }
  await keepEntries(kept, [
    entryWith(1, { cost: 0.25, tokenId: 't', tokenName: 'Old', cached: true, saved }),
    entryWith(2, { model: 'claude', success: false, status: 502, tokenId: 't', tokenName: 'New' }),
    entryWith(3 * 3_600, { cost: 0.5, tokenId: 'grant', tokenName: 'Shop', app }),
  ])
  const read = async (query: string) => (await ask('GET', `${path}/series?${query}`)).json.result
  const span = 'start_date=2026-01-01T00:00:00Z&end_date=2026-01-01T04:00:00Z'
  const whole = await read(span)
  assert.deepEqual(whole.points.length, 4)
  assert.deepEqual(whole.points[0], {
    at: '2026-01-01T00:00:00.000Z',
    count: 2,
    errors: 1,
    tokens_in: 20,
    tokens_out: 40,
    cost: 0.25,
    count_without_cost: 1,
    ...savings,
    duration_p50: 12.3,
    duration_p95: 12.3,
  })
  assert.deepEqual([whole.bucket, whole.count, whole.errors, whole.cost], ['hour', 3, 1, 0.75])
  assert.deepEqual([whole.is_complete, whole.complete_since, whole.scanned], [true, whole.since, 0])
  assert.equal(whole.points[1].duration_p50, null)

  const grouped = async (by: string, more = '') =>
    (await read(`${span}&group_by=${by}${more}`)).groups.map((group: Record<string, unknown>) => {
      const { count, points, model, provider, token_id, token_name, client_id, client_name } = group
      const key = { model, provider, token_id, token_name, client_id, client_name }
      const known = Object.entries(key).flatMap(([name, value]) =>
        value === undefined ? [] : `${name} ${value}`,
      )
      return [known.join(', '), count, (points as unknown[]).length]
    })
  assert.deepEqual(await grouped('model'), [
    ['model gpt-5', 2, 2],
    ['model claude', 1, 1],
  ])
  assert.deepEqual(await grouped('token'), [
    ['token_id t, token_name New', 2, 1],
    ['token_id grant, token_name Shop', 1, 1],
  ])
  assert.deepEqual(await grouped('app'), [
    ['client_id null, client_name null', 2, 1],
    [`client_id ${app.client}, client_name Shop`, 1, 1],
  ])
  assert.deepEqual(await grouped('provider', '&model=claude'), [['provider openai', 1, 1]])
  const failed = await read(`${span}&success=false`)
  assert.deepEqual([failed.count, failed.scanned, failed.is_complete], [1, 3, true])

  const usual = await read('')
  assert.deepEqual([usual.bucket, usual.points.length], ['hour', 24])
  assert.equal(Date.parse(usual.before) - clock.now(), 0)
  assert.equal((await read('bucket=minute')).points.length, 60)
  assert.equal((await read('bucket=day')).points.length, 30)
  assert.equal((await read('start_date=2027-01-01')).count, 0)
  const { json } = await ask('DELETE', `${path}?filters.key=model&filters.operator=eq&filters.value=claude`)
  assert.equal(json.result.deleted, 1)
  assert.equal((await read(span)).count, 2)
})

test('beyond ten groups, the others are one; a time that is too long or turned round is refused', async t => {
  const { ask, kept } = await startApi(t)
  await keepEntries(
    kept,
    Array.from({ length: 36 }, (_, n) => entryWith(n, { model: `model-${n % 12}` })),
  )
  const span = 'start_date=2026-01-01T00:00:00Z&end_date=2026-01-01T00:02:00Z'
  const { json } = await ask('GET', `${path}/series?${span}&group_by=model`)
  const { bucket, groups, others, points } = json.result
  assert.deepEqual(
    [bucket, groups.length, others.count, others.points.length, points.length],
    ['minute', 10, 6, 1, 2],
  )
  const refusal = async (query: string) => {
    const { status, json } = await ask('GET', `${path}/series?${query}`)
    return [status, json.errors[0].message]
  }
  assert.deepEqual(await refusal('start_date=2026-01-02&end_date=2026-01-01'), [
    400,
    'start_date must be before end_date',
  ])
  assert.deepEqual(await refusal('start_date=2025-01-01&end_date=2026-01-01&bucket=minute'), [
    400,
    'bucket must divide the time into at most 750 parts',
  ])
  assert.deepEqual(await refusal('bucket=week'), [400, 'bucket must be one of minute, hour, day'])
})

test('a list may look at a bounded number of entries, and go on where it stopped', async t => {
  const { ask, kept } = await startApi(t)
  await keepEntries(
    kept,
    Array.from({ length: 100 }, (_, n) => entryWith(n, { metadata: n % 40 === 0 ? { team: 'rare' } : null })),
  )
  const found: string[] = []
  let [pages, scanned, cursor] = [0, 0, '']
  for (;;) {
    const { json } = await ask('GET', `${path}?search=rare&max_scanned=30${cursor && `&cursor=${cursor}`}`)
    found.push(...json.result.map(({ id }: { id: string }) => Number.parseInt(id, 16)))
    pages++
    scanned += json.result_info.scanned
    assert.equal('total_count' in json.result_info, false)
    if (json.result_info.cursor === undefined) break
    cursor = json.result_info.cursor
  }
  assert.deepEqual([found, pages, scanned], [[80, 40, 0], 4, 100])
  const dated = '&start_date=2026-01-01T00:00:10Z&end_date=2026-01-01T00:00:19Z'
  for (const way of ['asc', 'desc']) {
    const { json } = await ask('GET', `${path}?max_scanned=1000&per_page=20&direction=${way}${dated}`)
    const ids = json.result.map(({ id }: { id: string }) => Number.parseInt(id, 16))
    const rising = Array.from({ length: 10 }, (_, i) => 10 + i)
    assert.deepEqual(ids, way === 'asc' ? rising : rising.toReversed())
    assert.deepEqual(json.result_info, { count: 10, per_page: 20, scanned: 10 })
  }
  for (const bad of ['order_by=cost', 'page=2']) {
    const { status } = await ask('GET', `${path}?max_scanned=30&${bad}`)
    assert.equal(status, 400, bad)
  }
})

test('a tail shows the last entries, and then what came since, whenever that began', async t => {
  const { ask, kept } = await startApi(t)
  const tail = async (query: string) => {
    const { json } = await ask('GET', `${path}/tail?${query}`)
    return { ids: idsOf(json.result).join(''), cursor: json.result_info.cursor }
  }
  const { cursor: start } = await tail('')
  await keepEntries(kept, [entryWith(2), entryWith(3), entryWith(5)])
  const last = await tail('per_page=2')
  assert.equal(last.ids, '35')
  assert.equal((await tail(`cursor=${last.cursor}`)).ids, '')
  // A call that took long is stored after others that began later.
  await keepEntries(kept, [entryWith(4), entryWith(1, { model: 'claude' })])
  const next = await tail(`cursor=${last.cursor}`)
  assert.equal(next.ids, '41')
  assert.equal((await tail(`cursor=${last.cursor}&model=claude`)).ids, '1')
  assert.equal((await tail(`cursor=${next.cursor}`)).ids, '')
  assert.equal((await tail(`cursor=${start}&per_page=10`)).ids, '23541')
  const { status } = await ask('GET', `${path}/tail?cursor=nonsense`)
  assert.equal(status, 400)
})
