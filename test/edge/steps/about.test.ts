import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { errorRows, isRaised } from '../../../src/errors/catalogue/catalogue.ts'
import { Edge, edgeConfig, type EdgeSettings, listenAt, openAccess, recordOf } from '../../help/edge.ts'
import { deadOrigin } from '../../help/origin.ts'
import { ask, connectHttp2 } from '../../help/http2-client.ts'
import { request } from '../../help/raw.ts'

/** Starts an edge that documents errors itself. */
async function startEdge(t: TestContext, settings: EdgeSettings = {}): Promise<Edge> {
  const config = edgeConfig([deadOrigin().url], settings)
  return listenAt(t, new Edge(t, config, { documentation: null }))
}

const json = 'Accept: application/json'

const hosts: readonly (readonly [host: string, code: number, origin: string])[] = [
  ['site.test', 521, 'http://site.test'],
  ['Site.test:8443', 521, 'http://site.test:8443'],
  ['site.test:', 521, 'http://site.test'],
  ['unknown.test:1', 1001, 'http://unknown.test:1'],
  ['192.0.2.1:80', 1003, 'http://192.0.2.1:80'],
  ['[2001:db8::1]', 1003, 'http://[2001:db8::1]'],
  ['[2001:db8::1]:8080', 1003, 'http://[2001:db8::1]:8080'],
  ['a%41.test', 1048, ''],
]

for (const [host, code, origin] of hosts)
  test(`the type of an error at ${host} leads to a page on the host that was asked`, async t => {
    const edge = await startEdge(t)
    const answer = await edge.ask(request('GET /', json).replace('site.test', host))
    const { type, error_code } = recordOf(answer)
    assert.deepEqual([error_code, type], [code, `${origin}/cdn-cgi/error/${code}/about`])
    const path = String(type).slice(origin.length)
    const about = await edge.ask(
      request(`GET ${path}`, json).replace('site.test', origin === '' ? 'site.test' : host),
    )
    assert.equal(about.status, 200)
    assert.equal(JSON.parse(about.text).code, code)
  })

test('a client of HTTP/2 finds the page that the type of an error names', async t => {
  const edge = await startEdge(t, { h2c: true })
  const session = await connectHttp2(t, `http://127.0.0.1:${edge.port}`)
  for (const [authority, code] of [
    ['site.test', 521],
    ['unknown.test:8443', 1001],
  ] as const) {
    const failed = await ask(session, { ':authority': authority, accept: 'application/json' })
    const { type, error_code } = JSON.parse(failed.body.toString())
    assert.equal(error_code, code)
    const { host, pathname } = new URL(type)
    assert.equal(host, authority)
    const about = await ask(session, { ':authority': host, ':path': pathname, accept: 'application/json' })
    assert.equal(about.status, 200)
    assert.equal(JSON.parse(about.body.toString()).code, code)
    const page = await ask(session, { ':authority': host, ':path': pathname, accept: 'text/html' })
    assert.match(String(page.headers['content-type']), /^text\/html/)
    assert.match(page.body.toString(), new RegExp(`${code}`))
  }
})

test('the scheme of the type is that by which the client came to a trusted proxy', async t => {
  const edge = await startEdge(t, { trustedProxies: ['127.0.0.1'] })
  const lines = [json, 'X-Forwarded-For: 192.0.2.7', 'X-Forwarded-Proto: https']
  const { type } = recordOf(await edge.ask(request('GET /', ...lines)))
  assert.equal(type, 'https://site.test/cdn-cgi/error/521/about')
})

test('a request without a host gets a type that is relative to its own', async t => {
  const edge = await startEdge(t)
  const { type } = recordOf(await edge.ask(`GET / HTTP/1.0\r\n${json}\r\n\r\n`))
  assert.equal(type, '/cdn-cgi/error/1003/about')
})

test('the hosts of clients do not make more templates of an error', async t => {
  const edge = await startEdge(t)
  for (const host of ['a.test', 'b.test']) {
    const answer = await edge.ask(request('GET /', json).replace('site.test', host))
    assert.equal(recordOf(answer).type, `http://${host}/cdn-cgi/error/1001/about`)
    assert.equal(answer.field('content-length'), String(answer.body.length))
  }
})

for (const previews of ['on', 'operators', 'off'] as const)
  test(`with errors.previews: ${previews}, every error is explained in each format, to be cached, and counted as no error`, async t => {
    const edge = await startEdge(t, { errors: { previews } })
    const client = await edge.connect()
    let count = 0
    for (const [name, { code }] of Object.entries(errorRows))
      for (const [accept, type] of [
        ['text/html', 'text/html; charset=utf-8'],
        ['text/markdown', 'text/markdown; charset=utf-8'],
        ['text/plain', 'text/plain; charset=utf-8'],
        ['application/json', 'application/json; charset=utf-8'],
      ] as const) {
        await client.send(request(`GET /cdn-cgi/error/${code}/about?from=type`, `Accept: ${accept}`))
        const answer = await client.response()
        count++
        assert.deepEqual([answer.status, answer.field('content-type')], [200, type])
        assert.equal(answer.field('cache-control'), 'public, max-age=3600')
        assert.equal(answer.field('vary'), 'Accept')
        assert.match(answer.field('svc-ray')!, /^[0-9a-f]{16}$/)
        assert.doesNotMatch(answer.text, /href="\.\."/)
        assert.equal(
          /not by this version|"raised":false/.test(answer.text),
          !isRaised(name),
          `${code} ${accept}`,
        )
      }
    const { classes } = edge.metrics.zone('site')
    assert.deepEqual([classes['2xx'].count, classes.preview.count, classes['5xx'].count], [count, 0, 0])
    assert.deepEqual(edge.tallies, [])
    assert.ok(edge.accesses.every(({ status, error, preview }) => status === 200 && !error && !preview))
  })

test('HEAD gets the fields alone, another method and an unknown code the error that they get without the page', async t => {
  const edge = await startEdge(t)
  const client = await edge.connect()
  await client.send(request('GET /cdn-cgi/error/522/about'))
  const whole = await client.response()
  await client.send(request('HEAD /cdn-cgi/error/522/about'))
  const head = await client.response('HEAD')
  assert.deepEqual([head.status, head.field('content-length')], [200, String(whole.body.length)])
  for (const line of [
    'POST /cdn-cgi/error/522/about',
    'GET /cdn-cgi/error/1999/about',
    'GET /cdn-cgi/error//about',
    'GET /cdn-cgi/error/about',
    'GET /cdn-cgi/error/522/about/',
    'GET /cdn-cgi/error/constructor/about',
  ])
    assert.equal((await edge.ask(request(line))).status, 404, line)
})

test('a client that is refused everything else may read about it', async t => {
  const edge = await startEdge(t, { access: { ...openAccess, otherwise: 'deny' } })
  const denied = recordOf(await edge.ask(request('GET /', json)))
  assert.equal(denied.error_code, 1050)
  const { pathname } = new URL(String(denied.type))
  assert.equal((await edge.ask(request(`GET ${pathname}`))).status, 200)
  assert.equal((await edge.ask(request('GET /cdn-cgi/error/522'))).status, 403)
})
