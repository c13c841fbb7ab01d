import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditActions, auditKinds } from '../../../src/admin/audit/schemas.ts'
import * as words from '../../../src/dashboard/audit/kinds.ts'
import type { AuditEntry } from '../../../src/store/records/records.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { hostile } from '../fixtures.ts'
import { Visitor } from '../../sign-in/site.ts'
import { bodyOfClient } from '../../admin/oauth-clients/client-bodies.ts'
import { furnishZone } from '../zones/zone.ts'
import { auditEntry } from '../../store/contract-specimens.ts'
import { openDashboard, password } from '../site.ts'

type Site = Awaited<ReturnType<typeof openDashboard>>

test('each action and kind of the API has a word', () => {
  const names = (all: readonly (readonly [string, string])[]) => all.map(([name]) => name)
  assert.deepEqual(names(words.auditActions), auditActions)
  assert.deepEqual(names(words.auditKinds), auditKinds)
})

test('the log says who did what, from where and by what, and nothing in it runs', async t => {
  const site = await openDashboard(t)
  const { get, base, submit, user, ask } = site
  await ask('PUT', '/client/v4/zones/main/error_pages/ip_block', {
    body: '<p>',
    headers: { 'content-type': 'text/html' },
  })
  await submit(`${base}/members/new`, { email: 'new@example.com' })
  await keep(site, [
    {
      actor: 'command line',
      address: 'command line',
      action: 'create',
      resource: hostile,
      changed: [hostile],
    },
    { app: { user: user.id, email: 'a@example.com', client: 'c', clientName: hostile }, resource: 'x' },
  ])
  const page = await get(`${base}/audit`)
  assert.equal(page.status, 200)
  assert.match(page.text, /UTC a token from 127\.0\.0\.1 Created: Error page main\/ip_block html/)
  assert.match(page.text, /When Who What Changed Ray/)
  assert.match(page.text, /Command line Created: Gateway|Command line .*Created: API token/)
  assert.match(page.text, /a@example\.com by ">/)
  assert.ok(!page.body.includes(hostile))
})

test('the audit log shows sign-ins, failed sign-ins and sign-outs, with people told apart from tokens', async t => {
  const site = await openDashboard(t)
  const { get, base, user, origin, people, kept } = site
  const browser = new Visitor(origin)
  const page = await browser.get('/auth/sign-in')
  const failed = await page.submit('/auth/sign-in', { email: user.email, password: 'wrong' })
  assert.equal(failed.status, 403)
  await people.close()
  assert.equal((await failed.submit('/auth/sign-in', { email: user.email, password })).status, 303)
  const { email } = user
  await (await browser.get('/auth/sign-out')).submit('/auth/sign-out')
  const shown = await get(`${base}/audit`)
  const inOrder = [
    `${email} from 127.0.0.1 in the dashboard Signed out: Session`,
    `${email} from 127.0.0.1 in the dashboard Signed in by password`,
    'Somebody from 127.0.0.1 in the dashboard Failed: Signed in by password: wrong',
  ]
  const places = inOrder.map(text => shown.text.indexOf(text))
  assert.ok(
    places.every((at, i) => at > (places[i - 1] ?? 0)),
    shown.text,
  )
  assert.match((await get(`${base}/audit?action=sign_in`)).text, /Somebody/)
  await kept.audit.append(auditEntry({ account: site.account, actor: 'c'.repeat(32) }))
  assert.doesNotMatch((await get(`${base}/audit`)).text, /\btoken c/)
})

test('audit entries link their resources as long as these exist, and name them afterwards', async t => {
  const site = await openDashboard(t)
  const { base, ask, get, kept, keepToken, owner, clock } = site
  const { client_id, client_name } = (await ask('POST', '/oauth_clients', { body: bodyOfClient() })).json
    .result
  const lost = (await ask('POST', '/oauth_clients', { body: { ...bodyOfClient(), client_name: 'Lost' } }))
    .json.result.client_id
  await ask('DELETE', `/oauth_clients/${lost}`)
  const { token } = await keepToken(['AI Gateway Run'], { name: 'bot' })
  await ask('PUT', '/ai-gateway/gateways/default', { body: { collect_logs: true } })
  await ask('POST', '/ai-gateway/gateways', { body: { id: 'gone' } })
  await ask('DELETE', '/ai-gateway/gateways/gone')
  const rules = '/client/v4/zones/main/access_rules'
  furnishZone(site.given, 'x')
  const deny = { action: 'deny', ip: ['192.0.2.1'], description: 'Scraper' }
  const rule = (await ask('POST', rules, { body: deny })).json.result.id
  const removed = (await ask('POST', rules, { body: { ...deny, description: 'Short' } })).json.result.id
  await ask('DELETE', `${rules}/${removed}`)
  const person = await site.addPerson('Administrator Read Only', { email: 'grace@example.com' })
  const member = (await kept.members.find(site.account, person.id))!.record
  await ask('DELETE', `/members/${member.id}`)
  const other = await site.addPerson('Administrator Read Only', { email: 'new@example.com' })
  const changed = (await kept.members.find(site.account, other.id))!.record
  const role = roles.find(({ name }) => name.startsWith('AI Gateway Admin'))!
  await ask('PUT', `/members/${changed.id}`, { body: { roles: [{ id: role.id }] } })
  const at = clock.now()
  await kept.audit.append(
    auditEntry({
      account: site.account,
      at,
      actor: token.id,
      actorName: 'bot',
      resourceKind: 'token',
      resource: token.id,
      resourceName: 'bot',
    }),
  )
  const page = await get(`${base}/audit`)
  const links = new Set([...page.body.matchAll(/href="(\/dashboard\/[^"]*)"/g)].map(([, path]) => path))
  for (const path of [
    `oauth-clients/${client_id}`,
    `tokens/${token.id}`,
    `tokens/${owner.token.id}`,
    'gateways/default',
    `zones/main/rules/${rule}`,
    `members/${changed.id}`,
  ])
    assert.ok(links.has(`${base}/${path}`), path)
  for (const id of [lost, 'gateways/gone', removed, member.id])
    assert.ok(![...links].some(path => path!.includes(id)), id)
  for (const name of [
    client_name,
    'Lost',
    'bot',
    'gone',
    'Scraper',
    'Short',
    'grace@example.com',
    'new@example.com',
  ])
    assert.ok(page.text.includes(` ${name} `), name)
  const reader = await site.signIn(await site.addPerson('Administrator Read Only'))
  const read = await reader.get(`${base}/audit`)
  assert.ok(read.body.includes(`href="${base}/zones/main/rules"`))
  assert.ok(!read.body.includes(`zones/main/rules/${rule}`))
})

test('a change is shown with what was there before', async t => {
  const { base, ask, get, account, kept } = await openDashboard(t)
  await ask('PUT', '/ai-gateway/gateways/default', { body: { collect_logs: false, log_management: 50_000 } })
  await kept.audit.append(
    auditEntry({
      account,
      changed: ['content', 'roles', 'name', 'policies', 'expires_on', 'a', 'b', 'c'],
      values: {
        before: {
          roles: ['One', 'Two'],
          policies: [{ effect: 'allow', permission_groups: [{ id: 'x', name: 'P' }] }],
          expires_on: '2027-01-31T00:00:00.000Z',
        },
        after: { roles: ['Two', 'Three'], name: `${hostile}${'x'.repeat(90)}`, policies: [] },
      },
    }),
  )
  const page = await get(`${base}/audit`)
  assert.match(
    page.text,
    /Changed: AI gateway default collect_logs: true → false log_management: \d+ → 50000 /,
  )
  assert.match(page.text, /roles: − One \+ Three name: none → ">.*… policies: − allow P expires_on: /)
  assert.match(page.text, /expires_on: 31 Jan 2027, 00:00 UTC → none content, a, b, c /)
  assert.ok(!page.body.includes(hostile))
})

test('the log is filtered by who, what, which and when, and what is wrong is said', async t => {
  const site = await openDashboard(t)
  const { get, base, ask } = site
  await keep(site, [
    { resource: 'one', action: 'update' },
    { resource: 'two', action: 'delete', resourceKind: 'gateway', at: site.clock.now() + 86_400_000 },
  ])
  const shown = async (query: Record<string, string>) => {
    const { status, text } = await get(`${base}/audit?${new URLSearchParams(query)}`)
    assert.equal(status, 200)
    return ['one', 'two'].filter(name => text.includes(` ${name} `)).join(' ')
  }
  assert.equal(await shown({}), 'one two')
  assert.equal(await shown({ action: 'update' }), 'one')
  assert.equal(await shown({ type: 'gateway', actor: '', resource: '' }), 'two')
  assert.equal(await shown({ resource: 'two' }), 'two')
  assert.equal(await shown({ actor: 'somebody' }), '')
  assert.equal(await shown({ actor: 'nobody@example.com' }), '')
  assert.equal(await shown({ until: '2026-01-01' }), 'one')
  assert.equal(await shown({ since: '2026-01-02', until: '2026-01-02' }), 'two')
  const wrong = await get(`${base}/audit?since=yesterday&actor=${encodeURIComponent(hostile)}`)
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /must be a date or a time/i)
  assert.ok(!wrong.body.includes(hostile))
  assert.match(wrong.body, /value="yesterday"/)
  assert.equal((await ask('GET', '/audit_logs')).status, 200)
})

test('a long log has pages, with a filter too', async t => {
  const site = await openDashboard(t)
  const { get, base } = site
  await keep(
    site,
    Array.from({ length: 60 }, (_, i) => ({ resource: `r${i}`, action: 'update' as const })),
  )
  assert.match((await get(`${base}/audit`)).text, /1 to 25 of 60 Next/)
  assert.match((await get(`${base}/audit?page=3`)).text, /Previous 51 to 60 of 60/)
  const first = await get(`${base}/audit?action=update`)
  assert.match(first.text, /25 entries looked at Older/)
  const [, older] = /href="([^"]*cursor=[^"]*)"/.exec(first.body)!
  const second = await get(older!.replaceAll('&#38;', '&'))
  assert.match(second.text, /Newest/)
  assert.match(second.text, /r34 .*r10 /)
  const third = await get(/href="([^"]*cursor=[^"]*)">Older/.exec(second.body)![1]!.replaceAll('&#38;', '&'))
  assert.match(third.text, /r0 /)
  assert.doesNotMatch(third.text, /Older|r59/)
})

test('the log is downloaded as it is filtered, and cut off where the store fails', async t => {
  const site = await openDashboard(t)
  const { get, base, kept, visitor, bugs } = site
  await keep(site, [
    { resource: 'one', action: 'update' },
    { resource: 'two', action: 'delete' },
  ])
  const page = await get(`${base}/audit?action=update`)
  const [csv, ndjson] = [...page.body.matchAll(/href="([^"]*\/export[^"]*)"/g)].map(([, path]) =>
    path!.replaceAll('&#38;', '&'),
  )
  const file = await get(csv!)
  assert.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  assert.match(file.headers.get('content-disposition')!, /^attachment; filename="audit-.*\.csv"$/)
  assert.equal(file.headers.get('cache-control'), 'no-store')
  assert.match(file.body, /^when,.*\r\n.*"one".*\r\n$/)
  assert.equal(JSON.parse((await get(ndjson!)).body).resource.id, 'one')
  assert.equal((await visitor.send(csv!, { method: 'HEAD' })).body, '')
  assert.equal((await get(`${base}/audit/export?since=x`)).status, 400)
  t.mock.method(kept.audit, 'list', () => Promise.reject(new StoreUnreachable()))
  await assert.rejects(get(csv!))
  assert.deepEqual(bugs, [])
})

/** Keeps entries of the account, the last one the newest. */
async function keep({ kept, account, clock }: Site, entries: readonly Partial<AuditEntry>[]) {
  for (const [i, entry] of entries.entries()) {
    const at = entry.at ?? clock.now() + i
    const whole = {
      account,
      at,
      actor: 'a',
      address: '192.0.2.7',
      ray: 'ab',
      action: 'create',
      resourceKind: 'token',
      resource: 'x',
      changed: [],
    } as const
    await kept.audit.append({ ...whole, id: i.toString(16).padStart(32, '0'), ...entry })
  }
}
