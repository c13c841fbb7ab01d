// The way of an operator with custom errors and access rules: try them dry, set them by the management API, and see that clients get what was shown.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { busySecond, until } from '../help/until.ts'
import { siteConfig, startSite } from '../help/site.ts'

interface Envelope {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: results of many shapes
  readonly result: any
  readonly errors: readonly { readonly message: string; readonly source?: { readonly pointer: string } }[]
}

async function start(t: TestContext) {
  const origin = await startSite(t, (_, response) => response.end('hello'))
  const gateway = await startGateway(t, siteConfig(origin))
  const { token } = await gateway.firstStart
  const manage = async (method: string, path: string, body?: unknown): Promise<Envelope> => {
    const isPage = typeof body === 'string'
    const response = await fetch(`${gateway.admin}/client/v4/zones/site/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': isPage ? 'text/html' : 'application/json' }),
      },
      ...(body !== undefined && { body: isPage ? body : JSON.stringify(body) }),
    })
    return { ...((await response.json()) as Envelope), status: response.status }
  }
  return { gateway, manage }
}

/** Asks for the preview of an error on the data plane, as a client that accepts so. */
async function served({ edge }: RunningGateway, code: number, accept: string) {
  const response = await fetch(`${edge}/cdn-cgi/error/${code}`, { headers: { accept } })
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
}

const forAgents = {
  expression:
    'response.code >= 500 && request.headers[?"accept"].orValue([]).exists(a, a.contains("application/json"))',
  content: '{"sorry":true}',
  content_type: 'application/json',
  status_code: 503,
}

test('agents get JSON by a rule and browsers keep the page, served as it was shown before', async t => {
  const { gateway, manage } = await start(t)
  const page = '<p>Back soon, ::CLIENT_IP::</p>'
  const draft = { rule: forAgents, page: { type: '500_errors', html: page }, ip: '127.0.0.1' }
  const tried: unknown[] = []
  for (const accept of ['application/json', 'text/html']) {
    const { result } = await manage('POST', 'error_preview', { code: 522, accept, ...draft })
    tried.push({ status: result.status, type: result.headers['Content-Type'], body: result.body })
  }
  assert.deepEqual(tried, [
    { status: 503, type: 'application/json', body: '{"sorry":true}' },
    { status: 522, type: 'text/html; charset=utf-8', body: '<p>Back soon, 127.0.0.1</p>' },
  ])
  const { result: rule } = await manage('POST', 'error_rules', forAgents)
  assert.equal((await manage('PUT', 'error_pages/500_errors', page)).status, 200)
  await until(
    async () => (await served(gateway, 522, 'text/html')).body.startsWith('<p>Back soon'),
    busySecond,
  )
  const got = [await served(gateway, 522, 'application/json'), await served(gateway, 522, 'text/html')]
  assert.deepEqual(got, tried)
  const shown = await manage('POST', 'error_preview', { code: 522, accept: 'application/json' })
  assert.deepEqual([shown.result.source, shown.result.rule_id], ['zone_rule', rule.id])
})

test('the first rule that matches wins, also after another order; a bad rule changes nothing that runs', async t => {
  const { gateway, manage } = await start(t)
  const make = async (content: string) =>
    (await manage('POST', 'error_rules', { expression: 'true', content, content_type: 'text/plain' })).result
      .id
  const ids = [await make('first'), await make('second')]
  const says = async (body: string) =>
    until(async () => (await served(gateway, 522, '*/*')).body === body, busySecond)
  await says('first')
  await manage('PUT', 'error_rules/order', { ids: ids.toReversed() })
  await says('second')
  const bad = await manage('PUT', `error_rules/${ids[1]}`, {
    ...forAgents,
    expression: 'error.code ==\n  ',
    content_type: 'text/csv',
  })
  assert.equal(bad.status, 400)
  assert.match(bad.errors[0]!.message, /^expression must be a CEL expression; line 2, column 3: /)
  assert.deepEqual(
    bad.errors.map(({ source }) => source?.pointer),
    ['/expression', '/content_type'],
  )
  await says('second')
})

test('an access rule may name the lists of the configuration; a missing database is reported', async t => {
  const { gateway, manage } = await start(t)
  const deny = (condition: object) => manage('POST', 'access_rules', { action: 'deny', ...condition })
  assert.match((await deny({ list: 'local' })).errors[0]!.message, /but the configuration has none$/)
  assert.match((await deny({ country: ['DE'] })).errors[0]!.message, /^country needs geo\.databases/)
  const list = join(dirname(gateway.file), 'local.txt')
  writeFileSync(list, '127.0.0.0/8\n')
  const origin = await startSite(t, (_, response) => response.end('hello'))
  gateway.rewrite(siteConfig(origin, `lists: {local: '${list}'}`))
  await until(async () => (await deny({ list: 'local' })).status === 200)
  await until(async () => (await fetch(gateway.edge)).status === 403, busySecond)
})
