import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { commandLine, signingIn, strangerAt } from '../../../src/store/records/audit-entry.ts'
import { type AuditQuery, type Store, StoreUnreachable } from '../../../src/store/contract/store.ts'
import { auditEntry } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { described, faultsOf } from '../openapi/openapi-document.ts'

const day = 86_400_000
const start = Date.UTC(2026, 0, 1)

async function startWithEntries(t: Parameters<typeof startApi>[0], count: number) {
  const api = await startApi(t)
  const entries = Array.from({ length: count }, (_, i) => auditEntry({ account, at: start + i * day }))
  for (const entry of entries) await api.kept.audit.append(entry)
  await api.kept.audit.append(auditEntry({ account: '9'.repeat(32), at: start }))
  const idsOf = async (query: string) => {
    const { json } = await api.ask('GET', `/audit_logs${query}`)
    return [
      json.result.map(({ id }: { id: string }) => entries.findIndex(entry => entry.id === id)),
      json.result_info.total_count,
    ]
  }
  return { ...api, entries, idsOf }
}

test('entries have the shape of the published client', async t => {
  const { ask, entries } = await startWithEntries(t, 1)
  const [entry] = entries
  const { result } = (await ask('GET', '/audit_logs')).json
  assert.deepEqual(result, [
    {
      id: entry!.id,
      action: { type: entry!.action, result: true },
      actor: { id: entry!.actor, type: 'user', ip: entry!.address },
      resource: { id: entry!.resource, type: entry!.resourceKind },
      when: '2026-01-01T00:00:00.000Z',
      metadata: { ray: entry!.ray, changed: entry!.changed },
      owner: { id: account },
      interface: 'API',
    },
  ])
})

test('changes by a command of the operator are recorded as such, without an address', async t => {
  const { ask, kept } = await startApi(t)
  await kept.audit.append(auditEntry({ account, actor: commandLine.id, address: '' }))
  const response = (await ask('GET', '/audit_logs')).json
  const [{ actor, interface: way }] = response.result
  assert.deepEqual([actor, way], [{ id: 'command line', type: 'admin' }, 'CLI'])
  const { responses } = described.find(({ id }) => id === 'listAuditLogs')!
  assert.equal(faultsOf(responses['200']!.content['application/json']!.schema, response), '')
})

test('a token is shown by its name, a person by the address, and who failed to be one as a stranger', async t => {
  const { ask, kept, owner, origin } = await startApi(t)
  const ada = { id: 'a'.repeat(32), email: 'ada@example.com', emailVerifiedAt: 1 }
  assert.equal((await ask('POST', '/oauth_clients', { body: client })).status, 200)
  const at = start - day
  const of = { account, at, address: '192.0.2.7', ray: 'ab', changed: [] } as const
  const tried = { action: 'sign_in', resourceKind: 'user', resource: ada.id } as const
  const [id, other] = ['1'.repeat(32), '2'.repeat(32)]
  const done = { ...of, ...tried, proof: { method: 'password' } } as const
  const { id: book, actor } = signingIn(ada)
  await kept.audit.append({ ...done, id, actor: book, app: actor! })
  const proof = { method: 'code', failure: 'wrong' } as const
  const stranger = strangerAt(ada).id
  await kept.audit.append({ ...of, ...tried, id: other, action: 'second_step', actor: stranger, proof })
  const response = (await ask('GET', '/audit_logs')).json
  assert.deepEqual(
    response.result.map(({ actor, action, interface: means, metadata }: Shown) => [
      actor,
      action,
      means,
      metadata.method,
      metadata.reason,
    ]),
    [
      [
        { id: owner.token.id, type: 'user', name: owner.token.name, ip: '127.0.0.1' },
        { type: 'create', result: true },
        'API',
        undefined,
        undefined,
      ],
      [
        { id: 'stranger', type: 'user', ip: '192.0.2.7' },
        { type: 'second_step', result: false },
        'UI',
        'code',
        'wrong',
      ],
      [
        { id: ada.id, email: ada.email, email_verified: true, type: 'user', ip: '192.0.2.7' },
        { type: 'sign_in', result: true },
        'UI',
        'password',
        undefined,
      ],
    ],
  )
  const { responses } = described.find(({ id }) => id === 'listAuditLogs')!
  assert.equal(faultsOf(responses['200']!.content['application/json']!.schema, response), '')
  const countBy = async (query: string) => (await ask('GET', `/audit_logs?${query}`)).json.result.length
  assert.deepEqual(
    [
      await countBy('actor.id=stranger'),
      await countBy(`actor.id=${ada.id}`),
      await countBy('action.type=confirm'),
    ],
    [1, 1, 0],
  )
  const headers = { authorization: `Bearer ${owner.value}` }
  const file = await fetch(`${origin}/client/v4/accounts/${account}/audit_logs/export`, { headers })
  const [names, ...lines] = (await file.text()).trimEnd().split('\r\n')
  const cells = lines.map(line => line.slice(1, -1).split('","'))
  const column = (name: string) => cells.map(line => line[names!.split(',').indexOf(name)])
  assert.deepEqual(column('actor_id'), [owner.token.id, 'stranger', ada.id])
  assert.deepEqual(column('actor_name'), [owner.token.name, '', ''])
  assert.deepEqual(column('result'), ['true', 'false', 'true'])
  assert.deepEqual(column('method'), ['', 'code', 'password'])
  assert.deepEqual(column('reason'), ['', 'wrong', ''])
  assert.deepEqual(column('oauth_grant_id'), ['', '', ''])
})

/** An entry as the API shows it. */
interface Shown {
  readonly actor: object
  readonly action: object
  readonly interface: string
  readonly metadata: { readonly method?: string; readonly reason?: string }
}

const client = {
  client_name: 'Shop',
  grant_types: ['authorization_code'],
  redirect_uris: ['https://shop.example/callback'],
  response_types: ['code'],
  scopes: ['user.read'],
  token_endpoint_auth_method: 'client_secret_basic',
}

test('they come by page, the newest first unless asked otherwise, and only those of the account', async t => {
  const { idsOf } = await startWithEntries(t, 5)
  assert.deepEqual(await idsOf(''), [[4, 3, 2, 1, 0], 5])
  assert.deepEqual(await idsOf('?direction=asc&per_page=2&page=2'), [[2, 3], 5])
  assert.deepEqual(await idsOf('?per_page=2&page=3'), [[0], 5])
})

test('they are cut by days and moments: since one, and before another', async t => {
  const { idsOf } = await startWithEntries(t, 5)
  assert.deepEqual(await idsOf('?since=2026-01-03'), [[4, 3, 2], 3])
  assert.deepEqual(await idsOf('?before=2026-01-03T00:00:00.000Z'), [[1, 0], 2])
  assert.deepEqual(await idsOf('?since=2026-01-01T23:00:00-01:00&before=2026-01-03T00:00:00.001Z'), [
    [2, 1],
    2,
  ])
})

test('invalid parameters are refused, all at once', async t => {
  const { ask } = await startApi(t)
  const { status, json } = await ask(
    'GET',
    '/audit_logs?since=yesterday&before=2026-13-01&direction=up&per_page=101',
  )
  assert.equal(status, 400)
  assert.deepEqual(
    json.errors.map(({ message }: { message: string }) => message.split(' ')[0]),
    ['per_page', 'since', 'before', 'direction'],
  )
  assert.equal((await ask('GET', '/audit_logs?actor.ip=192.0.2.1')).status, 400)
})

test('the log is visible with its own permission, and by no other one', async t => {
  const { ask, keepToken, origin } = await startApi(t)
  const others = permissionGroups.map(({ name }) => name).filter(name => name !== 'Audit Logs Read')
  for (const [permissions, status] of [
    [others, 403],
    [['Audit Logs Read'], 200],
  ] as const) {
    const { value: token } = await keepToken(permissions)
    assert.equal((await ask('GET', '/audit_logs', { token })).status, status)
    const file = await fetch(`${origin}/client/v4/accounts/${account}/audit_logs/export`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(file.status, status)
    await file.body?.cancel()
  }
})

test('they are filtered by who did what to what, a bounded number at a time', async t => {
  const { ask, kept } = await startApi(t)
  const app = { user: '7'.repeat(32), email: 'ann@example.com', clientName: 'Shop', client: 'c'.repeat(32) }
  const entries = Array.from({ length: 450 }, (_, i) =>
    auditEntry({
      account,
      at: start + i * 1_000,
      action: i % 3 === 0 ? 'delete' : 'update',
      resourceKind: i % 5 === 0 ? 'token' : 'gateway',
      resource: `r${i % 7}`,
      actor: `a${i % 2}`,
      ...(i === 100 && { app }),
    }),
  )
  for (const entry of entries) await kept.audit.append(entry)
  const found = async (query: string) => {
    const ids: number[] = []
    for (let cursor = ''; ; ) {
      const { json } = await ask('GET', `/audit_logs?per_page=10&${query}${cursor}`)
      for (const { id } of json.result) ids.push(entries.findIndex(entry => entry.id === id))
      if (json.result_info.cursor === undefined) return ids
      cursor = `&cursor=${json.result_info.cursor}`
    }
  }
  const wanted = (holds: (i: number) => boolean) => entries.flatMap((_, i) => (holds(i) ? [i] : []))
  assert.deepEqual(
    await found('action.type=delete&resource.type=token&actor.id=a0&direction=asc'),
    wanted(i => i % 30 === 0),
  )
  assert.deepEqual(await found('resource.id=r3'), wanted(i => i % 7 === 3).toReversed())
  assert.deepEqual(await found('actor.email=Ann@Example.com'), [100])
  assert.deepEqual(await found(`actor.id=${app.user}`), [100])
  assert.deepEqual(await found('actor.id=nobody'), [])
  const span = 'since=2026-01-01T00:01:00Z&before=2026-01-01T00:02:00Z'
  for (const way of ['asc', 'desc']) {
    const within = wanted(i => i >= 60 && i < 120 && i % 3 === 0)
    assert.deepEqual(
      await found(`action.type=delete&direction=${way}&${span}`),
      way === 'asc' ? within : within.toReversed(),
    )
  }
  const { json } = await ask('GET', '/audit_logs?action.type=delete&per_page=100&page=2')
  assert.deepEqual(json.result_info, { page: 2, per_page: 100, count: 50, total_count: 150 })
  for (const bad of ['action.type=explode', 'resource.type=star', 'resource.id=', 'actor.name=x']) {
    assert.equal((await ask('GET', `/audit_logs?${bad}`)).status, 400, bad)
  }
})

test('all matching entries are exported, as CSV without formulas or as JSON lines', async t => {
  const { origin, owner, kept, keepToken } = await startApi(t)
  const app = { user: '7'.repeat(32), email: 'ann@example.com', client: 'c'.repeat(32) }
  const names = [
    '=HYPERLINK("http://evil.example")',
    '+1',
    '-1',
    '@SUM(A1)',
    '\tx',
    '\r=1',
    '＝1',
    '＋1',
    '－1',
    '＠1',
    'plain',
    'a,"b"\n=1',
  ]
  for (const [i, clientName] of names.entries()) {
    const isVerified = i % 2 === 0 && { isEmailVerified: true }
    await kept.audit.append(
      auditEntry({ account, at: start + i, app: { ...app, ...isVerified, clientName } }),
    )
  }
  for (let i = 0; i < 700; i++)
    await kept.audit.append(auditEntry({ account, at: start + day + i, action: 'roll' }))
  const get = async (query: string, token = owner.value) => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${origin}/client/v4/accounts/${account}/audit_logs/export${query}`, {
      headers,
    })
    return { response, text: await response.text() }
  }
  const { response, text } = await get('?actor.email=ann@example.com&direction=asc')
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  assert.match(
    response.headers.get('content-disposition')!,
    /^attachment; filename="audit-\d{4}-\d\d-\d\d\.csv"$/,
  )
  const cells = Array.from(text.matchAll(/"((?:[^"]|"")*)"(?:,|\r\n)/g), ([, cell]) =>
    cell!.replaceAll('""', '"'),
  )
  const columns = text.slice(0, text.indexOf('\r\n')).split(',')
  assert.equal(cells.length, columns.length * names.length)
  const at = columns.indexOf('oauth_client_name')
  const verified = columns.indexOf('actor_email_verified')
  for (const i of names.keys()) assert.equal(cells[i * columns.length + verified], String(i % 2 === 0))
  const shown = names.map((_, i) => cells[i * columns.length + at])
  assert.deepEqual(shown, [...names.slice(0, 10).map(name => `'${name}`), ...names.slice(10)])
  for (const cell of cells) assert.doesNotMatch(cell, /^[=+\-@＝＋－＠\t\r\n]/)

  const lines = (await get('?format=ndjson&action.type=roll')).text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.equal(lines.length, 700)
  assert.equal(lines[0].when, new Date(start + day + 699).toISOString())
  assert.equal((await get('?format=xml')).response.status, 400)
  const { value } = await keepToken(['AI Gateway Read'])
  assert.equal((await get('', value)).response.status, 403)
})

test('an export that the store does not let finish is cut off', async t => {
  const { kept, origin, owner } = await startApi(t, store => {
    const audit = {
      append: store.audit.append.bind(store.audit),
      list: (account: string, query: AuditQuery) =>
        query.after ? Promise.reject(new StoreUnreachable()) : store.audit.list(account, query),
    }
    return new Proxy(store, {
      get: (target, name) => (name === 'audit' ? audit : bound(target, name as keyof Store)),
    })
  })
  for (let i = 0; i < 300; i++) await kept.audit.append(auditEntry({ account, at: start + i }))
  const headers = { authorization: `Bearer ${owner.value}` }
  const response = await fetch(`${origin}/client/v4/accounts/${account}/audit_logs/export`, { headers })
  assert.equal(response.status, 200)
  await assert.rejects(response.text())
  // HTTP/1.0 has no other sign of the end than that of the connection.
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  t.after(() => socket.destroy())
  const path = `/client/v4/accounts/${account}/audit_logs/export`
  socket.resume().write(`GET ${path} HTTP/1.0\r\nHost: x\r\nAuthorization: ${headers.authorization}\r\n\r\n`)
  const { promise, resolve } = Promise.withResolvers<string>()
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code!)).on('end', () => resolve('ended'))
  assert.equal(await promise, 'ECONNRESET')
})

function bound(store: Store, name: keyof Store): unknown {
  const value = store[name]
  return typeof value === 'function' ? (value as () => unknown).bind(store) : value
}
