// The side port published through a zone: conditions on addresses and the audit log go by the client that asked the zone, in one process and with workers.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import Cloudflare from 'cloudflare'
import { mintToken } from '../../src/tokens/token.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'

const completion = { id: 'chatcmpl-1', object: 'chat.completion', choices: [] }

interface Asked {
  readonly from?: string
  readonly token: string
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Reply = { readonly status: number; readonly ray: string; readonly json: any }

/** Starts a gateway whose zone leads to its own side port, and to a site of another's below /site. */
async function start(t: TestContext, workers: number) {
  const seen: NodeJS.Dict<string | string[]>[] = []
  const site = await startSite(t, (request, response) => {
    seen.push(request.headers)
    response.end('{}')
  })
  const config = (admin: string) => `workers: ${workers}
trusted_proxies: [127.0.0.9]
pools:
  site: { origins: [${site}] }
  side: { origins: [${admin}] }
zones:
  - name: manage
    default: true
    routes: [{ path: /, pool: side }, { path: /site, pool: site }]
`
  const gateway = await startGateway(t, config(site))
  gateway.rewrite(config(gateway.admin))
  await gateway.logged('configuration reloaded')
  const { account, token } = await gateway.firstStart
  return { gateway, seen, owner: token, path: `/client/v4/accounts/${account}` }
}

function ask(
  url: string,
  { from = '127.0.0.1', token, method = 'GET', body, headers = {} }: Asked,
): Promise<Reply> {
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  const options = {
    method,
    localAddress: from,
    agent: false as const,
    headers: { authorization: `Bearer ${token}`, ...content, ...headers },
  }
  return new Promise((resolve, reject) => {
    request(url, options, async response => {
      const text = Buffer.concat(await response.toArray()).toString()
      const ray = String(response.headers['svc-ray'])
      resolve({ status: response.statusCode!, ray, json: JSON.parse(text) })
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function tokenFor(
  gateway: RunningGateway,
  path: string,
  owner: string,
  address: string,
): Promise<string> {
  const { result } = (await ask(`${gateway.admin}${path}/tokens/permission_groups`, { token: owner })).json
  const { id } = result.find(({ name }: { name: string }) => name === 'AI Gateway Edit')
  const resources = { [`svc.api.account.${path.split('/').at(-1)}`]: '*' }
  const body = {
    name: `for ${address}`,
    policies: [{ effect: 'allow', resources, permission_groups: [{ id }] }],
    condition: { request_ip: { in: [address] } },
  }
  const made = await ask(`${gateway.admin}${path}/tokens`, { method: 'POST', token: owner, body })
  assert.equal(made.status, 200, JSON.stringify(made.json))
  return made.json.result.value
}

for (const workers of thorough([0, 2], [1]))
  test(`a token for one address is valid from there alone, through the zone too (workers: ${workers})`, async t => {
    const { gateway, seen, owner, path } = await start(t, workers)
    const local = await tokenFor(gateway, path, owner, '127.0.0.1')
    const other = await tokenFor(gateway, path, owner, '127.0.0.2')
    const behind = await tokenFor(gateway, path, owner, '192.0.2.7')
    const verify = `${path}/tokens/verify`
    const statuses = async (asked: Omit<Asked, 'token'>, base = gateway.edge) => {
      const replies = [local, other, behind].map(token => ask(`${base}${verify}`, { ...asked, token }))
      return (await Promise.all(replies)).map(({ status }) => status)
    }
    for (let i = 0; i < 4; i++) {
      assert.deepEqual(await statuses({ from: '127.0.0.1' }), [200, 401, 401])
      assert.deepEqual(await statuses({ from: '127.0.0.2' }), [401, 200, 401])
    }
    // What a stranger claims changes nothing, not even with the name of the field that counts.
    const claims = { 'X-Forwarded-For': '127.0.0.1', 'X-Real-IP': '127.0.0.1', 'svc-hop': 'x', svc_hop: 'x' }
    assert.deepEqual(await statuses({ from: '127.0.0.2', headers: claims }), [401, 200, 401])
    assert.deepEqual(
      await statuses({ from: '127.0.0.9', headers: { 'X-Forwarded-For': '192.0.2.7' } }),
      [401, 401, 200],
    )
    // Straight to the side port, the address of the connection counts, and no other proxy is believed.
    assert.deepEqual(await statuses({ from: '127.0.0.2' }, gateway.admin), [401, 200, 401])
    assert.deepEqual(
      await statuses({ headers: { 'X-Forwarded-For': '127.0.0.1' } }, gateway.admin),
      [401, 401, 401],
    )

    const body = { id: 'through-the-zone', authentication: true, collect_logs: true }
    const gateways = `${gateway.edge}${path}/ai-gateway/gateways`
    const made = await ask(gateways, { from: '127.0.0.2', method: 'POST', token: other, body })
    assert.equal(made.status, 200, JSON.stringify(made.json))
    const { result } = (await ask(`${gateway.admin}${path}/audit_logs`, { token: owner })).json
    assert.equal(result[0].actor.ip, '127.0.0.2')
    assert.equal(result[0].metadata.ray, made.ray)

    // A token of ours would be refused there.
    await ask(`${gateway.edge}/site`, { token: 'of the site', headers: { 'svc-hop': 'x' } })
    assert.equal(seen[0]!['svc-hop'], undefined)
    assert.equal(seen[0]!.via, '1.1 gatehouse')
    const told = JSON.stringify(gateway.lines)
    assert.doesNotMatch(told, /svc-hop/)
    assert.equal(commandLines(gateway.pid).filter(line => /[\w-]{43}|[0-9a-f]{64}/.test(line)).length, 0)
  })

for (const workers of thorough([0, 2], [1]))
  test(`the published client works whole from one base URL (workers: ${workers})`, async t => {
    const seen: string[] = []
    const site = await startSite(t, ({ url }, response) => {
      seen.push(url!)
      response.end('site')
    })
    const provider = await startSite(t, (_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(completion))
    })
    const config = (admin: string) => `workers: ${workers}
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider}', keys: sk-ours } } }
pools:
  site: { origins: [${site}] }
  side: { origins: ['${admin}'] }
  mixed: { origins: ['${admin}', ${site}] }
zones:
  - hosts: [127.0.0.1]
    routes: [{ path: /client/v4, pool: side }, { path: /, pool: site }]
  - hosts: [localhost]
    routes: [{ path: /client/v4, pool: side }, { path: /, pool: site }, { path: /mixed, pool: mixed }]
`
    const gateway = await startGateway(t, config(site))
    gateway.rewrite(config(gateway.admin))
    await gateway.logged('configuration reloaded')
    const { account: account_id, token } = await gateway.firstStart
    const clientAt = (origin: string, apiToken = token) =>
      new Cloudflare({ apiToken, baseURL: `${origin}/client/v4`, maxRetries: 0 })
    const zone = gateway.edge.replace('127.0.0.1', 'localhost')
    for (const origin of [gateway.edge, zone]) {
      const client = clientAt(origin)
      const app = await client.iam.oauthClients.create({ account_id, ...photos })
      assert.match(app.client_secret!, /^svcs_/)
      assert.equal((await client.iam.oauthClients.get(app.client_id, { account_id })).client_name, 'Photos')
      const id = `one-${new URL(origin).hostname.replaceAll('.', '-')}`
      const made = await client.aiGateway.create({ account_id, id, ...plainGateway })
      assert.equal(made.id, id)
      assert.deepEqual(
        (await client.aiGateway.list({ account_id, search: id })).result.map(one => one.id),
        [id],
      )
      assert.equal((await client.accounts.tokens.verify({ account_id })).status, 'active')
      const stranger = clientAt(origin, mintToken().value)
      await assert.rejects(stranger.aiGateway.list({ account_id }), Cloudflare.AuthenticationError)
    }
    const run = clientAt(gateway.edge).ai.run('openai/gpt-4o-mini', { account_id, prompt: 'Hi' })
    assert.deepEqual(await run, completion)
    // The side port has no AI routes, and a host that is not of ai.hosts neither.
    await assert.rejects(
      clientAt(zone).ai.run('openai/gpt-4o-mini', { account_id, prompt: 'Hi' }),
      Cloudflare.NotFoundError,
    )
    for (const url of [`${gateway.edge}/`, `${gateway.edge}/v1/models`, `${zone}/`, `${zone}/mixed`]) {
      const { status, json } = await ask(url, { token })
      assert.equal(status, 400, url)
      assert.match(json.detail, /a credential of this gateway in the header authorization/)
    }
    assert.deepEqual(seen, [])
    assert.equal(await (await fetch(`${zone}/plain`)).text(), 'site')
  })

const photos = {
  client_name: 'Photos',
  grant_types: ['authorization_code'],
  redirect_uris: ['https://photos.example.com/callback'],
  response_types: ['code'],
  scopes: ['user.read'],
  token_endpoint_auth_method: 'client_secret_basic',
} satisfies Omit<Cloudflare.IAM.OAuthClientCreateParams, 'account_id'>

const plainGateway = {
  cache_invalidate_on_update: false,
  cache_ttl: 0,
  collect_logs: true,
  rate_limiting_interval: 0,
  rate_limiting_limit: 0,
}

/** Reads the arguments of a process and its children, where other users of the machine see them. */
function commandLines(pid: number): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children].map(pid => readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
}
