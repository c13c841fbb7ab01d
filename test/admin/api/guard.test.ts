import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { apiRows, routes } from '../../../src/admin/routes.ts'
import { AdminServer } from '../../../src/admin/server.ts'
import { apiFaults } from '../../../src/errors/catalogue/api-faults.ts'
import { type Store, StoreBusy, StoreUnreachable, StoreUntouched } from '../../../src/store/contract/store.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { thorough } from '../../help/thorough.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'
import { bodyOfClient } from '../oauth-clients/client-bodies.ts'
import { zoneWith } from '../zones/zones.ts'

const rows = routes.filter(({ path }) => path.startsWith('/client/v4/') && path !== '/client/v4/openapi.json')
const accountRows = rows.filter(({ path }) => path.startsWith('/client/v4/accounts/'))
const zoneRowsOfTable = rows.filter(({ path }) => path.startsWith('/client/v4/zones/'))
const other = '1'.repeat(32)

/** Fills the braces of a row's path. */
const pathOf = (path: string, ofAccount = account) =>
  path.replace('{account_id}', ofAccount).replace(/\{\w+\}/g, 'x')

test('without a valid token every row is 401, with the challenge and code 10000, and nothing is read', async t => {
  const { ask, kept, clock } = await startApi(t)
  const expired = tokenWith({ expiresOn: clock.now(), policies: [allowing(['API Tokens Read'])] })
  const disabled = tokenWith({ status: 'disabled', policies: [allowing(['API Tokens Read'])] })
  for (const { token } of [expired, disabled]) await kept.tokens.insert(token)
  const tokens = [null, 'x', mintToken().value, expired.value, disabled.value]
  for (const [i, { method, path }] of rows.entries())
    for (const token of thorough(tokens, [null, tokens[1 + (i % (tokens.length - 1))]!])) {
      const { status, headers, json } = await ask(method, pathOf(path), { token })
      assert.equal(status, 401, `${method} ${path}`)
      const challenge = headers.get('www-authenticate')!
      assert.match(
        challenge,
        /^Bearer resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource\/client\/v4"/,
      )
      assert.equal(challenge.endsWith(', error="invalid_token"'), token !== null)
      assert.deepEqual(json, {
        success: false,
        errors: [{ code: 10000, message: 'Authentication error' }],
        messages: [],
        result: null,
      })
    }
})

test('two Authorization fields count as none', async t => {
  const { origin, owner } = await startApi(t)
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const value = `Bearer ${owner.value}`
  const url = `${origin}/client/v4/accounts/${account}/tokens/verify`
  get(url, { headers: ['Host', 'x', 'Authorization', value, 'Authorization', value] as never }, response => {
    response.resume()
    resolve(response.statusCode)
  })
  assert.equal(await promise, 401)
})

test('a token that lacks the permission is 403 on every row that requires one, which the message names', async t => {
  const { ask, keepToken } = await startApi(t)
  const running = await keepToken(['AI Gateway Run'])
  const reading = await keepToken(['Analytics Read'])
  for (const { method, path, permission } of apiRows.filter(({ permission }) => permission !== null)) {
    const { value } = permission === 'AI Gateway Run' ? reading : running
    const { status, json } = await ask(method, pathOf(path), { token: value })
    assert.equal(status, 403, `${method} ${path}`)
    assert.equal(json.errors[0].code, 10000)
    assert.equal(
      json.errors[0].message,
      `Forbidden: this requires the permission ${permission} on this account`,
    )
  }
})

test('a token that lacks the permission is 403 on every row of a zone, whether that exists or not', async t => {
  const { ask, keepToken } = await startApi(t)
  const { value } = await keepToken(['AI Gateway Run', 'API Tokens Write'])
  for (const { method, path } of zoneRowsOfTable)
    for (const zone of ['main', 'none', '%00', '*']) {
      const { status, json } = await ask(method, pathOf(path.replace('{zone}', zone)), { token: value })
      assert.equal(status, 403, `${method} ${path}`)
      assert.match(
        json.errors[0].message,
        /^Forbidden: this requires the permission (Custom Errors|Access Rules|Origins|Zones|Analytics) (Read|Write) on this account$/,
      )
    }
})

test('the zone of another account looks like a missing one, for a token with the permission for its own zones', async t => {
  const { ask, given, addAccount } = await startApi(t)
  const other = await addAccount('other')
  given.configs.push(zoneWith({ name: 'theirs', account: other }))
  for (const { method, path } of zoneRowsOfTable) {
    const to = (zone: string) => ask(method, pathOf(path.replace('{zone}', zone)))
    const [theirs, none] = [await to('theirs'), await to('none')]
    assert.deepEqual([theirs.status, theirs.json], [404, none.json], `${method} ${path}`)
    assert.equal(theirs.json.errors[0].code, 7003)
  }
})

test('a zone is of the account that the configuration says, or else of the oldest', async t => {
  const { ask, kept, given, addAccount } = await startApi(t)
  const other = await addAccount('other')
  given.configs.push(zoneWith({ name: 'theirs', account: other }))
  const neighbour = tokenWith({ account: other, policies: [allowing(['Origins Read'], [other])] })
  await kept.tokens.insert(neighbour.token)
  const statusOf = async (zone: string, token?: string) =>
    (await ask('GET', `/client/v4/zones/${zone}/origins`, token === undefined ? {} : { token })).status
  assert.deepEqual([await statusOf('main'), await statusOf('theirs')], [200, 404])
  const { value } = neighbour
  assert.deepEqual([await statusOf('main', value), await statusOf('theirs', value)], [404, 200])
  const everywhere = tokenWith({ policies: [allowing(['Origins Read'], ['*'])] })
  await kept.tokens.insert(everywhere.token)
  for (const zone of ['main', 'theirs']) assert.equal(await statusOf(zone, everywhere.value), 200)
})

test('a write is audited in the account that owns the zone, not in that of the token', async t => {
  const { ask, kept, given, addAccount } = await startApi(t)
  const other = await addAccount('other')
  given.configs.push(zoneWith({ name: 'theirs', account: other }))
  const everywhere = tokenWith({ policies: [allowing(['Access Rules Write'], ['*'])] })
  await kept.tokens.insert(everywhere.token)
  const body = { action: 'deny', path: ['/admin'] }
  const path = '/client/v4/zones/theirs/access_rules'
  assert.equal((await ask('POST', path, { body, token: everywhere.value })).status, 200)
  const page = { since: null, before: null, descending: false, offset: 0, limit: 9 }
  const told = async (account: string) =>
    (await kept.audit.list(account, page)).items.map(({ actor }) => actor)
  assert.deepEqual([await told(account), await told(other)], [[], ['command line', everywhere.token.id]])
})

test('a token of one account is 403 on every row of another, whether that exists or not', async t => {
  const { ask, addAccount } = await startApi(t)
  const other = await addAccount('other')
  for (const { method, path } of accountRows)
    for (const elsewhere of [other, '2'.repeat(32), 'x', '%00', '*', '..%2f'])
      assert.equal((await ask(method, pathOf(path, elsewhere))).status, 403, `${method} ${path} ${elsewhere}`)
})

test('a token for all accounts learns which exist', async t => {
  const { ask, kept, addAccount } = await startApi(t)
  const everywhere = tokenWith({ policies: [allowing(['AI Gateway Read'], ['*'])] })
  await kept.tokens.insert(everywhere.token)
  const other = await addAccount('other')
  const list = async (id: string) =>
    (await ask('GET', `/client/v4/accounts/${id}/ai-gateway/gateways`, { token: everywhere.value })).status
  assert.deepEqual([await list(other), await list('2'.repeat(32)), await list('x')], [200, 404, 404])
})

test('unknown query parameters are refused by name on every row that lists none of its own', async t => {
  const { ask } = await startApi(t)
  const { status, json } = await ask('GET', '/tokens/verify?colour=red')
  assert.equal(status, 400)
  assert.deepEqual(json.errors, [{ code: 10003, message: 'colour is an unknown query parameter' }])
})

test('a body must be JSON with its Content-Type, in UTF-8, of at most 1 MiB, without duplicate members', async t => {
  const { ask } = await startApi(t)
  const post = async (body: unknown, headers = {}) => {
    const { status, json } = await ask('POST', '/ai-gateway/gateways', { body, headers })
    return [status, json.errors[0].code]
  }
  assert.deepEqual(await post('{"id":'), [400, 6003])
  assert.deepEqual(await post(''), [400, 6003])
  assert.deepEqual(await post(Buffer.from('{"id":"\xff"}', 'latin1')), [400, 6003])
  assert.deepEqual(await post('{"id":"a"}', { 'content-type': 'text/plain' }), [415, 6004])
  assert.deepEqual(await post('{"id":"a"}', { 'content-type': 'application/jsonp' }), [415, 6004])
  assert.deepEqual(await post(`{"id":"${'a'.repeat(1024 * 1024)}"}`), [413, 6005])
  assert.deepEqual(await post('{"id":"a","id":"b"}'), [400, 10004])
  assert.equal(
    (
      await ask('POST', '/ai-gateway/gateways', {
        body: '{"id":"a"}',
        headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      })
    ).status,
    200,
  )
})

test('a body that is too large is refused while it is still arriving, however it is framed', async t => {
  const { origin, owner } = await startApi(t)
  const chunk = Buffer.alloc(64 * 1024, 'a')
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(chunk)
      if (++sent === 64) controller.close()
    },
  })
  let sent = 0
  const headers = { authorization: `Bearer ${owner.value}`, 'content-type': 'application/json' }
  const url = `${origin}/client/v4/accounts/${account}/ai-gateway/gateways`
  const response = await fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  assert.equal(response.status, 413)
})

test('while the store is unreachable every row is 503 with code 10503 and Retry-After, and readyz says degraded', async t => {
  const away = { isOn: false }
  const { ask, origin } = await startApi(t, store => absent(store, away))
  assert.equal((await ask('GET', '/tokens')).status, 200)
  away.isOn = true
  for (const [method, path, body] of [
    ['GET', '/tokens'],
    ['GET', `/tokens/${'1'.repeat(32)}`],
    ['DELETE', `/tokens/${'1'.repeat(32)}`],
    ['PUT', `/tokens/${'1'.repeat(32)}/value`],
    ['POST', '/ai-gateway/gateways', { id: 'a' }],
    ['PUT', '/ai-gateway/gateways/a', {}],
    ['DELETE', '/ai-gateway/gateways/a'],
    ['GET', '/oauth_clients'],
    ['POST', '/oauth_clients', bodyOfClient()],
    ['PATCH', `/oauth_clients/${'1'.repeat(32)}`, {}],
    ['DELETE', `/oauth_clients/${'1'.repeat(32)}`],
    ['POST', `/oauth_clients/${'1'.repeat(32)}/rotate_secret`],
    ['DELETE', `/oauth_clients/${'1'.repeat(32)}/rotate_secret`],
    ['GET', '/audit_logs'],
    ['GET', '/client/v4/zones/main/error_rules'],
    ['POST', '/client/v4/zones/main/access_rules', { action: 'deny', path: ['/'] }],
    ['DELETE', `/client/v4/zones/main/error_rules/${'1'.repeat(32)}`],
    ['GET', '/client/v4/zones/main/error_pages'],
    ['DELETE', '/client/v4/zones/main/error_pages/ip_block'],
  ] as const) {
    const { status, headers, json } = await ask(method, path, body ? { body } : {})
    assert.equal(status, 503, `${method} ${path}`)
    assert.equal(json.errors[0].code, 10503)
    assert.match(headers.get('retry-after') ?? '', /^[1-9][0-9]*$/)
  }
  assert.equal((await ask('GET', '/tokens', { token: mintToken().value })).status, 503)
  const readiness = await fetch(`${origin}/readyz`)
  assert.deepEqual(
    [readiness.status, await readiness.json()],
    [200, { status: 'degraded', reason: 'store unreachable' }],
  )
})

test('a write that could not be confirmed is logged as such, and a repetition is 503 until it is', async t => {
  const proof = { isHad: true }
  const confirm = async () => {
    if (!proof.isHad) throw new StoreUnreachable()
  }
  const { ask, lines } = await startApi(t, store => ({
    ...proxyOf(store),
    confirm,
    oauthClients: new Proxy(store.oauthClients, {
      get: (target, name) => {
        if (name !== 'replace') return (Reflect.get(target, name) as () => unknown).bind(target)
        return (...args: Parameters<typeof target.replace>) => target.replace(...args).finally(confirm)
      },
    }),
  }))
  const { result } = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json
  const rename = () =>
    ask('PATCH', `/oauth_clients/${result.client_id}`, { body: { client_name: 'Renamed' } })
  proof.isHad = false
  assert.deepEqual([(await rename()).status, (await rename()).status], [503, 503])
  proof.isHad = true
  assert.equal((await rename()).status, 200)
  assert.deepEqual(
    lines.map(({ msg, action }) => [msg, action]),
    [
      ['audit', 'create'],
      ['audit: write not confirmed', 'update'],
    ],
  )
})

test('a write for which the store was too busy is 503 with Retry-After, and says that nothing was changed', async t => {
  const { ask, lines } = await startApi(t, store => ({
    ...proxyOf(store),
    gateways: { insert: () => Promise.reject(new StoreBusy()) } as never,
  }))
  const { status, headers, json } = await ask('POST', '/ai-gateway/gateways', { body: { id: 'a' } })
  assert.deepEqual(
    [status, json.errors],
    [503, [{ code: 10503, message: 'The store is busy and nothing was changed: retry later' }]],
  )
  assert.ok(Number(headers.get('retry-after')) > 0)
  assert.deepEqual(lines, [])
})

test('a write that a full disk refused is 503, and the message does not call the store unreachable', async t => {
  const { ask } = await startApi(t, store => ({
    ...proxyOf(store),
    gateways: { insert: () => Promise.reject(new StoreUntouched({ code: 'SQLITE_FULL' })) } as never,
  }))
  const { status, headers, json } = await ask('POST', '/ai-gateway/gateways', { body: { id: 'a' } })
  const message =
    'The store refuses writes, and /readyz says why: check whether the change was made, then retry'
  assert.deepEqual([status, json.errors], [503, [{ code: 10503, message }]])
  assert.ok(Number(headers.get('retry-after')) > 0)
})

test('a write that was not confirmed is 503, and the message says that it may have been made', async t => {
  const { ask } = await startApi(t, store => ({
    ...proxyOf(store),
    gateways: { insert: () => Promise.reject(new StoreUnreachable({ code: 'UNCONFIRMED' })) } as never,
  }))
  const { status, headers, json } = await ask('POST', '/ai-gateway/gateways', { body: { id: 'a' } })
  assert.deepEqual(
    [status, json.errors],
    [503, [{ code: 10503, message: apiFaults.store_unconfirmed.sentence }]],
  )
  assert.ok(Number(headers.get('retry-after')) > 0)
})

test('before the store is open the API says that it is unreachable', async t => {
  const server = new AdminServer(
    { unready: () => null, metricsAccess: 'token', metrics: async () => '', api: () => null },
    () => {},
  )
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  const response = await fetch(`http://127.0.0.1:${port}/client/v4/accounts/${account}/tokens`)
  assert.equal(response.status, 503)
})

test('a bug in a handler is logged, and is 500 in the envelope', async t => {
  const { ask, bugs } = await startApi(t, store => ({ ...proxyOf(store), gateways: null as never }))
  const { status, json } = await ask('GET', '/ai-gateway/gateways')
  assert.deepEqual([status, json.errors[0].code, bugs.length], [500, 10500, 1])
})

test('a caller that disconnects in the middle of a body is not a bug', async t => {
  const { origin, owner, bugs, server } = await startApi(t)
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const fields = [
    `Host: x`,
    `Authorization: Bearer ${owner.value}`,
    'Content-Type: application/json',
    'Content-Length: 99',
  ]
  const target = `/client/v4/accounts/${account}/ai-gateway/gateways`
  socket.write(`POST ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\nExpect: 100-continue\r\n\r\n`)
  await once(socket, 'data')
  socket.destroy()
  await server.close()
  assert.deepEqual(bugs, [])
})

// biome-ignore lint/correctness/useYield: it fails before there is anything to hand on
async function* fromNowhere(): AsyncGenerator<never> {
  throw new StoreUnreachable()
}

/** Makes a store that can be taken away. */
function absent(store: Store, away: { isOn: boolean }): Store {
  const guard = <T extends object>(part: T): T =>
    new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          if (!away.isOn) return member.apply(target, args)
          return name === 'walk' ? fromNowhere() : Promise.reject(new StoreUnreachable())
        }
      },
    })
  return {
    ...proxyOf(store),
    get isUnreachable() {
      return away.isOn
    },
    tokens: guard(store.tokens),
    gateways: guard(store.gateways),
    oauthClients: guard(store.oauthClients),
    responses: guard(store.responses),
    audit: guard(store.audit),
    errorRules: guard(store.errorRules),
    accessRules: guard(store.accessRules),
    errorPages: guard(store.errorPages),
  }
}

function proxyOf(store: Store): Store {
  const { accounts, gateways, tokens, logs, changes, degradation, isUnreachable, refusal, location } = store
  return { accounts, gateways, tokens, logs, changes, degradation, isUnreachable, refusal, location } as Store
}

test('a token that ends while the body of its request is on the way does nothing', async t => {
  const { ask, origin, kept, keepToken } = await startApi(t)
  const rows = [
    ['POST', `/client/v4/accounts/${account}/tokens`, '2\r\n{}\r\n'],
    ['POST', `/client/v4/accounts/${account}/oauth_clients/${other}/rotate_secret`, ''],
    ['POST', '/client/v4/zones/main/access_rules', '2\r\n{}\r\n'],
  ] as const
  for (const [method, path, body] of rows) {
    const { value, token } = await keepToken([
      'API Tokens Write',
      'OAuth Clients Write',
      'Access Rules Write',
    ])
    // From here on it is remembered, and known before the body comes.
    await ask('GET', '/tokens/verify', { token: value })
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    t.after(() => socket.destroy())
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${value}\r\n`
    const ofBody = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'
    socket.write(`${head}${ofBody}Expect: 100-continue\r\n\r\n`)
    const [goOn] = await once(socket, 'data')
    assert.match(String(goOn), /^HTTP\/1\.1 100 /)
    await kept.tokens.remove(account, token.id)
    socket.end(`${body}0\r\n\r\n`)
    const [response] = await once(socket, 'data')
    assert.match(String(response), /^HTTP\/1\.1 401 /, `${method} ${path}`)
  }
})
