// What becomes of a request to the management API where the connection, or what stands at its other end, is not as it should be.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { apiFaults } from '../../../../src/errors/catalogue/api-faults.ts'
import { ApiUnreachable, ApiClient, ApiRefusal } from '../../../../src/process/commands/api/api-client.ts'
import { Authority } from '../../../help/certificates.ts'
import { freePort } from '../../../help/free-port.ts'
import { startHttps } from '../../../help/https-server.ts'

const account = '0123456789abcdef0123456789abcdef'
const token = 'svct_SECRET'

interface Seen {
  readonly line: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Handler = (response: ServerResponse, nth: number) => void

/** Starts a server that answers by hand, and a client of it. */
async function start(t: TestContext, handle: Handler) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body })
    handle(response, seen.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { api: new ApiClient({ url, account, token }), seen, server, url }
}

const success = (response: ServerResponse, result: unknown, cursor?: string) =>
  response.setHeader('etag', '"7"').end(
    JSON.stringify({
      success: true,
      errors: [],
      messages: [],
      result,
      ...(cursor === undefined ? {} : { result_info: { cursor } }),
    }),
  )

const storeUnreachable = (response: ServerResponse) =>
  response
    .writeHead(503, { 'retry-after': '0.01' })
    .end(JSON.stringify({ success: false, errors: [{ code: 10503, message: 'away' }], result: null }))

const refused = (response: ServerResponse) =>
  response
    .writeHead(403)
    .end(JSON.stringify({ success: false, errors: [{ code: 9109, message: 'no' }], result: null }))

const breaks = (response: ServerResponse) => response.socket!.destroy()

/** Breaks off in the middle of the answer. */
const breaksLate = (response: ServerResponse) => {
  response.writeHead(200, { 'content-length': '1000' }).write('{"success":true,')
  setImmediate(() => response.socket?.destroy())
}

async function failureOf(asked: Promise<unknown>): Promise<Error> {
  return asked.then(
    () => assert.fail('it was not refused'),
    cause => cause,
  )
}

test('a request has the token, the account, the body as JSON and the ETag that it is for', async t => {
  const { api, seen } = await start(t, response => success(response, { a: 1 }))
  const answer = await api.ask('PATCH', '/things/1', { body: { b: 2 }, ifMatch: '"6"' })
  assert.deepEqual(answer, { result: { a: 1 }, cursor: null, etag: '"7"' })
  const [{ line, headers, body }] = seen as [Seen]
  assert.equal(line, `PATCH /client/v4/accounts/${account}/things/1`)
  assert.equal(body, '{"b":2}')
  assert.deepEqual(
    [headers.authorization, headers['content-type'], headers['if-match'], headers['idempotency-key']],
    [`Bearer ${token}`, 'application/json', '"6"', undefined],
  )
})

for (const [name, broken] of [
  ['before the answer', breaks],
  ['within the answer', breaksLate],
] as const) {
  test(`what breaks off ${name} is sent once more under the same Idempotency-Key`, async t => {
    const { api, seen } = await start(t, (response, nth) =>
      nth === 1 ? broken(response) : success(response, 'made'),
    )
    assert.equal((await api.ask('POST', '/things', { body: {}, once: true })).result, 'made')
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    assert.equal(keys.length, 2)
    assert.match(String(keys[0]), /^[\x21-\x7e]{1,255}$/)
    assert.equal(keys[0], keys[1])
  })
}

test('a write that the store did not confirm is retried with its key until its response comes', async t => {
  const { api, seen } = await start(t, (response, nth) =>
    nth < 3 ? storeUnreachable(response) : success(response, 'made'),
  )
  assert.equal((await api.ask('POST', '/things', { once: true })).result, 'made')
  assert.equal(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size, 1)
  assert.equal(seen.length, 3)
})

test('a store that stays unreachable is reported in the end, or at once for requests without a key', async t => {
  const { api, seen } = await start(t, storeUnreachable)
  assert.ok((await failureOf(api.ask('POST', '/things', { once: true }))) instanceof ApiRefusal)
  assert.equal(seen.length, 4)
  assert.ok((await failureOf(api.ask('PATCH', '/things/1'))) instanceof ApiRefusal)
  assert.equal(seen.length, 5)
})

test('no request is sent a third time, and the doubt is reported', async t => {
  const { api, seen, url } = await start(t, breaks)
  const failure = await failureOf(api.ask('POST', '/things', { once: true }))
  assert.ok(failure instanceof ApiUnreachable)
  assert.equal(failure.message, `${url} closed the connection; the change may or may not have been made`)
  assert.equal(seen.length, 2)
  assert.notEqual(seen[0]!.headers['idempotency-key'], undefined)
})

for (const [name, first] of [
  ['broke off', breaks],
  ['was not confirmed', storeUnreachable],
] as const)
  test(`the doubt about an attempt that ${name} is reported if the next finds no gateway`, async t => {
    const { api, seen, server, url } = await start(t, response => {
      server.close()
      first(response)
      response.once('close', () => server.closeAllConnections())
    })
    const failure = await failureOf(api.ask('POST', '/things', { once: true }))
    assert.equal(
      failure.message,
      `${url} refuses connections; is the gateway running?; the change may or may not have been made`,
    )
    assert.equal(seen.length, 1)
  })

const storeBusy = (response: ServerResponse) =>
  response.writeHead(503, { 'retry-after': '0.01' }).end(
    JSON.stringify({
      success: false,
      errors: [{ code: 10503, message: apiFaults.store_busy.sentence }],
      result: null,
    }),
  )

const mistakeOf = async (asked: Promise<unknown>) =>
  ((await failureOf(asked)) as ApiRefusal).mistakes[0]!.message

test('a store that is busy in the end does not take the doubt about an earlier attempt away', async t => {
  for (const first of [breaks, storeUnreachable]) {
    const { api } = await start(t, (response, nth) => (nth === 1 ? first(response) : storeBusy(response)))
    assert.equal(
      await mistakeOf(api.ask('POST', '/things', { once: true })),
      'The store is busy: retry later; the change may or may not have been made',
    )
  }
})

test('any refusal behind an attempt in doubt keeps the doubt', async t => {
  const { api } = await start(t, (response, nth) => (nth === 1 ? breaks(response) : refused(response)))
  assert.equal(
    await mistakeOf(api.ask('POST', '/things', { once: true })),
    'no; the change may or may not have been made',
  )
})

test('a refusal that has the doubt itself does not state it twice', async t => {
  const { api } = await start(t, storeUnreachable)
  assert.equal(await mistakeOf(api.ask('POST', '/things', { once: true })), 'away')
})

test('a store that was only ever busy has changed nothing, and refusals of reads have no doubt', async t => {
  const busy = await start(t, storeBusy)
  assert.equal(
    await mistakeOf(busy.api.ask('POST', '/things', { once: true })),
    apiFaults.store_busy.sentence,
  )
  const { api } = await start(t, (response, nth) => (nth === 1 ? breaks(response) : refused(response)))
  assert.equal(await mistakeOf(api.ask('GET', '/things')), 'no')
})

test('a change without an Idempotency-Key is sent once; a read is retried', async t => {
  const { api, seen } = await start(t, breaks)
  for (const method of ['PATCH', 'DELETE', 'POST', 'GET'])
    assert.ok((await failureOf(api.ask(method, '/things'))) instanceof ApiUnreachable)
  assert.deepEqual(
    seen.map(({ line }) => line.split(' ')[0]),
    ['PATCH', 'DELETE', 'POST', 'GET', 'GET'],
  )
})

test('a change whose response cannot be read is reported with the doubt', async t => {
  const { api, url } = await start(t, response => void response.socket!.end('no HTTP\r\n\r\n'))
  const { message } = await failureOf(api.ask('POST', '/things'))
  assert.equal(
    message,
    `${url} is unreachable (HPE_INVALID_CONSTANT); the change may or may not have been made`,
  )
})

test('a response without an end is cut off and not read again, and a change is reported with the doubt', async t => {
  const cut: Promise<unknown>[] = []
  const { api, seen, url } = await start(t, response => {
    cut.push(once(response, 'close'))
    const part = Buffer.alloc(2 ** 20, ' ')
    const write = () => {
      while (!response.destroyed && response.write(part));
    }
    response.on('drain', write)
    write()
  })
  const { message } = await failureOf(api.ask('GET', '/things'))
  assert.equal(message, `${url} responds with more than 128 MiB`)
  const change = await failureOf(api.ask('POST', '/things', { once: true }))
  assert.equal(
    change.message,
    `${url} responds with more than 128 MiB; the change may or may not have been made`,
  )
  await Promise.all(cut)
  assert.equal(seen.length, 2)
})

test('a refused connection is reported with the address, and never with the token', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const api = new ApiClient({ url, account, token })
  const { message } = await failureOf(api.ask('POST', '/things', { once: true }))
  assert.equal(message, `${url} refuses connections; is the gateway running?`)
})

test('a refusal has the status and every error of the envelope', async t => {
  const errors = [
    { code: 10001, message: 'a must be b', source: { pointer: '/a' } },
    { code: 10002, message: 'c is required' },
  ]
  const { api } = await start(t, response =>
    response.writeHead(400).end(JSON.stringify({ success: false, errors, messages: [], result: null })),
  )
  const refusal = await failureOf(api.ask('GET', '/things'))
  assert.ok(refusal instanceof ApiRefusal)
  assert.equal(refusal.status, 400)
  assert.deepEqual(refusal.mistakes, [
    { code: 10001, message: 'a must be b', pointer: '/a' },
    { code: 10002, message: 'c is required', pointer: null },
  ])
})

test('a certificate of an unknown authority is refused, and gets no token', async t => {
  const seen: unknown[] = []
  const { port } = await startHttps(t, new Authority().issue(['127.0.0.1']), request => seen.push(request))
  const url = `https://127.0.0.1:${port}`
  const { message } = await failureOf(new ApiClient({ url, account, token }).ask('POST', '/things'))
  assert.equal(message, `${url} is unreachable (UNABLE_TO_VERIFY_LEAF_SIGNATURE)`)
  assert.deepEqual(seen, [])
})

const ofModels = JSON.stringify({
  success: false,
  errors: [{ code: 7003, message: 'This path is not a route of an AI gateway' }],
  messages: [],
  result: null,
  error: { message: 'This path is not a route of an AI gateway', type: 'not_found', code: 404 },
})

const strangers: readonly [name: string, status: number, headers: Record<string, string>, body: string][] = [
  ['a page', 404, {}, '<h1>Not found</h1>'],
  ['JSON of another kind', 200, {}, '[1]'],
  ['null', 200, {}, 'null'],
  ['nothing', 204, {}, ''],
  ['a refusal where models are called', 404, {}, ofModels],
  ['an error record', 521, {}, '{"status":521,"error_code":521,"error_name":"origin_down"}'],
  ['a redirection', 302, { location: '/elsewhere' }, ''],
  ['another protocol', 101, { connection: 'upgrade', upgrade: 'other' }, ''],
]

for (const [name, status, headers, body] of strangers) {
  test(`${name} is not a response of the API, and is not followed`, async t => {
    const { api, seen, url } = await start(t, response => response.writeHead(status, headers).end(body))
    const failure = await failureOf(api.ask('GET', '/things'))
    assert.ok(failure instanceof ApiUnreachable)
    assert.ok(failure.message.startsWith(`${url} responds with ${status}, but not as the management API`))
    assert.ok(failure.message.endsWith('; is it the address of the admin listener?'))
    assert.equal(seen.length, 1)
  })
}

test('errors of any shape are read', async t => {
  const odd = [null, 7, {}, { source: null }, { source: { pointer: 7 } }]
  let errors: unknown = odd
  const { api } = await start(t, response => response.end(JSON.stringify({ success: false, errors })))
  const first = await failureOf(api.ask('GET', '/things'))
  assert.ok(first instanceof ApiRefusal)
  assert.deepEqual([first.mistakes.length, first.mistakes[4]!.pointer], [odd.length, null])
  errors = 'none'
  const second = await failureOf(api.ask('GET', '/things'))
  assert.ok(second instanceof ApiRefusal)
  assert.equal(second.mistakes.length, 1)
})

test('a list is followed to its end, with its filters', async t => {
  const pages = [Array(100).fill('a'), Array(100).fill('b'), ['c']]
  const { api, seen } = await start(t, (response, nth) =>
    success(response, pages[nth - 1], ['first', 'second'][nth - 1]),
  )
  const items = await api.all('/things', { name: 'x y' })
  assert.deepEqual([items.length, items[0], items.at(-1)], [201, 'a', 'c'])
  assert.match(seen[0]!.line, /\/things\?name=x\+y&per_page=100$/)
  assert.match(seen[2]!.line, /\/things\?name=x\+y&per_page=100&cursor=second$/)
  assert.equal(seen.length, 3)
})
