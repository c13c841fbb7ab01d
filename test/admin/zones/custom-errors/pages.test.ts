import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorPageTypes } from '../../../../src/config/model/custom-errors-config.ts'
import { zoneOwner } from '../../../../src/store/records/zone-lists.ts'
import { account } from '../../../tokens/token-with.ts'
import { startApi } from '../../api.ts'
import { meet } from '../../../help/meet.ts'

const path = '/client/v4/zones/main/error_pages'
const asHtml = { 'content-type': 'text/html; charset=utf-8' }
const html = '<!doctype html><title>Sorry — ::RAY_ID::</title>'
const size = Buffer.byteLength(html)

async function start(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t)
  const put = (type: string, body: unknown, headers: Record<string, string> = asHtml) =>
    api.ask('PUT', `${path}/${type}`, { body, headers })
  return { ...api, put }
}

test('a page is set, shown, listed without its HTML, replaced and deleted', async t => {
  const { ask, put, clock } = await start(t)
  assert.deepEqual((await ask('GET', path)).json.result, [])
  const set = await put('waf_block', html)
  const shown = { type: 'waf_block', size, modified_at: '2026-01-01T00:00:00.000Z' }
  assert.deepEqual([set.status, set.json.result], [200, shown])
  assert.deepEqual((await ask('GET', `${path}/waf_block`)).json.result, { ...shown, html })
  await put('500_errors', '<p>x')
  const list = (await ask('GET', path)).json
  assert.deepEqual([list.result.length, list.result[1], list.result_info.total_count], [2, shown, 2])
  clock.advance(1_000)
  const again = await put('waf_block', '<p>y')
  assert.deepEqual(again.json.result, { type: 'waf_block', size: 4, modified_at: '2026-01-01T00:00:01.000Z' })
  const gone = await ask('DELETE', `${path}/waf_block`)
  assert.deepEqual([gone.status, gone.json.result], [200, { type: 'waf_block' }])
  for (const method of ['GET', 'DELETE'])
    assert.equal((await ask(method, `${path}/waf_block`)).status, 404, method)
})

test('a page is replaced and deleted only as it was seen, where If-Match says so', async t => {
  const { ask, put } = await start(t)
  const one = `${path}/waf_block`
  const change = (tag: string) => put('waf_block', '<p>z', { ...asHtml, 'if-match': tag })
  const remove = (tag: string) => ask('DELETE', one, { headers: { 'if-match': tag } })
  assert.equal((await change('"1"')).status, 412)
  const first = (await put('waf_block', '<p>x')).headers.get('etag')!
  assert.equal((await ask('GET', one)).headers.get('etag'), first)
  // Within the same millisecond, and of one length.
  const second = (await put('waf_block', '<p>y')).headers.get('etag')!
  assert.notEqual(second, first)
  for (const refused of [await change(first), await remove(first)]) {
    assert.deepEqual([refused.status, refused.headers.get('etag')], [412, second])
  }
  assert.equal((await ask('GET', one)).json.result.html, '<p>y')
  const third = await change(second)
  assert.equal(third.status, 200)
  assert.equal((await remove('none')).status, 400)
  assert.equal((await remove(third.headers.get('etag')!)).status, 200)
  assert.equal((await remove(first)).status, 404)
})

test('a page is made only where there is none, where If-None-Match says so', async t => {
  const { ask, put } = await start(t)
  const make = (text: string) => put('waf_block', text, { ...asHtml, 'if-none-match': '*' })
  const made = await Promise.all([make('<p>x'), make('<p>y')])
  assert.deepEqual(made.map(({ status }) => status).sort(), [200, 412])
  const { json, headers } = await ask('GET', `${path}/waf_block`)
  assert.equal(json.result.html, made[0]!.status === 200 ? '<p>x' : '<p>y')
  assert.equal((await make('<p>z')).headers.get('etag'), headers.get('etag'))
  assert.equal((await put('waf_block', '<p>z', { ...asHtml, 'if-none-match': 'none' })).status, 400)
})

test('every type of page can be set, and no other', async t => {
  const { ask, put } = await start(t)
  for (const type of errorPageTypes) assert.equal((await put(type, html)).status, 200, type)
  assert.deepEqual(
    (await ask('GET', path)).json.result.map(({ type }: { type: string }) => type),
    errorPageTypes,
  )
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const body = method === 'PUT' ? { body: html, headers: asHtml } : {}
    const { status, json } = await ask(method, `${path}/404_errors`, body)
    assert.equal(status, 404)
    for (const type of errorPageTypes) assert.ok(json.errors[0].message.includes(type), type)
  }
})

test('a page has at most 1.5 MB, to the byte', async t => {
  const { ask, put } = await start(t)
  assert.equal((await put('500_errors', 'x'.repeat(1_500_000))).json.result.size, 1_500_000)
  const { status, json } = await put('500_errors', `${'x'.repeat(1_499_999)}é`)
  assert.deepEqual([status, json.errors[0].code], [413, 6005])
  assert.equal((await ask('GET', `${path}/500_errors`)).json.result.html.length, 1_500_000)
})

test('a page is HTML, called so, in UTF-8, and not blank', async t => {
  const { ask, put } = await start(t)
  for (const [body, type, status, code] of [
    [html, 'application/json', 415, 6004],
    [html, 'text/html; charset=iso-8859-1', 415, 6004],
    [html, 'text/htmlx', 415, 6004],
    [Buffer.from([0x3c, 0x70, 0x3e, 0xff]), 'text/html', 400, 6003],
    ['', 'text/html', 400, 10001],
    [' \n', 'text/html', 400, 10001],
    ['::RAY_ID::'.repeat(1001), 'text/html', 400, 10001],
  ] as const) {
    const { json, ...reply } = await put('500_errors', body, { 'content-type': type })
    assert.deepEqual([reply.status, json.errors[0].code], [status, code], `${body} ${type}`)
  }
  assert.deepEqual((await ask('GET', path)).json.result, [])
  for (const type of ['text/html', 'Text/HTML;charset="UTF-8"'])
    assert.equal((await put('500_errors', html, { 'content-type': type })).status, 200, type)
})

test('pages set at the same time are all kept, one for each type', async t => {
  const { ask, put, kept } = await start(t)
  meet(t, kept.errorPages, 'get', 12)
  const pages = Array.from({ length: 12 }, (_, i) => put(errorPageTypes[i % 6]!, `<p>${i}`))
  assert.deepEqual([...new Set((await Promise.all(pages)).map(({ status }) => status))], [200])
  assert.equal((await ask('GET', path)).json.result.length, 6)
})

test('each write is recorded for the account of the zone, never with the page', async t => {
  const { ask, put, kept, lines } = await start(t)
  await put('waf_block', html)
  await put('waf_block', '<p>')
  await ask('DELETE', `${path}/waf_block`)
  const { items } = await kept.audit.list(account, {
    since: null,
    before: null,
    descending: false,
    offset: 0,
    limit: 9,
  })
  assert.deepEqual(
    items.map(({ action, resourceKind, resource, changed }) => [action, resourceKind, resource, changed]),
    [
      ['create', 'error_page', 'main/waf_block', ['html']],
      ['update', 'error_page', 'main/waf_block', ['html']],
      ['delete', 'error_page', 'main/waf_block', []],
    ],
  )
  assert.ok(!JSON.stringify([items, lines]).includes('doctype'))
  assert.equal(await kept.errorPages.get(zoneOwner, 'main/waf_block'), null)
})
