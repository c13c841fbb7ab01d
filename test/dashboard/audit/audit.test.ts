import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditActions, auditKinds } from '../../../src/admin/records/audit-schemas.ts'
import * as words from '../../../src/dashboard/audit/kinds.ts'
import type { AuditEntry } from '../../../src/store/records.ts'
import { StoreUnreachable } from '../../../src/store/store.ts'
import { hostile } from '../fixtures.ts'
import { Visitor } from '../../sign-in/site.ts'
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
  const { get, base, submit, user, ask, owner } = site
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
  assert.match(
    page.text,
    new RegExp(`UTC a token ${owner.token.id} from 127\\.0\\.0\\.1 Created: Error page main/ip_block html`),
  )
  assert.match(page.text, /When Who What Changed fields Ray/)
  assert.match(page.text, /Command line Created: Gateway|Command line .*Created: API token/)
  assert.match(page.text, /a@example\.com by ">/)
  assert.ok(!page.body.includes(hostile))
})

test('who signed in, failed to and signed out is in the log, and nobody is a token who is none', async t => {
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
    `${email} in the dashboard from 127.0.0.1 Signed out: Session`,
    `${email} in the dashboard from 127.0.0.1 Signed in by password`,
    'Somebody in the dashboard from 127.0.0.1 Failed: Signed in by password: wrong',
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
  assert.match((await get(`${base}/audit`)).text, /1 to 50 of 60 Next/)
  assert.match((await get(`${base}/audit?page=2`)).text, /Previous 51 to 60 of 60/)
  const first = await get(`${base}/audit?action=update`)
  assert.match(first.text, /50 entries looked at Older/)
  const [, older] = /href="([^"]*cursor=[^"]*)"/.exec(first.body)!
  const second = await get(older!.replaceAll('&#38;', '&'))
  assert.match(second.text, /Newest/)
  assert.match(second.text, /r0 /)
  assert.doesNotMatch(second.text, /Older|r59/)
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
