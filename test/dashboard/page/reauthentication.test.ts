// What forms do, each of them: what opens or ends something is not taken without a fresh proof of who sends it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Effect } from '../../../src/dashboard/page/page-request.ts'
import { routes } from '../../../src/dashboard/routes.ts'
import { needsProof } from '../../../src/dashboard/page/reauthentication.ts'
import { formToken } from '../../../src/pages/forms/csrf.ts'
import { furnish } from '../fixtures.ts'
import { openDashboard, password } from '../site.ts'

type Site = Awaited<ReturnType<typeof openDashboard>>

const hour = 3_600_000

/** Every form there is, below the pages of an account. */
const effects: Readonly<Record<string, Effect>> = {
  '/oauth-clients/new': 'tries',
  '/oauth-clients/new/scopes': 'opens',
  '/oauth-clients/{client}/edit': 'opens',
  '/oauth-clients/{client}/scopes': 'opens',
  '/oauth-clients/{client}/secrets/new': 'opens',
  '/oauth-clients/{client}/secrets/drop': 'ends',
  '/oauth-clients/{client}/verify': 'sets',
  '/oauth-clients/{client}/publish': 'opens',
  '/oauth-clients/{client}/delete': 'ends',
  '/oauth-clients/{client}/grants/end': 'ends',
  '/oauth-clients/{client}/grants/{grant}/end': 'ends',
  '/zones/{zone}/explain': 'tries',
  '/zones/{zone}/rules/new': 'opens',
  '/zones/{zone}/rules/order': 'opens',
  '/zones/{zone}/rules/{rule}': 'opens',
  '/zones/{zone}/rules/{rule}/delete': 'ends',
  '/errors/zones/{zone}/rules/new': 'opens',
  '/errors/zones/{zone}/rules/new/preview': 'tries',
  '/errors/zones/{zone}/rules/order': 'sets',
  '/errors/zones/{zone}/rules/{errorrule}/edit': 'opens',
  '/errors/zones/{zone}/rules/{errorrule}/edit/preview': 'tries',
  '/errors/zones/{zone}/rules/{errorrule}/delete': 'ends',
  '/errors/zones/{zone}/pages/{type}/edit': 'opens',
  '/errors/zones/{zone}/pages/{type}/edit/preview': 'tries',
  '/errors/zones/{zone}/pages/{type}/delete': 'ends',
  '/gateways/~new': 'opens',
  // Fewer logs to keep means that the oldest are deleted.
  '/gateways/{gateway}/settings': 'ends',
  '/gateways/{gateway}/guard': 'opens',
  '/gateways/{gateway}/responses': 'ends',
  '/gateways/{gateway}/authentication': 'opens',
  '/gateways/{gateway}/budgets/~new': 'sets',
  '/gateways/{gateway}/budgets/~settings': 'sets',
  '/gateways/{gateway}/budgets/{budget}/edit': 'sets',
  '/gateways/{gateway}/budgets/{budget}/reset': 'ends',
  '/gateways/{gateway}/budgets/{budget}/delete': 'ends',
  '/gateways/{gateway}/tokens/new': 'opens',
  '/gateways/{gateway}/test': 'tries',
  '/gateways/{gateway}/delete': 'ends',
  '/gateways/{gateway}/logs/{log}/feedback': 'sets',
  '/gateways/{gateway}/keys/new': 'opens',
  '/gateways/{gateway}/keys/{providerkey}/delete': 'ends',
  '/gateways/{gateway}/policies/~new': 'sets',
  '/gateways/{gateway}/policies/{policy}': 'sets',
  '/gateways/{gateway}/policies/{policy}/delete': 'ends',
  '/gateways/{gateway}/policies/~simulate': 'tries',
  '/gateways/{gateway}/policies/~discard': 'ends',
  // They open to callers what was closed.
  '/gateways/{gateway}/policies/~commit': 'opens',
  '/gateways/{gateway}/policies/~commits/{commit}': 'opens',
  '/gateways/{gateway}/routes/new': 'sets',
  '/gateways/{gateway}/routes/{modelroute}/delete': 'ends',
  '/gateways/{gateway}/routes/{modelroute}/edit': 'sets',
  '/gateways/{gateway}/routes/{modelroute}/versions/{version}': 'sets',
  '/members/new': 'opens',
  '/members/two-factor': 'opens',
  '/members/{member}/roles': 'opens',
  '/members/{member}/link': 'opens',
  '/members/{member}/sign-out': 'ends',
  '/members/{member}/remove': 'ends',
  '/apps/unregistered': 'opens',
  '/apps/{grant}/end': 'ends',
  '/first-steps/hide': 'sets',
  '/custom-providers/~new': 'opens',
  '/custom-providers/{slug}/state': 'opens',
  '/custom-providers/{slug}/delete': 'ends',
  '/providers/{provider}/test': 'tries',
  '/your-tokens/new': 'opens',
  '/your-tokens/{token}/revoke': 'ends',
  '/tokens/new': 'opens',
  '/tokens/{token}/edit': 'opens',
  '/tokens/{token}/state': 'opens',
  '/tokens/{token}/roll': 'opens',
  '/tokens/{token}/revoke': 'ends',
  '/tokens/{token}/budgets/~new': 'opens',
  '/tokens/{token}/budgets/{budget}/edit': 'opens',
  '/tokens/{token}/budgets/{budget}/reset': 'ends',
  '/tokens/{token}/budgets/{budget}/delete': 'ends',
}

const forms = routes.filter(({ take }) => take !== undefined)

test('every form is listed with its effect', () => {
  const said = forms.map(({ path, effect }) => [path.replace('/dashboard/{account}', ''), effect])
  assert.deepEqual(Object.fromEntries(said), effects, 'a new form is written down here, and reviewed')
})

test('a form without a stated effect requires reauthentication', () => {
  assert.ok(needsProof(undefined))
  assert.deepEqual((['opens', 'ends', 'sets', 'tries'] as const).filter(needsProof), ['opens', 'ends'])
})

/** Sends the form of a page as it is shown, or its token alone, and returns what that asked the API, by method and path. */
async function sendForm(
  { visitor, server, t }: Site & { readonly t: Parameters<typeof openDashboard>[0] },
  { path: pattern, show, isBesideForm }: (typeof routes)[number],
  path: string,
  extra: Readonly<Record<string, string>> = {},
) {
  const form = isBesideForm === true ? path.slice(0, path.lastIndexOf('/')) : path
  const shown = show === undefined ? null : await visitor.get(path)
  const fields = shown?.body.includes(`action="${path}"`) === true ? shown.hidden(path) : {}
  const asking = t.mock.method(server, 'askAs')
  const form_token = formToken(visitor.cookies.get('gatehouse')!, form)
  const page = await visitor.post(path, { ...fields, ...extra, form_token })
  const asked = asking.mock.calls.map(({ arguments: [, { method, target }] }) => `${method} ${target}`)
  asking.mock.restore()
  assert.ok(page.status < 500, `${pattern}: ${page.text}`)
  return { page, asked }
}

test('after half an hour, what opens or ends something asks for the password first, and the rest does not', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  site.clock.advance(hour)
  for (const route of forms) {
    const { page, asked } = await sendForm({ ...site, t }, route, pathOf(route.path))
    const isAsked = /Confirm that it is you/.test(page.text)
    assert.equal(isAsked, needsProof(route.effect), route.path)
    if (isAsked) assert.deepEqual(asked, [], route.path)
  }
})

test('forms that only try something change nothing, and forms that delete are marked as ending something', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  const changes = async () => (await site.ask('GET', '/audit_logs')).json.result_info.total_count
  // In this order each finds what it is about: to roll policies back ends their drafts.
  for (const effect of ['tries', 'sets', 'opens'])
    for (const route of forms.filter(form => form.effect === effect)) {
      const before = await changes()
      const { asked } = await sendForm({ ...site, t }, route, pathOf(route.path))
      if (effect === 'tries') assert.equal(await changes(), before, route.path)
      assert.ok(!asked.some(one => one.startsWith('DELETE ')), route.path)
    }
})

const held = {
  'the authentication of a gateway': ['/gateways/default/authentication', { to: 'off' }],
  'the settings of a gateway': [
    '/gateways/default/settings',
    {
      ...{ rate_limiting_limit: '0', rate_limiting_interval: '60', rate_limiting_technique: 'fixed' },
      ...{ retry_max_attempts: '1', retry_delay: '200', retry_backoff: 'constant', on_abandon: 'abort' },
      ...{ cache_ttl: '0', cache_scope: 'token' },
      ...{ rate_limiting_key: 'gateway', log_management: '0', log_management_strategy: 'DELETE_OLDEST' },
    },
  ],
  'a page of errors': ['/errors/zones/main/pages/waf_block/delete', {}],
} as const

for (const [what, [place, fields]] of Object.entries(held))
  test(`${what} stays until the password was shown, and then goes as it was sent`, async t => {
    const { base, get, ask, clock, ...site } = await openDashboard(t)
    await furnish({ base, get, ask, clock, ...site })
    const state = async () => [
      (await ask('GET', '/ai-gateway/gateways/default')).json.result,
      (await ask('GET', '/client/v4/zones/main/error_pages')).json.result,
    ]
    const before = await state()
    const page = await get(base + place)
    clock.advance(hour)
    const asked = await page.submit(base + place, fields)
    assert.match(asked.text, /Confirm that it is you/)
    assert.deepEqual(await state(), before)
    const done = await asked.submit(base + place, { 'proof.password': password })
    assert.equal(done.status, 303, done.text)
    assert.notDeepEqual(await state(), before)
  })

test('an access rule that is moved stays until the password was shown', async t => {
  const site = await openDashboard(t)
  const { base, get, ask, clock } = site
  await furnish(site)
  const rules = '/client/v4/zones/main/access_rules'
  const ids = async () => (await ask('GET', rules)).json.result.map(({ id }: { id: string }) => id)
  const before = await ids()
  assert.ok(before.length > 1)
  const path = `${base}/zones/main/rules`
  const page = await get(path)
  clock.advance(hour)
  const down = /<button[^>]* name="([^"]*)"[^>]* value="([^"]*)"/.exec(page.body)!
  const asked = await page.submit(`${path}/order`, { [down[1]!]: down[2]! })
  assert.match(asked.text, /Confirm that it is you/)
  assert.deepEqual(await ids(), before)
  const moved = await asked.submit(`${path}/order`, { 'proof.password': password })
  assert.equal(moved.status, 303, moved.text)
  assert.notDeepEqual(await ids(), before)
})
