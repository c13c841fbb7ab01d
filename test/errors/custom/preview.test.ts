import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import { CustomErrors } from '../../../src/errors/custom/custom-errors.ts'
import { type Preview, type PreviewAsk, previewError } from '../../../src/errors/custom/preview.ts'
import { errorRule as rule } from '../../help/custom-errors.ts'

const options = { documentation: 'http://127.0.0.1/errors' }
const none = new CustomErrors([])

function preview(ask: Partial<PreviewAsk>, custom = none): Preview {
  return previewError({ code: 521, accept: null, host: 'site.test', zone: 'site', ...ask }, custom, options)!
}

const fieldOf = ({ headers }: Preview, name: string) => headers.find(([known]) => known === name)?.[1]

test('every error of the catalogue can be previewed, and nothing else', () => {
  for (const name of Object.keys(errorRows) as ErrorName[]) {
    const { code, status } = errorRows[name]
    const { body, ...shown } = preview({ code, accept: 'application/json' })
    assert.equal(shown.status, status)
    assert.deepEqual([shown.source, shown.matched], ['default', null])
    assert.equal(JSON.parse(body).error_name, name)
  }
  for (const code of [0, 999, 1046, -1, 521.5, Number.NaN])
    assert.equal(previewError({ code, accept: null, host: '', zone: '' }, none, options), null)
})

test('a preview shows what is in effect, by precedence', () => {
  const forAgents = rule({
    expression: 'request.headers[?"accept"].orValue([]) == ["application/json"]',
    content: '{"é":"::RAY_ID::"}',
    contentType: 'application/json',
    status: 503,
  })
  const custom = new CustomErrors([
    { rules: [rule({ expression: 'false' }), forAgents], pages: {} },
    { rules: [], pages: { '500_errors': 'page of ::CLIENT_IP::' } },
  ])
  const agents = preview({ accept: 'application/json' }, custom)
  assert.deepEqual([agents.status, agents.source, agents.matched], [503, 'zone_rule', 1])
  assert.equal(agents.rule, forAgents)
  assert.equal(agents.body, `{"é":"${fieldOf(agents, 'svc-ray')}"}`)
  assert.equal(fieldOf(agents, 'Content-Length'), String(Buffer.byteLength(agents.body)))
  assert.equal(fieldOf(agents, 'Retry-After'), '120')
  const browsers = preview({ accept: 'text/html' }, custom)
  assert.deepEqual([browsers.status, browsers.source, browsers.matched], [521, 'account_page', null])
  assert.equal(browsers.body, 'page of 192.0.2.1')
  assert.equal(preview({ code: 500 }, custom).source, 'default')
})

test('a rule sees the request that is described', () => {
  const expression = [
    'zone == "site" && request.host == "site.test" && request.method == "POST" && request.path == "/a"',
    'request.ip == "2001:db8::1" && request.country == "NZ" && request.asn == 64496',
    'request.headers["x-a"] == ["1", "2"] && request.headers["accept"] == ["a/b"]',
  ].join(' && ')
  const custom = new CustomErrors([
    { rules: [rule({ expression, content: '::GEO:: ::CLIENT_IP::' })], pages: {} },
  ])
  const headers = new Map([['x-a', ['1', '2']]])
  const facts = { method: 'POST', path: '/a', ip: '2001:db8::1', country: 'NZ', asn: 64496, headers }
  assert.equal(preview({ accept: 'a/b', facts }, custom).body, 'NZ 2001:db8::1')
  assert.equal(preview({ accept: 'a/c', facts }, custom).source, 'default')
  assert.equal(headers.size, 1)
})

test('a draft of a rule is evaluated first, and falls through where it does not match', () => {
  const custom = new CustomErrors([{ rules: [rule({ content: 'kept' })], pages: {} }])
  const matching = preview({ rule: rule({ content: 'draft', status: 418 }) }, custom)
  assert.deepEqual(
    [matching.body, matching.status, matching.source, matching.matched, matching.rule],
    ['draft', 418, 'draft_rule', null, null],
  )
  const other = preview({ rule: rule({ expression: 'error.code == 1' }) }, custom)
  assert.deepEqual([other.body, other.source, other.matched], ['kept', 'account_rule', 0])
  assert.equal(preview({ rule: rule({ expression: '(' }) }, custom).body, 'kept')
})

test('a draft of a page replaces the one of the zone', () => {
  const draft = { type: '1000_errors', html: 'draft::SVC_ERROR_500S_BOX::' } as const
  const told = (code: number, custom: CustomErrors) => {
    const { body, source } = preview({ code, page: draft }, custom)
    return [body.startsWith('<!doctype') ? 'record' : body, source]
  }
  const account = { rules: [], pages: { '1000_errors': 'account', ip_block: 'account' } }
  const zone = { rules: [], pages: { '1000_errors': 'old', ip_block: 'specific' } }
  const bare = { rules: [], pages: {} }
  assert.deepEqual(told(1000, none), ['draft', 'draft_page'])
  assert.deepEqual(told(521, none), ['record', 'default'])
  assert.deepEqual(told(1001, none), ['record', 'default'])
  assert.deepEqual(told(1000, new CustomErrors([zone, account])), ['draft', 'draft_page'])
  assert.deepEqual(told(1006, new CustomErrors([zone, account])), ['specific', 'zone_page'])
  assert.deepEqual(told(1006, new CustomErrors([bare, account])), ['draft', 'draft_page'])
  assert.deepEqual(told(1006, new CustomErrors([account])), ['draft', 'draft_page'])
  assert.deepEqual(told(1006, new CustomErrors([zone, bare, account])), ['specific', 'zone_page'])
  assert.deepEqual(told(1000, new CustomErrors([])), ['draft', 'draft_page'])
  const ruled = { rules: [rule({})], pages: {} }
  assert.deepEqual(told(1000, new CustomErrors([bare, ruled])), ['custom', 'account_rule'])
})
