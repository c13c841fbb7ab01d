// Whose address a token condition and the audit log go by: that of the connection, or that for which the edge of the same gateway vouches.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { SidePortAuth } from '../../../src/net/http/side-port-auth.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { described, faultsOf } from '../openapi/openapi-document.ts'

const ray = '0123456789abcdef'
const anyone = ['0.0.0.0/0', '::/0']

async function start(t: TestContext) {
  const api = await startApi(t)
  const keep = async (members: object) => (await api.keepToken(['API Tokens Read'], members)).value
  const tokens = {
    local: await keep({ addressesIn: ['127.0.0.1'] }),
    remote: await keep({ addressesIn: ['192.0.2.0/24'] }),
    notRemote: await keep({ addressesNotIn: ['192.0.2.0/24'] }),
    anyone: await keep({ addressesIn: anyone }),
    plain: await keep({}),
  }
  /** Lists the tokens that are let in with these fields. */
  const letIn = async (...lines: readonly [name: string, value: string][]) => {
    const names: string[] = []
    for (const [name, token] of Object.entries(tokens)) {
      const headers = [['Host', 'x'], ['Authorization', `Bearer ${token}`], ...lines].flat()
      const { status } = await asked(`${api.origin}/client/v4/accounts/${account}/tokens/verify`, headers)
      assert.ok(status === 200 || status === 401, String(status))
      if (status === 200) names.push(name)
    }
    return names
  }
  return { ...api, letIn }
}

function asked(url: string, headers: readonly string[]): Promise<{ status: number; ray: unknown }> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, response => {
      response
        .resume()
        .on('end', () => resolve({ status: response.statusCode!, ray: response.headers['svc-ray'] }))
    })
      .on('error', reject)
      .end()
  })
}

const direct = ['local', 'notRemote', 'anyone', 'plain']

test('a direct caller has the address of its connection', async t => {
  const { letIn } = await start(t)
  assert.deepEqual(await letIn(), direct)
  assert.deepEqual(await letIn(['User-Agent', 'curl/8'], ['X-Request-Id', '1'], ['Accept', '*/*']), direct)
})

test('where the edge vouches for an address, that one is used, whatever the fields say', async t => {
  const { letIn, sidePortAuth } = await start(t)
  const hop = ['svc-hop', sidePortAuth.write({ address: '192.0.2.7', ray })] as [string, string]
  for (const others of [[], [['X-Forwarded-For', '127.0.0.1']], [['Forwarded', 'for=127.0.0.1']]] as const)
    assert.deepEqual(await letIn(hop, ...others.map(line => [...line] as [string, string])), [
      'remote',
      'anyone',
      'plain',
    ])
})

test('a token with an address condition is not valid for a request that another hop has passed on', async t => {
  const { letIn, sidePortAuth } = await start(t)
  const stranger = new SidePortAuth(randomBytes(32)).write({ address: '127.0.0.1', ray })
  const good = sidePortAuth.write({ address: '127.0.0.1', ray })
  const hops: readonly [string, string][][] = [
    ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Port'].map(name => [
      name,
      '127.0.0.1',
    ]),
    [['Forwarded', 'for=127.0.0.1']],
    [['Via', '1.1 proxy']],
    [['CDN-Loop', 'proxy']],
    [['X-Real-IP', '127.0.0.1']],
    [['True-Client-IP', '127.0.0.1']],
    [['X_Forwarded_For', '127.0.0.1']],
    [['svc-ray', ray]],
    [['svc-hop', stranger]],
    [['svc-hop', '']],
    [
      ['svc-hop', good],
      ['svc-hop', good],
    ],
    [
      ['svc-hop', good],
      ['svc-hop', stranger],
    ],
    [['svc_hop', good]],
  ]
  for (const lines of hops) {
    assert.deepEqual(await letIn(...lines), ['plain'], JSON.stringify(lines))
    for (const line of lines) if (lines.length > 2) assert.deepEqual(await letIn(line), ['plain'], line[0])
  }
})

test('a token that is refused because of an unknown proxy is logged and counted as such', async t => {
  const { letIn, lines, refused } = await start(t)
  await letIn(['X-Forwarded-For', '127.0.0.1'])
  assert.deepEqual(
    lines.map(({ msg, reason, address }) => [msg, reason, address]),
    Array(4).fill(['management request refused', 'address_unknown', 'via 127.0.0.1']),
  )
  assert.equal(refused.address_unknown.value, 4)
})

test('the audit log has the address and the ray of the client, or says that it is unknown', async t => {
  const { ask, sidePortAuth, owner, origin } = await start(t)
  const made = async (id: string, headers: Record<string, string>) => {
    const body = { id, authentication: true, collect_logs: true }
    const answer = await ask('POST', '/ai-gateway/gateways', { body, headers })
    assert.equal(answer.status, 200, JSON.stringify(answer.json))
    return answer.headers.get('svc-ray')
  }
  const rays = [
    await made('direct', {}),
    await made('vouched', {
      'svc-hop': sidePortAuth.write({ address: '2001:db8::7', ray }),
      Via: '1.1 gatehouse',
    }),
    await made('unvouched', { 'X-Forwarded-For': '192.0.2.7' }),
  ]
  assert.equal(rays[1], ray)
  const answer = await ask('GET', '/audit_logs?direction=asc')
  const { result } = answer.json
  assert.deepEqual(
    result.map(({ actor, metadata }: { actor: object; metadata: object }) => ({ actor, metadata })),
    [
      { actor: actor('127.0.0.1'), metadata: { ray: rays[0], changed: changed(result[0]) } },
      { actor: actor('2001:db8::7'), metadata: { ray, changed: changed(result[1]) } },
      {
        actor: actor(),
        metadata: { ray: rays[2], changed: changed(result[2]), unvouched_proxy: '127.0.0.1' },
      },
    ],
  )
  const { responses } = described.find(({ id }) => id === 'listAuditLogs')!
  assert.equal(faultsOf(responses['200']!.content['application/json']!.schema, answer.json), '')
  const { ray: shown } = await asked(`${origin}/healthz`, ['Host', 'x', 'svc-ray', ray])
  assert.notEqual(shown, ray)

  function actor(ip?: string) {
    return { id: owner.token.id, type: 'user', name: owner.token.name, ...(ip !== undefined && { ip }) }
  }
  function changed({ metadata }: { metadata: { changed: readonly string[] } }) {
    return metadata.changed
  }
})
