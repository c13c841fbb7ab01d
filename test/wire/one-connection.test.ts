// Requests that share a connection: each is answered as if it had come alone, whatever went before it and however that ended.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { RateLimitConfig } from '../../src/config/model/limit-config.ts'
import { type Edge, openAccess, startEdge, zoneTo } from '../help/edge.ts'
import { deadOrigin, ok, type Respond, startResponder } from '../help/origin.ts'
import { chunks, type Message, post, request, type Wire } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'

const json = 'Accept: application/json'

const to = (host: string, bytes: string) => bytes.replace('Host: site.test', `Host: ${host}`)
const chunked = (target: string, ...texts: string[]) =>
  `${request(`POST ${target}`, json, 'Transfer-Encoding: chunked')}${chunks(...texts)}0\r\n\r\n`

/** What may stand before or behind what on a connection. */
const requests: Readonly<Record<string, string>> = {
  'a GET': request('GET /a', json),
  'a GET of another zone': to('other.test', request('GET /b', json)),
  'the same, in capitals and with its port': to('OTHER.test:80', request('GET /b', json)),
  'a HEAD': request('HEAD /c', json),
  'a POST': post('/d', 'body of d', json),
  'a POST in chunks': chunked('/e', 'body', ' of e'),
  'a POST to another zone': to('other.test', post('/f', 'body of f', json)),
  'a large POST': post('/g', 'x'.repeat(100_000), json),
  'what another zone allows': to('other.test', request('GET /admin', json)),
  'what the access rules deny': request('GET /admin', json),
  'a HEAD that they deny': request('HEAD /admin', json),
  'a POST that they deny': post('/admin', 'GET /smuggled HTTP/1.1\r\nHost: site.test\r\n\r\n', json),
  'what is over a limit': request('GET /limited', json),
  'a POST over a limit': post('/limited', 'body', json),
  'a body that is too large': post('/tiny', 'more than ten bytes', json),
  'chunks that are too large': chunked('/tiny', 'more', ' than ten bytes'),
  'a host that nobody serves': to('nobody.test', request('GET /', json)),
  'a POST to a host that nobody serves': to('nobody.test', post('/', 'body', json)),
  'an address for a host': to('127.0.0.1', request('GET /', json)),
  'a path that is read in two ways': request('GET /admin%2f../limited', json),
  'a preview of an error': request('GET /cdn-cgi/error/522', json),
  'an origin that is dead': to('dead.test', request('GET /', json)),
  'a POST to an origin that is dead': to('dead.test', post('/', 'body', json)),
  'an answer without a body': request('GET /204', json),
  'a redirect for the client': request('GET /see', json),
  'a redirect that is followed': request('GET /follow/see', json),
  'a POST that becomes a GET': post('/follow/see', 'GET /smuggled HTTP/1.1\r\n\r\n', json),
  'chunks that become a GET': chunked('/follow/see', 'GET /smuggled', ' HTTP/1.1\r\n\r\n'),
  'a large POST that becomes a GET': post('/follow/see', 'x'.repeat(100_000), json),
  'a POST that stays one': post('/follow/stay', 'body', json),
  'redirects without end': post('/follow/round/see', 'body', json),
}

/** Tells by whom and for what it was asked. */
const echo =
  (name: string): Respond =>
  ({ target, startLine, text, lines }) => {
    if (target === '/204') return 'HTTP/1.1 204 No Content\r\n\r\n'
    const redirect = /^(\/follow)?(\/round)?\/(see|stay)$/.exec(target)
    if (redirect !== null) {
      const [, within = '', round = '', kind] = redirect
      const status = kind === 'see' ? '303 See Other' : '307 Temporary'
      const location = round === '' ? `${within}/there` : target
      return `HTTP/1.1 ${status}\r\nLocation: ${location}\r\nContent-Length: 4\r\n\r\ngone`
    }
    const host = lines.find(line => line.startsWith('Host:'))
    return ok(startLine.startsWith('HEAD') ? '' : `${name} ${startLine} ${host} ${text}`)
  }

async function start(t: TestContext): Promise<Edge> {
  const site = await startResponder(t, echo('site'))
  const other = await startResponder(t, echo('other'))
  const limited: RateLimitConfig = {
    name: 'limited',
    limit: 1,
    period: 3_600_000,
    key: [{ by: 'address' }],
    when: 'request.path == "/limited"',
    action: 'block',
  }
  const [route] = zoneTo([site.url]).routes
  const edge = await startEdge(t, [site.url], {
    zone: {
      routes: [
        { ...route!, path: '/follow', redirects: 3 },
        { ...route!, path: '/tiny', bodyLimit: 10 },
        route!,
      ],
      access: {
        ...openAccess,
        rules: [{ action: 'deny', condition: { kind: 'path', prefixes: ['/admin'] }, description: null }],
      },
      rateLimits: [limited],
    },
    zones: [
      zoneTo([other.url], { zone: { name: 'other', hosts: ['other.test'] } }),
      zoneTo([deadOrigin().url], { zone: { name: 'dead', hosts: ['dead.test'] } }),
    ],
  })
  await edge.ask(request('GET /limited'))
  return edge
}

/** Returns what a client makes of an answer: all but what no two answers share. */
function told(answer: Message): unknown {
  const isOurs = answer.field('svc-ray') !== null && answer.field('content-type')?.includes('json')
  const { error_code: code = null, zone = null } = isOurs && answer.text !== '' ? JSON.parse(answer.text) : {}
  const text = code === null ? answer.text : { code, zone }
  return [answer.startLine, text, answer.field('location'), answer.field('connection')]
}

const methodOf = (bytes: string) => /^[A-Z]+/.exec(bytes)![0]

/** Asks on one connection, each request behind the answer to the one before or all at once, until one answer ends it. */
async function askInTurn(client: Wire, all: readonly string[], isPipelined: boolean): Promise<unknown[]> {
  const answers: unknown[] = []
  if (isPipelined) void client.send(all.join(''))
  for (const bytes of all) {
    if (!isPipelined) await client.send(bytes)
    const answer = await client.response(methodOf(bytes))
    answers.push(told(answer))
    if (answer.field('connection') === 'close') return answers
  }
  assert.equal(client.unread, '', 'nothing strays behind the last answer')
  return answers
}

test('a request gets the same response as if it were alone, whatever came before it on its connection', async t => {
  const edge = await start(t)
  const alone = new Map<string, unknown>()
  for (const [name, bytes] of Object.entries(requests)) alone.set(name, told(await edge.ask(bytes)))
  // What is compared differs: by zone, and by what became of it.
  assert.ok(new Set([...alone.values()].map(answer => JSON.stringify(answer))).size >= 22)
  const names = Object.keys(requests)
  const check = async (row: readonly string[], isPipelined: boolean) => {
    const client = await edge.connect()
    const answers = await askInTurn(
      client,
      row.map(name => requests[name]!),
      isPipelined,
    )
    client.leave()
    assert.deepEqual(
      answers,
      row.slice(0, answers.length).map(name => alone.get(name)),
    )
  }
  for (const name of names) {
    await check([name, 'a GET of another zone'], false)
    await check([name, 'a POST'], true)
  }
  const rows = fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 8 })
  await fc.assert(fc.asyncProperty(rows, fc.boolean(), check), { numRuns: thorough(100, 30) })
})
