import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Explanation } from '../../../src/zones/explanation.ts'
import { explanation } from '../../admin/zones/zones.ts'
import { hostile } from '../fixtures.ts'
import { openDashboard } from '../site.ts'
import { explainWith } from './zone.ts'

const question = { method: 'GET', host: 'main.test', address: '203.0.113.7', path: '/' }

test('a request is explained with the rule that decides, and the form keeps what it asked', async t => {
  const site = await openDashboard(t)
  const { base, ask, get } = site
  explainWith(t, site)
  const body = { action: 'deny', path: ['/private'], description: 'Keep out' }
  const { id } = (await ask('POST', '/client/v4/zones/main/access_rules', { body })).json.result
  const path = `${base}/zones/main/explain`
  const form = await get(path)
  assert.match(form.body, /name="host"[^>]* value="main\.test"/)
  assert.match(form.body, /name="address"[^>]* value="127\.0\.0\.1"/)
  const passes = await form.submit(path, { ...question, headers: 'X-A: 1' })
  assert.equal(passes.status, 200)
  assert.match(passes.text, /It would pass, to http:\/\/127\.0\.0\.1:9\./)
  assert.match(
    passes.text,
    /What the origin would get Origin http:\/\/127\.0\.0\.1:9 HTTP 1\.1 Request GET \//,
  )
  assert.doesNotMatch(passes.text, /What the client would get/)
  assert.match(passes.body, /href="#method">Change the request</)
  const refused = await passes.submit(path, { ...question, path: '/private/a?b', headers: 'X-A: 1' })
  assert.match(refused.text, /It would be refused with 403: error 1020, Access denied\./)
  const rule = `<a href="${base}/zones/main/rules/${id}">Access rule set by the API</a>: <bdi>Keep out</bdi>`
  assert.ok(refused.body.includes(rule), refused.body)
  assert.match(refused.text, /refuses .* What the client would get Status 403 Type/)
  assert.match(refused.text, /Client 203\.0\.113\.7/)
  assert.match(refused.body, /name="path"[^>]* value="\/private\/a\?b"/)
  assert.match(refused.body, /<textarea id="headers"[^>]*>\nX-A: 1</)
  assert.match(
    (await get(`${path}?host=x.test&path=/q&address=192.0.2.1`)).body,
    /value="x\.test".*value="\/q"/s,
  )
})

test('a form is passed to the API, and its mistakes are shown next to their fields', async t => {
  const { base, submit, given } = await openDashboard(t)
  const path = `${base}/zones/main/explain`
  const headers = 'Cookie: a=1\r\ncookie:b=2: 3\r\n\r\nX-None:'
  assert.equal((await submit(path, { ...question, method: 'POST', headers, body: '{}' })).status, 200)
  const { method, headers: asked, body, bodySize } = given.asked!
  assert.deepEqual(
    { method, asked, body, bodySize },
    {
      method: 'POST',
      asked: [
        ['Cookie', 'a=1'],
        ['cookie', 'b=2: 3'],
        ['X-None', ''],
      ],
      body: '{}',
      bodySize: null,
    },
  )
  const faultOf = async (fields: Record<string, string>, name: string) => {
    const { status, body } = await submit(path, { ...question, ...fields })
    assert.equal(status, 422, name)
    return new RegExp(`id="${name}-fault">([^<]*)<`).exec(body)?.[1]
  }
  assert.match((await faultOf({ address: 'nowhere' }, 'address'))!, /Must be an IP address/)
  assert.match((await faultOf({ headers: 'a b: x' }, 'headers'))!, /a b/)
  assert.equal(await faultOf({ headers: 'none' }, 'headers'), 'Write name: value on each line.')
  assert.match((await faultOf({ body_size: 'x' }, 'body_size'))!, /^Must be/)
  given.explained = { elsewhere: 'zone' }
  assert.equal(await faultOf({}, 'host'), 'Must lead to the zone main, or to none.')
  given.explained = null
  const unknown = await submit(path, question)
  assert.equal(unknown.status, 503)
  assert.match(unknown.text, /No process of the gateway serves requests/)
})

test('all that an explanation can have is shown, and nothing of it becomes markup', async t => {
  const { base, submit, given } = await openDashboard(t)
  const [step] = explanation.steps
  const full: Explanation = {
    ...explanation,
    outcome: 'responded',
    steps: [
      {
        ...step!,
        verdict: 'not_reached',
        reason: hostile,
        error: { code: 1006, name: 'x', title: 'x', message: `not ${hostile}` },
        rule: {
          ...step!.rule!,
          kind: 'rate_limit',
          set_by: 'file',
          line: 7,
          name: hostile,
          description: hostile,
        },
        compared: [{ what: hostile, value: hostile, with: hostile }],
      },
    ],
    limits: [
      {
        ...{ kind: 'rate_limit', name: hostile, line: 7, action: 'log', verdict: 'over' },
        ...{ key: [{ by: 'header x', value: hostile }], limit: 10, period: '1m' },
        ...{ used: 12, left: 0, resets_in: 60 },
      },
    ],
    gateway: { ...explanation.gateway!, gateway: hostile, provider: 'openai', model: hostile },
    route: {
      ...{ path: hostile, line: 9, pool: 'p', body_limit: 1, redirects: 1 },
      ...{ timeouts: { connect: 1_000 }, retries: { most: 2, statuses: [] } },
    },
    pool: {
      ...{ pool: 'p', balance: 'x' },
      origins: [{ ...{ url: hostile, weight: 1, share: 1, state: 'down', outstanding: 0 }, is_next: false }],
    },
    forward: {
      ...{ origin: hostile, http: '2', method: hostile, host: hostile, path: hostile, query: 'changed' },
      fields: [{ name: hostile, change: 'added', value: hostile }],
      response_fields: [{ name: hostile, change: 'set' }],
    },
    compression: { encoding: 'br', reason: hostile, condition: { types: [hostile], minimum: 1 } },
    response: {
      ...{ status: 429, content_type: hostile, retry_after: 60 },
      content: {
        ...{ source: 'account_rule', rule_id: null, line: 3, page: null },
        description: hostile,
      },
    },
  }
  given.explained = { explanation: full }
  const { status, body, text } = await submit(`${base}/zones/main/explain`, {
    ...question,
    headers: `X: ${hostile}`,
  })
  assert.equal(status, 200)
  assert.ok(!body.includes('<img src=x'))
  for (const words of [
    'It would pass: the gateway itself responds with 429.',
    `not reached ${hostile} not ${hostile}. error 1006 Rate limit in the file, line 7 ${hostile}: ${hostile}`,
    'over, only logged',
    '12 of 10 in 1m 60 s',
    'Retry after 60 s',
    'error rule in line 3 of all zones',
    'added',
    'with another query',
    'up to 2',
  ])
    assert.ok(text.includes(words), `${words}: ${text}`)
})
