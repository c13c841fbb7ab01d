import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { formatMistake } from '../../src/config/file/mistake.ts'
import { parse } from '../../src/config/load/parse.ts'
import { rolesWith } from '../../src/permissions/roles.ts'
import type { Permission } from '../../src/permissions/permit.ts'
import { oauthClient } from '../store/contract-specimens.ts'
import { unescaped } from '../sign-in/site.ts'
import { openDashboard } from './site.ts'

/** Opens the dashboard of an account that has nothing but a zone without routes. */
async function openEmpty(t: TestContext) {
  const site = await openDashboard(t)
  site.given.pools = []
  await site.ask('DELETE', '/ai-gateway/gateways/default')
  await site.ask('DELETE', `/tokens/${site.owner.token.id}`)
  return site
}

/** The lists, what is said in the place of each, the permission that its first step needs, and where that leads. */
const steps: readonly (readonly [list: string, title: string, permission: Permission, leads: string])[] = [
  ['/oauth-clients', 'No clients yet', 'OAuth Clients Write', '/oauth-clients/new'],
  ['/tokens', 'No tokens yet', 'API Tokens Write', '/tokens/new'],
  ['/gateways', 'No gateways yet', 'AI Gateway Edit', '/gateways/~new'],
  ['/custom-providers', 'No custom providers yet', 'AI Gateway Edit', '/custom-providers/~new'],
  ['/apps', 'No app acts for a member', 'OAuth Clients Write', '/oauth-clients/new'],
  ['/errors/zones/main', 'No rules yet', 'Custom Errors Write', '/errors/zones/main/rules/new'],
  ['/members', 'Nobody else yet', 'Members Write', '/members/new'],
]

test('an empty list leads to the first step, or names the roles of those whom to ask', async t => {
  const { base, get, signIn, addPerson } = await openEmpty(t)
  for (const [list, title, , leads] of steps) {
    const { text, body } = await get(base + list)
    assert.match(text, new RegExp(title))
    assert.match(body, new RegExp(`href="${base}${leads}"`), list)
  }
  const reader = await signIn(await addPerson('Administrator Read Only'))
  const other = steps.filter(([list]) => list !== '/members')
  for (const [list, , permission, leads] of other) {
    const { text, body } = await reader.get(base + list)
    const roles = new Intl.ListFormat('en', { type: 'disjunction' }).format(rolesWith(permission))
    assert.ok(
      text.includes(`Your roles do not include this. Ask a member of this account with the role ${roles}.`),
      `${list}: ${text}`,
    )
    assert.match(body, new RegExp(`href="${base}/members"`))
    assert.doesNotMatch(body, new RegExp(`href="${base}${leads}"`))
  }
})

test('an app that nobody uses leads to the code that asks people', async t => {
  const { base, get, kept, account } = await openEmpty(t)
  const client = oauthClient({ account, name: 'Shop' })
  await kept.oauthClients.insert(client)
  const page = `${base}/oauth-clients/${client.id}`
  for (const list of ['grants', 'events'])
    assert.match((await get(`${page}/${list}`)).body, new RegExp(`href="${page}#code"`))
  assert.match((await get(page)).body, /id="code"/)
})

/** Returns the code on a page that is there to be copied. */
const codeOn = (body: string) => unescaped(/<pre class="key"[^>]*>([^<]*)</.exec(body)![1]!)

const mistakesIn = (config: string) => {
  const parsed = parse(config, { env: {}, readFile: () => '', findFile: path => path })
  return 'mistakes' in parsed ? parsed.mistakes.map(mistake => formatMistake('', mistake)) : []
}

test('settings of the configuration file are shown as YAML, with how to reload', async t => {
  const { base, get, given, account } = await openEmpty(t)
  const listen = "listen: ['127.0.0.1:0']\n"
  const origins = await get(`${base}/zones/main/origins`)
  const limits = await get(`${base}/zones/main/limits`)
  given.configs.length = 0
  const zones = await get(`${base}/zones`)
  for (const { text } of [origins, limits, zones]) assert.match(text, /gatehouse reload/)
  assert.ok(codeOn(zones.body).includes(account))
  assert.deepEqual(mistakesIn(listen + codeOn(zones.body)), [])
  assert.deepEqual(mistakesIn(listen + codeOn(origins.body)), [])
  const inZone = codeOn(limits.body).trimEnd().replaceAll('\n', '\n    ')
  assert.deepEqual(mistakesIn(`${listen + codeOn(origins.body)}    ${inZone}\n`), [])
})
