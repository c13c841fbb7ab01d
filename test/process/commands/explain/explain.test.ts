// `gatehouse explain` against a real management API and a real data plane, as a person and a script use it.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startApi } from '../../../admin/api.ts'
import { usualCompression } from '../../../help/codings.ts'
import { quickGatehouse, type Outcome } from '../../../help/command.ts'
import { Edge, edgeConfig, openAccess } from '../../../help/edge.ts'
import { ok, startResponder } from '../../../help/origin.ts'
import { quickFolder } from '../../../help/quick-folder.ts'
import { account } from '../../../tokens/token-with.ts'

async function start(t: TestContext) {
  const api = await startApi(t)
  const origin = await startResponder(t, ok())
  const rule = { action: 'deny', condition: { kind: 'path', prefixes: ['/admin'] } } as const
  const config = edgeConfig([origin.url], {
    route: { compression: usualCompression },
    zone: {
      name: 'main',
      hosts: ['*.main.test', 'other.test'],
      access: { ...openAccess, rules: [{ ...rule, description: 'Staff only', line: 12 }] },
      rateLimits: [
        { name: 'all', limit: 5, period: 60_000, key: [{ by: 'address' }], when: null, action: 'block' },
      ],
    },
  })
  const edge = new Edge(t, config)
  t.after(() => edge.plane.destroy())
  api.given.explain = asked => edge.plane.explain(asked)
  const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: api.owner.value }
  const explain = (...args: readonly string[]): Promise<Outcome> =>
    quickGatehouse(['explain', ...args, '--url', api.origin], env)
  return { ...api, origin, explain }
}

const from = ['--host', 'shop.main.test', '--address', '203.0.113.7'] as const

test('a request that would pass: each step, its limits, and where it goes', async t => {
  const { explain, origin } = await start(t)
  const { code, stdout, stderr } = await explain(
    ...from,
    '--path',
    '/a//b?x=1',
    '--header',
    'accept: text/html',
  )
  assert.deepEqual([code, stderr], [0, ''])
  const lines = stdout.split('\n')
  assert.equal(lines[0], `It would pass, to ${origin.url}.`)
  assert.match(stdout, /^STEP +VERDICT +WHY$/m)
  assert.match(
    stdout,
    /^2 Host and route +passes +Route \/\. \(file\) host shop\.main\.test: \*\.main\.test; path \/a\/\/b read as \/a\/b: \/;/m,
  )
  assert.match(stdout, /^20 Request to the origin +passes +Sent to the origin\.$/m)
  assert.match(stdout, /^request line +GET \/a\/\/b with its query$/m)
  assert.match(stdout, /^compression +none: The request has no Accept-Encoding\.$/m)
  assert.match(stdout, /^field added +X-Forwarded-For: 203\.0\.113\.7$/m)
  assert.match(stdout, /^all +address 203\.0\.113\.7 +0 of 5 in 60 s +5 +60 s +within$/m)
  assert.equal(origin.requests.length, 0)
})

test('a request whose response would be compressed: in what, and of which responses', async t => {
  const { explain } = await start(t)
  const { stdout } = await explain(...from, '--header', 'accept-encoding: gzip, br')
  assert.match(stdout, /^compression +br: It depends on the response: /m)
  assert.match(stdout, /^compressed types +text\/\*, application\/json$/m)
  assert.match(stdout, /^compressed from +1024 bytes$/m)
})

test('a request that would be refused: the rule, its line, and the error', async t => {
  const { explain } = await start(t)
  const { code, stdout } = await explain(
    ...from,
    '--path',
    '/x/../admin',
    '--header',
    'accept: application/json',
  )
  assert.equal(code, 1)
  assert.match(stdout, /^It would be refused with 403: error 1020, firewall_rule_blocked\.\n/)
  assert.match(
    stdout,
    /^4 Access rules +refuses +Denied by access rule 1 of main\. \(line 12: Staff only\) path \/admin: \/admin$/m,
  )
  assert.match(stdout, /^5 Rate limits and quotas +not reached$/m)
  assert.match(stdout, /^response +403 application\/json; charset=utf-8$/m)
})

test('as JSON it is what the API responds with', async t => {
  const { explain } = await start(t)
  const { code, stdout } = await explain(...from, '--method', 'TRACE', '--json')
  assert.equal(code, 1)
  assert.deepEqual(JSON.parse(stdout).steps[0].error.name, 'method_not_allowed')
})

test('headers and bodies come from files too, and a token never from an argument', async t => {
  const { explain, given, owner } = await start(t)
  const folder = quickFolder(t, 'explain')
  const headers = join(folder, 'headers')
  const body = join(folder, 'body')
  writeFileSync(headers, `Authorization: Bearer ${owner.value}\nX-A: 1\nX-A: 2\n`)
  writeFileSync(body, 'hello')
  const files = ['--header', `@${headers}`, '--file', body, '--method', 'POST', '--header', 'x-b:3']
  const told = await explain(...from, ...files)
  assert.equal(told.code, 1)
  assert.match(
    told.stdout,
    /a credential of this gateway in the header authorization, which no origin may see/,
  )
  assert.deepEqual(given.asked!.headers, [
    ['Authorization', `Bearer ${owner.value}`],
    ['X-A', '1'],
    ['X-A', '2'],
    ['x-b', '3'],
  ])
  assert.deepEqual([given.asked!.body, given.asked!.zone], ['hello', 'main'])
  const shown = await explain(...from, '--header', `authorization: Bearer ${owner.value}`)
  assert.deepEqual([shown.code, shown.stdout], [2, ''])
  assert.match(shown.stderr, /^gatehouse: other users of this machine see arguments: /)
})

test('2 for what cannot be told', async t => {
  const { explain, given } = await start(t)
  const told = async (...args: string[]) => {
    const { code, stdout, stderr } = await explain(...args)
    assert.equal(stdout, '')
    return [code, stderr]
  }
  assert.deepEqual(await told('--host', 'a'), [2, 'gatehouse: a request needs --host and --address\n'])
  assert.deepEqual(await told(...from, '--header', 'x'), [
    2,
    "gatehouse: a header must be written as 'name: value'\n",
  ])
  assert.deepEqual(await told(...from, '--body-size', 'x'), [
    2,
    'gatehouse: --body-size must be a number of bytes\n',
  ])
  assert.deepEqual(await told(...from, '--client-certificate', '/nowhere.pem'), [
    2,
    'gatehouse: --client-certificate names a file that cannot be read\n',
  ])
  assert.deepEqual(await told(...from, '--zone', 'none'), [
    2,
    'gatehouse: Zone not found, or this token is not allowed to access its account (7003)\n',
  ])
  given.explain = async () => ({ elsewhere: 'zone' })
  assert.deepEqual(await told(...from), [
    2,
    'gatehouse: host must lead to the zone main, or to none (10001 at /host)\n',
  ])
})
