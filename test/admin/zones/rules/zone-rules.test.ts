import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { zoneOwner } from '../../../../src/store/records/zone-lists.ts'
import { startRedis } from '../../../help/redis.ts'
import { account } from '../../../tokens/token-with.ts'
import { type Reply, startApi } from '../../api.ts'
import { meet } from '../../../help/meet.ts'

const zone = '/client/v4/zones/main'
type Api = Awaited<ReturnType<typeof startApi>>

const kinds = [
  {
    path: `${zone}/error_rules`,
    kind: 'error_rules',
    records: ({ kept }: Api) => kept.errorRules,
    body: (content: string) => ({ expression: 'response.code == 522', content, content_type: 'text/plain' }),
    member: 'content',
  },
  {
    path: `${zone}/access_rules`,
    kind: 'access_rules',
    records: ({ kept }: Api) => kept.accessRules,
    body: (description: string) => ({ action: 'deny', ip: ['192.0.2.1'], description }),
    member: 'description',
  },
] as const

for (const { path, kind, records, body, member } of kinds) {
  const marksOf = ({ json }: Reply) => json.result.map((rule: Record<string, unknown>) => rule[member])
  const start = (t: TestContext, ...marks: string[]) => startWith(t, undefined, ...marks)
  const startWith = async (t: TestContext, url?: string, ...marks: string[]) => {
    const api = await startApi(t, undefined, url)
    const ids: string[] = []
    for (const mark of marks) ids.push((await api.ask('POST', path, { body: body(mark) })).json.result.id)
    const list = async () => marksOf(await api.ask('GET', path))
    return { ...api, ids, list }
  }
  const named = (what: string) => `${kind}: ${what}`

  test(named('there are none at first, as a page with a tag of its own'), async t => {
    const { ask } = await startApi(t)
    const { status, json, headers } = await ask('GET', path)
    assert.deepEqual([status, json.result], [200, []])
    assert.deepEqual(json.result_info, { page: 1, per_page: 100, count: 0, total_count: 0 })
    assert.match(headers.get('etag')!, /^"[0-9a-f]{32}"$/)
  })

  test(named('a new rule gets an id and stands at the end, or where its body says'), async t => {
    const { ask, ids, list } = await start(t, 'a', 'b')
    assert.match(ids[0]!, /^[0-9a-f]{32}$/)
    const put = (mark: string, position: object) => ask('POST', path, { body: { ...body(mark), position } })
    assert.equal((await put('first', { index: 1 })).status, 200)
    await put('before b', { before: ids[1] })
    await put('after b', { after: ids[1] })
    await put('last', { index: 6 })
    assert.deepEqual(await list(), ['first', 'a', 'before b', 'b', 'after b', 'last'])
  })

  test(named('a place that there is not is refused with its member, and changes nothing'), async t => {
    const { ask, list } = await start(t, 'a')
    for (const [position, pointer] of [
      [{ index: 3 }, '/position/index'],
      [{ index: 0 }, '/position/index'],
      [{ before: '0'.repeat(32) }, '/position/before'],
      [{ after: 'a' }, '/position/after'],
      [{}, '/position'],
      [{ index: 1, after: '0'.repeat(32) }, '/position'],
      ['first', '/position'],
    ] as const) {
      const { status, json } = await ask('POST', path, { body: { ...body('x'), position } })
      assert.deepEqual([status, json.errors[0].source.pointer], [400, pointer], JSON.stringify(position))
    }
    assert.deepEqual(await list(), ['a'])
  })

  test(named('an id is given by the server alone'), async t => {
    const { ask } = await startApi(t)
    const { status, json } = await ask('POST', path, { body: { ...body('x'), id: '0'.repeat(32) } })
    assert.deepEqual([status, json.errors[0].code], [400, 10005])
  })

  test(named('a rule is replaced in its place; what was listed can be put back as it is'), async t => {
    const { ask, ids, list } = await start(t, 'a', 'b', 'c')
    const { status, json } = await ask('PUT', `${path}/${ids[1]}`, { body: body('new') })
    assert.deepEqual([status, json.result.id, json.result[member]], [200, ids[1], 'new'])
    assert.deepEqual(await list(), ['a', 'new', 'c'])
    const before = (await ask('GET', path)).json.result
    assert.equal((await ask('PUT', `${path}/${ids[1]}`, { body: before[1] })).status, 200)
    assert.deepEqual((await ask('GET', path)).json.result, before)
    for (const more of [{ id: ids[0] }, { position: { index: 1 } }])
      assert.equal((await ask('PUT', `${path}/${ids[1]}`, { body: { ...body('x'), ...more } })).status, 400)
  })

  test(named('a deleted rule is gone, and 404 from then on'), async t => {
    const { ask, ids, list } = await start(t, 'a', 'b')
    const gone = await ask('DELETE', `${path}/${ids[0]}`)
    assert.deepEqual([gone.status, gone.json.result, await list()], [200, { id: ids[0] }, ['b']])
    for (const method of ['DELETE', 'PUT']) {
      const { status, json } = await ask(
        method,
        `${path}/${ids[0]}`,
        method === 'PUT' ? { body: body('x') } : {},
      )
      assert.deepEqual([status, json.errors[0].code], [404, 7003])
    }
  })

  test(named('another order has all ids, each once'), async t => {
    const { ask, ids, list } = await start(t, 'a', 'b', 'c')
    const order = (ids: unknown) => ask('PUT', `${path}/order`, { body: { ids } })
    const turned = await order(ids.toReversed())
    assert.deepEqual([turned.status, marksOf(turned), await list()], [200, ['c', 'b', 'a'], ['c', 'b', 'a']])
    const wrong = await order([ids[0], ids[0], '0'.repeat(32)])
    assert.equal(wrong.status, 400)
    assert.deepEqual(
      wrong.json.errors.map(({ message, source }: { message: string; source: object }) => [message, source]),
      [
        ['ids[1] duplicates ids[0]', { pointer: '/ids/1' }],
        ['ids[2] must be the id of a rule in this list', { pointer: '/ids/2' }],
        [`ids must list every rule; missing: ${ids[2]}, ${ids[1]}`, { pointer: '/ids' }],
      ],
    )
    assert.equal((await order(['x'])).json.errors[0].source.pointer, '/ids/0')
    assert.deepEqual(await list(), ['c', 'b', 'a'])
  })

  test(named('concurrent writes lose no change, in SQLite and in Redis'), async t => {
    await loseNothing(t, await start(t, 'old', 'gone', 'stays'))
    const { url } = await startRedis(t)
    await loseNothing(t, await startWith(t, url, 'old', 'gone', 'stays'))
  })

  async function loseNothing(t: TestContext, api: Awaited<ReturnType<typeof start>>): Promise<void> {
    const { ask, ids, list } = api
    meet(t, records(api), 'get', 22)
    const created = Array.from({ length: 20 }, (_, i) => `new ${i}`)
    const replies = await Promise.all([
      ...created.map(mark => ask('POST', path, { body: body(mark) })),
      ask('PUT', `${path}/${ids[0]}`, { body: body('replaced') }),
      ask('DELETE', `${path}/${ids[1]}`),
    ])
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    assert.deepEqual((await list()).sort(), ['replaced', 'stays', ...created].sort())
  }

  test(named('rules created at the same time in an empty list are all kept'), async t => {
    const { ask, list, ...api } = await start(t)
    meet(t, records({ ask, ...api }), 'get', 3)
    await Promise.all(['a', 'b', 'c'].map(mark => ask('POST', path, { body: body(mark) })))
    assert.deepEqual((await list()).sort(), ['a', 'b', 'c'])
  })

  test(named('with If-Match only what was seen is changed'), async t => {
    const { ask, ids, list } = await start(t, 'a', 'b')
    const seen = (await ask('GET', path)).headers.get('etag')!
    const headers = { 'if-match': seen }
    const made = await ask('POST', path, { body: body('c'), headers })
    assert.equal(made.status, 200)
    const next = made.headers.get('etag')!
    assert.equal(next, (await ask('GET', path)).headers.get('etag'))
    for (const [method, where, content] of [
      ['POST', path, body('d')],
      ['PUT', `${path}/${ids[0]}`, body('d')],
      ['PUT', `${path}/order`, { ids: [ids[1], ids[0], made.json.result.id] }],
      ['DELETE', `${path}/${ids[0]}`],
    ] as const) {
      const stale = await ask(method, where, content ? { body: content, headers } : { headers })
      assert.deepEqual(
        [stale.status, stale.json.errors[0].code, stale.headers.get('etag')],
        [412, 10420, next],
      )
    }
    assert.deepEqual(await list(), ['a', 'b', 'c'])
    const gone = await ask('DELETE', `${path}/${made.json.result.id}`, { headers: { 'if-match': next } })
    assert.deepEqual([gone.status, gone.headers.get('etag')], [200, seen])
  })

  test(named('a zone has at most 100, however they come'), async t => {
    const api = await start(t, 'a')
    const { record, version } = (await records(api).get(zoneOwner, 'main'))!
    const [rule] = record.rules
    const rules = Array.from({ length: 98 }, (_, i) => ({ ...rule!, id: i.toString(16).padStart(32, '0') }))
    await records(api).replace({ ...record, rules } as never, version)
    const replies = await Promise.all(
      Array.from({ length: 5 }, (_, i) => api.ask('POST', path, { body: body(`${i}`) })),
    )
    const outcomes = replies.map(({ status, json }) => [status, json.errors[0]?.code]).sort()
    assert.deepEqual(outcomes, [...Array(2).fill([200, undefined]), ...Array(3).fill([409, 10414])])
    assert.equal((await api.list()).length, 100)
  })

  test(named('each write is told to the account that owns the zone'), async t => {
    const { ask, ids } = await start(t, 'a', 'b')
    await ask('PUT', `${path}/${ids[0]}`, { body: body('c') })
    await ask('PUT', `${path}/order`, { body: { ids: ids.toReversed() } })
    await ask('DELETE', `${path}/${ids[0]}`)
    await ask('DELETE', `${path}/${ids[0]}`)
    const { result } = (await ask('GET', '/audit_logs?direction=asc')).json
    const told = result.map(
      ({ action, resource, metadata, owner }: Record<string, Record<string, unknown>>) => [
        action!.type,
        resource!.type,
        resource!.id,
        metadata!.changed,
        owner!.id,
      ],
    )
    const members = Object.keys(body(''))
    assert.deepEqual(told, [
      ['create', kind, `main/${ids[0]}`, members, account],
      ['create', kind, `main/${ids[1]}`, members, account],
      ['update', kind, `main/${ids[0]}`, [member], account],
      ['reorder', kind, 'main', ['ids'], account],
      ['delete', kind, `main/${ids[0]}`, [], account],
    ])
  })

  test(named('zones have rules of their own'), async t => {
    const { ask, given, list } = await start(t, 'a')
    given.configs.push({ ...given.configs[0]!, name: 'second' })
    assert.deepEqual((await ask('GET', path.replace('main', 'second'))).json.result, [])
    await ask('POST', path.replace('main', 'second'), { body: body('b') })
    assert.deepEqual(await list(), ['a'])
  })
}

for (const { path, body } of kinds) {
  test(`${path}: rules that add up to too much work are refused`, async t => {
    const { ask } = await startApi(t)
    const heavy = (i: number) => ({
      ...('ip' in body('') ? { action: 'deny' } : body('x')),
      expression: `request.query.split("").exists(a, a == "${i}")`,
    })
    const first = await ask('POST', path, { body: heavy(1) })
    let last = first
    for (let i = 2; i < 10 && last.status === 200; i++) last = await ask('POST', path, { body: heavy(i) })
    assert.deepEqual([last.status, last.json.errors[0].source.pointer], [400, ''])
    assert.match(last.json.errors[0].message, /too many steps for one request: \d+, of at most \d+$/)
    const replaced = await ask('PUT', `${path}/${first.json.result.id}`, { body: body('light') })
    assert.equal(replaced.status, 200)
    assert.equal((await ask('POST', path, { body: heavy(10) })).status, 200)
  })
}
