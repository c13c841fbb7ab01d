import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readPreview } from '../../../../src/admin/zones/custom-errors/preview-body.ts'
import { CustomErrors } from '../../../../src/errors/custom/custom-errors.ts'
import { previewError } from '../../../../src/errors/custom/preview.ts'
import { anyCharacter } from '../../../help/any-text.ts'
import { thorough } from '../../../help/thorough.ts'
import { startApi } from '../../api.ts'
import { testZones, zoneWith } from '../zones.ts'

const path = '/client/v4/zones/main/error_preview'
const ruleId = '0123456789abcdef0123456789abcdef'
const rule = { content: 'by a rule', contentType: 'text/plain', status: 418, description: null } as const

/** A zone whose first rule is of the API and whose second of the file, with a page; and a rule of the account. */
const custom = new CustomErrors([
  {
    rules: [
      { ...rule, expression: 'error.code == 522', id: ruleId } as typeof rule & { expression: string },
      { ...rule, expression: 'error.code == 521' },
    ],
    pages: { waf_block: '<p>page of the zone ::CLIENT_IP::</p>' },
  },
  { rules: [{ ...rule, expression: 'error.code == 520' }], pages: {} },
])

async function start(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t)
  api.given.custom = custom
  const preview = async (body: unknown) => {
    const { status, json } = await api.ask('POST', path, { body })
    assert.equal(status, 200, JSON.stringify(json.errors))
    return json.result
  }
  return { ...api, preview }
}

test('the default document is in the requested format', async t => {
  const { preview } = await start(t)
  const { status, source, headers, body, ...more } = await preview({ code: 502, accept: 'application/json' })
  assert.deepEqual([status, source, more], [502, 'default', {}])
  assert.equal(headers['Content-Type'], 'application/json; charset=utf-8')
  const document = JSON.parse(body)
  assert.deepEqual([document.error_code, document.zone], [502, 'www.main.test'])
  assert.equal(document.type, 'http://docs.test/errors/502')
  assert.match((await preview({ code: 502, headers: { Accept: ['text/markdown'] } })).body, /^---\n/)
  assert.match((await preview({ code: 502 })).headers['Content-Type'], /^text\/html/)
})

test('the page of a preview names the operator of the zone', async t => {
  const { preview, given } = await start(t)
  const operator = { name: 'Tea', logo: 'https://cdn.test/a.svg', contact: null }
  given.configs = [zoneWith({ errors: { rules: [], pages: {}, operator } })]
  const { body, headers } = await preview({ code: 502 })
  assert.match(body, /<img [^>]*alt="Tea">/)
  assert.match(headers['Content-Security-Policy'], /img-src data: https:\/\/cdn\.test;/)
})

test('the source is named, with the id of a rule that was set by the API', async t => {
  const { preview } = await start(t)
  const by = async (code: number) => {
    const { status, source, rule_id } = await preview({ code })
    return [status, source, rule_id]
  }
  assert.deepEqual(await by(522), [418, 'zone_rule', ruleId])
  assert.deepEqual(await by(521), [418, 'zone_rule', undefined])
  assert.deepEqual(await by(520), [418, 'account_rule', undefined])
  assert.deepEqual(await by(1020), [403, 'zone_page', undefined])
})

test('a rule and a page can be tried', async t => {
  const { preview } = await start(t)
  const draft = {
    expression: 'request.path == "/a" && request.query == "b=1?"',
    content: '::GEO::',
    content_type: 'text/plain',
  }
  const tried = await preview({ code: 522, path: '/a?b=1?', country: 'de', rule: draft })
  assert.deepEqual(
    [tried.status, tried.source, tried.body, tried.rule_id],
    [522, 'draft_rule', 'DE', undefined],
  )
  assert.equal((await preview({ code: 522, path: '/b', rule: draft })).source, 'zone_rule')
  const page = await preview({
    code: 1020,
    ip: '::ffff:192.0.2.7',
    page: { type: 'waf_block', html: '::CLIENT_IP::' },
  })
  assert.deepEqual([page.status, page.source, page.body], [403, 'draft_page', '192.0.2.7'])
})

test('the request is what the body says', async t => {
  const { preview } = await start(t)
  const matches = async (expression: string, request: object) =>
    (await preview({ code: 500, ...request, rule: { expression, content: 'x', content_type: 'text/plain' } }))
      .source === 'draft_rule'
  for (const [expression, request] of [
    ['request.method == "POST"', { method: 'POST' }],
    ['request.host == "shop.example"', { host: 'Shop.Example' }],
    ['request.ip == "2001:db8::1"', { ip: '2001:DB8::1' }],
    ['request.asn == 64496', { asn: 64496 }],
    ['request.headers["x-a"] == ["1", "2"]', { headers: { 'X-A': ['1', '2'] } }],
    ['request.headers["x-a"] == ["1", "2"]', { headers: { 'X-A': '1', 'x-a': '2' } }],
    ['request.headers["accept"] == ["text/html"]', { accept: 'text/html', headers: { accept: '*/*' } }],
  ] as const) {
    assert.equal(await matches(expression, request), true, expression)
    assert.equal(await matches(`!(${expression})`, request), false, expression)
  }
  assert.equal(await matches('request.method == "GET" && request.path == "/" && zone == "main"', {}), true)
})

test('nothing is stored, and nothing is recorded', async t => {
  const { ask, preview, lines } = await start(t)
  const rule = { expression: 'true', content: 'x', content_type: 'text/plain' }
  await preview({ code: 522, rule, page: { type: '500_errors', html: '<p>' } })
  for (const kept of ['error_rules', 'error_pages'])
    assert.deepEqual((await ask('GET', `/client/v4/zones/main/${kept}`)).json.result, [])
  assert.deepEqual(lines, [])
})

test('all mistakes are reported at once, each with its place', async t => {
  const { ask } = await start(t)
  const pointersFor = async (body: unknown) => {
    const { status, json } = await ask('POST', path, { body })
    assert.equal(status, 400)
    return json.errors.map(({ source }: { source: { pointer: string } }) => source.pointer).sort()
  }
  assert.deepEqual(await pointersFor({}), ['/code'])
  const wrong = {
    code: 999,
    accept: 'a\nb',
    host: 'a b',
    method: 'GE T',
    path: 'x',
    headers: { 'a b': 'x', ok: ['x', 5], nul: '\0', none: [] },
    ip: '192.0.2',
    country: 'Germany',
    asn: -1,
    rule: { expression: 'response.code', content: 'x', content_type: 'text/plain', id: ruleId, position: {} },
    page: { type: '404', html: ' ' },
    colour: 'red',
  }
  assert.deepEqual(await pointersFor(wrong), [
    '/accept',
    '/asn',
    '/code',
    '/colour',
    '/country',
    '/headers/a b',
    '/headers/none',
    '/headers/nul',
    '/headers/ok/1',
    '/host',
    '/ip',
    '/method',
    '/page/html',
    '/page/type',
    '/path',
    '/rule/expression',
    '/rule/id',
    '/rule/position',
  ])
  assert.deepEqual(
    await pointersFor({
      code: 500,
      headers: Object.fromEntries(
        Array(101)
          .fill('')
          .map((_, i) => [`h${i}`, 'x']),
      ),
    }),
    ['/headers', '/headers/h100'],
  )
})

test('a page of 1.5 MB can be tried, however it is escaped', async t => {
  const { preview } = await start(t)
  const html = '"'.repeat(1_500_000)
  assert.equal((await preview({ code: 1020, page: { type: 'waf_block', html } })).body.length, html.length)
})

test('any body is refused, or previewed', () => {
  const { zones } = testZones()
  const text = fc.string({ unit: anyCharacter })
  const mostly = (usual: string) =>
    fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: text })
  const members = fc.record(
    {
      code: fc.constantFrom(502, 1020, 1015, 7),
      accept: mostly('text/markdown'),
      host: mostly('a.example'),
      method: mostly('GET'),
      path: mostly('/a?b'),
      headers: fc.dictionary(mostly('x-a'), fc.oneof(mostly('1'), fc.array(mostly('2'))), { maxKeys: 3 }),
      ip: mostly('::1'),
      country: mostly('DE'),
      asn: fc.integer(),
      rule: fc.record({ expression: mostly('true'), content: text, content_type: fc.constant('text/html') }),
      page: fc.record({ type: mostly('waf_block'), html: text }),
    },
    { requiredKeys: ['code'] },
  )
  let good = 0
  fc.assert(
    fc.property(
      fc.oneof({ weight: 9, arbitrary: members }, { weight: 1, arbitrary: fc.jsonValue() }),
      body => {
        const ask = readPreview(body, zoneWith(), zones)
        if (!('code' in ask)) return assert.ok(ask.length > 0)
        good++
        assert.ok(previewError(ask, custom, zones))
      },
    ),
    { numRuns: thorough(3_000, 1_000) },
  )
  assert.ok(good > 30, `${good}`)
})
