import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slotOf } from '../../../src/store/records/tally.ts'
import { zoneScope } from '../../../src/activity/tally-scopes.ts'
import { hostile } from '../fixtures.ts'
import { openDashboard } from '../site.ts'
import { furnishRules, furnishZone } from './zone.ts'

const api = '/client/v4/zones/main/access_rules'

type Site = Awaited<ReturnType<typeof openDashboard>>

/** Returns the rules that the API has, without their ids. */
async function rulesOf({ ask }: Site) {
  const { result } = (await ask('GET', api)).json
  return result.map(({ id: _, ...rule }: { id: string }) => rule)
}

/** Sets rules that deny these paths, and returns their ids. */
async function denyPaths({ ask }: Site, ...paths: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = []
  for (const path of paths)
    ids.push((await ask('POST', api, { body: { action: 'deny', path: [path] } })).json.result.id)
  return ids
}

const pathsOf = async (site: Site) => (await rulesOf(site)).map(({ path }: { path: string[] }) => path[0])

test('a rule of each kind is created by its own field', async t => {
  const site = await openDashboard(t)
  const { base, submit } = site
  const create = async (fields: Record<string, string>) => {
    const made = await submit(`${base}/zones/main/rules/new`, { action: 'deny', description: '', ...fields })
    assert.equal(made.status, 303, made.text)
    assert.match(
      made.location!,
      /^\/dashboard\/\w+\/zones\/main\/rules\?done=access-rule-created#rule-\w{32}$/,
    )
  }
  await create({ kind: 'ip', ip: '192.0.2.7, 198.51.100.0/24\n2001:db8::/32\n', path: '/not-this' })
  await create({ kind: 'list', list: 'partners', action: 'allow', description: ' Friends ' })
  await create({ kind: 'country', country: 'DE fr', action: 'legal' })
  await create({ kind: 'asn', asn: 'AS64500\n64501' })
  await create({ kind: 'user_agent', user_agent: '*bot, mean*\n', user_agent_missing: 'on' })
  await create({ kind: 'referer', referer: '*.example.com' })
  await create({ kind: 'referer_not', referer_not: 'example.com' })
  await create({ kind: 'path', path: '/a\r\n/b,c' })
  await create({ kind: 'expression', expression: 'request.path\n  == "/x"' })
  const plain = { action: 'deny', description: null }
  assert.deepEqual(await rulesOf(site), [
    { ...plain, ip: ['192.0.2.7', '198.51.100.0/24', '2001:db8::/32'] },
    { ...plain, list: 'partners', action: 'allow', description: 'Friends' },
    { ...plain, country: ['DE', 'FR'], action: 'legal' },
    { ...plain, asn: [64500, 64501] },
    { ...plain, user_agent: ['*bot, mean*', ''] },
    { ...plain, referer: ['*.example.com'] },
    { ...plain, referer_not: ['example.com'] },
    { ...plain, path: ['/a', '/b,c'] },
    { ...plain, expression: 'request.path\n  == "/x"' },
  ])
})

test('a new rule goes where its form says, and is made once', async t => {
  const site = await openDashboard(t)
  const { base } = site
  const [a] = await denyPaths(site, '/a', '/b')
  const path = `${base}/zones/main/rules/new`
  const fields = { action: 'deny', kind: 'path', description: '' }
  const form = await site.get(path)
  assert.equal((await form.submit(path, { ...fields, path: '/first', position: 'first' })).status, 303)
  const again = await form.submit(path, { ...fields, path: '/first', position: 'first' })
  assert.equal(again.status, 412)
  assert.match(again.text, /Somebody else changed this after you loaded it/)
  assert.equal((await again.submit(path, { ...fields, path: '/second', position: a! })).status, 303)
  assert.deepEqual(await pathsOf(site), ['/first', '/a', '/second', '/b'])
})

test('mistakes are shown next to their fields, and those of an expression with the position', async t => {
  const { base, submit, given } = await openDashboard(t)
  const path = `${base}/zones/main/rules/new`
  const fields = { action: 'deny', description: '' }
  const refused = await submit(path, { ...fields, kind: 'ip', ip: '192.0.2.1\nnowhere<b>\n10.0.0.0/99' })
  assert.equal(refused.status, 422)
  const fault = /id="ip-fault">([^<]*)</.exec(refused.body)![1]!
  assert.match(fault, /^nowhere&#60;b&#62;: must be an IP address .* 10\.0\.0\.0\/99: must be/)
  assert.match(refused.body, /<textarea id="ip"[^>]*aria-invalid="true">\n192\.0\.2\.1\nnowhere&#60;b&#62;/)
  assert.match(refused.body, /<option value="ip" selected>/)
  const wrong = await submit(path, { ...fields, kind: 'expression', expression: 'true &&\n\t!request.pth<1' })
  assert.match(wrong.text, /Must be a CEL expression; line 2, column \d+/)
  const [, before, at] = /<pre class="key flaw"[^>]*>([^<]*)<mark>([^<]*)<\/mark>/.exec(wrong.body)!
  const column = Number(/line 2, column (\d+)/.exec(wrong.text)![1])
  assert.equal(before!.length, column - 1)
  assert.equal(`${before}${at}`, ' !request.pth&#60;1'.slice(0, column))
  given.hasGeo = false
  given.lists = []
  const form = await submit(path, { ...fields, kind: 'asn', asn: 'x' })
  assert.match(
    form.body,
    /<option value="asn" selected>From autonomous systems \(ASN\): needs geo\.databases/,
  )
  assert.match(form.body, /<option value="list" disabled>/)
  assert.match(form.body, /id="asn-fault">[^<]*needs geo\.databases/i)
  assert.equal((await submit(path, { ...fields, kind: 'none' })).status, 422)
})

test('rules are shown in their order with those of the file, and how often each decided', async t => {
  const site = await openDashboard(t)
  const { base, get, given, kept, clock } = site
  furnishZone(given, 'words')
  const [id] = await denyPaths(site, '/a')
  await kept.tallies.add([
    {
      kind: 'access_rule',
      scope: zoneScope('main'),
      name: id!,
      slot: slotOf('access_rule', clock.now()),
      count: 1234,
      last: clock.now(),
      occurrences: [],
    },
  ])
  const { text, body } = await get(`${base}/zones/main/rules`)
  const rows = [
    'deny the address is banned settings 0 times',
    'allow path below /healthz words file, rule 1 of all zones 0 times in the file',
    'deny, legal country FR words file, rule 1 0 times in the file',
    'deny path below /a API rule 1 1,234 times last 1 Jan 2026, 00:00 UTC EditDelete…',
    'deny User-Agent words, missing file, rule 2 0 times in the file',
    'deny no rule matches settings of the zone 0 times',
  ]
  assert.ok(text.includes(rows.join(' ')), text)
  assert.match(body, new RegExp(`id="hits-${id}" data-live="10"`))
})

test('a rule is moved by a step or to a place, and never by what is out of date', async t => {
  const site = await openDashboard(t)
  const { base, get } = site
  const [a, b, c] = await denyPaths(site, '/a', '/b', '/c')
  const [list, order] = [`${base}/zones/main/rules`, `${base}/zones/main/rules/order`]
  const move = async (to: string) => (await get(list)).submit(order, { move: to })
  const moved = await move(`up ${b}`)
  assert.deepEqual([moved.status, moved.location], [303, `${list}?done=access-rule-moved#rule-${b}`])
  assert.deepEqual(await pathsOf(site), ['/b', '/a', '/c'])
  await move(`down ${b}`)
  assert.deepEqual(await pathsOf(site), ['/a', '/b', '/c'])
  await move(`1 ${c}`)
  assert.deepEqual(await pathsOf(site), ['/c', '/a', '/b'])
  await move(`3 ${c}`)
  assert.deepEqual(await pathsOf(site), ['/a', '/b', '/c'])
  await move(`up ${a}`)
  assert.deepEqual(await pathsOf(site), ['/a', '/b', '/c'])
  const old = await get(list)
  await site.ask('DELETE', `${api}/${b}`)
  const late = await old.submit(order, { move: `up ${c}` })
  assert.equal(late.status, 412)
  assert.match(late.text, /so nothing was moved/)
  assert.deepEqual(await pathsOf(site), ['/a', '/c'])
  assert.equal((await late.submit(order, { move: `up ${c}` })).status, 303)
  assert.deepEqual(await pathsOf(site), ['/c', '/a'])
  assert.equal((await (await get(list)).submit(order, { move: `up ${b}` })).status, 404)
  assert.equal((await (await get(list)).submit(order, { move: 'away' })).status, 404)
  assert.equal((await get(order)).location, list)
})

test('many rules are on several pages, and each can be moved to any of them', async t => {
  const site = await openDashboard(t)
  const { base, get, submit } = site
  const names = Array.from({ length: 45 }, (_, i) => `/${i + 1}`)
  const ids = await denyPaths(site, ...names)
  const [list, order] = [`${base}/zones/main/rules`, `${base}/zones/main/rules/order`]
  const shown = async (query = '') =>
    [...(await get(`${list}${query}`)).body.matchAll(/<code class="long">(\/\d+)<\/code>/g)].map(
      ([, path]) => path!,
    )
  assert.deepEqual(await shown(), names.slice(0, 20))
  assert.deepEqual(await shown('?page=2'), names.slice(20, 40))
  assert.deepEqual(await shown('?page=3'), names.slice(40))
  // Of a page that is not there any more the last one is shown, and of nonsense the first.
  assert.deepEqual(await shown('?page=9'), names.slice(40))
  for (const page of ['0', '-1', 'x', '1.5'])
    assert.deepEqual(await shown(`?page=${page}`), names.slice(0, 20))
  const { body } = await get(`${list}?page=2`)
  assert.match(body, /rel="prev" href="[^"?]*"/)
  assert.match(body, /rel="next" href="[^"]*\?page=3"/)
  assert.match(body, new RegExp(`data-rule="${ids[20]}" data-place="21"`))
  const move = async (page: number, fields: Record<string, string>) =>
    (await get(`${list}?page=${page}`)).submit(order, fields)
  const up = await move(2, { move: `up ${ids[20]}` })
  assert.equal(up.location, `${list}?done=access-rule-moved#rule-${ids[20]}`)
  const down = await move(1, { move: `down ${ids[20]}` })
  assert.equal(down.location, `${list}?done=access-rule-moved&page=2#rule-${ids[20]}`)
  const far = await move(1, { move: 'by number', from: '1', to: '45' })
  assert.equal(far.location, `${list}?done=access-rule-moved&page=3#rule-${ids[0]}`)
  assert.deepEqual(await pathsOf(site), [...names.slice(1), '/1'])
  await move(3, { move: 'by number', from: ' 45 ', to: '1' })
  assert.deepEqual(await pathsOf(site), names)
  for (const [from, to] of [
    ['0', '1'],
    ['46', '1'],
    ['1', '46'],
    ['', '1'],
    ['1', 'x'],
    ['1.5', '2'],
  ]) {
    const wrong = await move(1, { move: 'by number', from: from!, to: to! })
    assert.equal(wrong.status, 422)
    assert.match(wrong.text, /Both must be numbers from 1 to 45\./)
    if (from !== '')
      assert.ok(wrong.body.includes(`name="from" type="number" autocomplete="off" value="${from}"`))
  }
  assert.deepEqual(await pathsOf(site), names)
  const changed = await submit(`${list}/${ids[44]}`, {
    action: 'allow',
    kind: 'path',
    path: '/45',
    description: '',
  })
  assert.equal(changed.location, `${list}?done=access-rule-changed&page=3#rule-${ids[44]}`)
  assert.match((await changed.follow()).text, /The rule was changed\./)
})

test('a rule is edited, unless somebody else has changed it since', async t => {
  const site = await openDashboard(t)
  const { base, get, submit, ask } = site
  const id = await furnishRules(ask, hostile)
  const path = `${base}/zones/main/rules/${id}`
  const form = await get(path)
  assert.match(form.body, /name="user_agent_missing" type="checkbox" value="on" checked/)
  assert.doesNotMatch(form.body, /name="position"/)
  const fields = { action: 'allow', kind: 'path', path: '/x', description: 'mine' }
  await ask('PUT', `${api}/${id}`, { body: { action: 'deny', path: ['/theirs'], description: 'theirs' } })
  const late = await form.submit(path, fields)
  assert.equal(late.status, 412)
  assert.match(late.body, /id="path-fault">It is now: \/theirs\.</)
  assert.match(late.body, /name="description"[^>]* value="mine"/)
  assert.equal((await late.submit(path, fields)).status, 303)
  assert.deepEqual((await rulesOf(site))[0], { action: 'allow', path: ['/x'], description: 'mine' })
  const refused = await submit(path, { ...fields, path: 'x' })
  assert.equal(refused.status, 422)
  assert.match(refused.body, /id="path-fault">x: must/)
  assert.equal((await get(`${base}/zones/main/rules/${'f'.repeat(32)}`)).status, 404)
})

test('a rule is deleted after a page that says what it did', async t => {
  const site = await openDashboard(t)
  const { base, get, submit } = site
  const [a, b] = await denyPaths(site, '/a', '/b')
  const path = `${base}/zones/main/rules/${a}/delete`
  const page = await get(path)
  assert.match(page.text, /In the last 24 hours these were none\. Does deny Where path below \/a/)
  await site.ask('PUT', `${api}/${b}`, { body: { action: 'allow', path: ['/b'] } })
  const late = await page.submit(path)
  assert.equal(late.status, 412)
  assert.match(late.text, /Somebody else changed this/)
  const gone = await submit(path)
  assert.match((await gone.follow()).text, /The rule was deleted\./)
  assert.deepEqual(await pathsOf(site), ['/b'])
  assert.equal((await get(path)).status, 404)
})

test('a user with read permission sees the rules, and no controls to change them', async t => {
  const site = await openDashboard(t, 'Administrator Read Only')
  const { base, get, visitor } = site
  const [a] = await denyPaths(site, '/a', '/b')
  const list = await get(`${base}/zones/main/rules`)
  assert.match(list.text, /deny path below \/a API rule 1/)
  assert.doesNotMatch(list.body, /Create a rule|Edit|Delete|<form method="post"/)
  for (const page of ['new', 'order', a!, `${a}/delete`]) {
    assert.equal((await get(`${base}/zones/main/rules/${page}`)).status, 404, page)
    assert.equal((await visitor.post(`${base}/zones/main/rules/${page}`, {})).status, 404, page)
  }
})

test('texts of others in rules never become markup', async t => {
  const { base, get, given, ask } = await openDashboard(t)
  furnishZone(given, hostile)
  const id = await furnishRules(ask, hostile)
  for (const page of ['', '/new', `/${id}`, `/${id}/delete`]) {
    const { status, body } = await get(`${base}/zones/main/rules${page}`)
    assert.equal(status, 200)
    assert.ok(!body.includes('<img src=x'), page)
    assert.ok(body.includes('&#60;img src=x'), page)
  }
})
