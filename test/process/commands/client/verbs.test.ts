// The verbs of `gatehouse client` against a real management API, as a person and a script use them.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { type Reply, startApi } from '../../../admin/api.ts'
import { bodyOfClient } from '../../../admin/oauth-clients/client-bodies.ts'
import { type Outcome, quickGatehouse } from '../../../help/command.ts'
import { proveDomains } from '../../../help/domains.ts'
import { main, writeConfig } from '../../../help/gateway.ts'
import { until } from '../../../help/until.ts'
import { account } from '../../../tokens/token-with.ts'

async function start(t: TestContext) {
  const api = await startApi(t)
  const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: api.owner.value }
  const client = (args: readonly string[], more: NodeJS.ProcessEnv = {}, input = ''): Promise<Outcome> => {
    const url = args.includes('--url') ? [] : ['--url', api.origin]
    return quickGatehouse(['client', ...args, ...url], { ...env, ...more }, input)
  }
  /** Creates one, and gives its id and secret. */
  const create = async (...more: string[]): Promise<{ id: string; secret: string }> => {
    const { code, stdout, stderr } = await client(['create', ...photos, ...more, '--json'])
    assert.equal(code, 0, stderr)
    const { client_id: id, client_secret: secret } = JSON.parse(stdout)
    return { id, secret }
  }
  /** Creates one by the API, for tests of other commands: each command is a process. */
  const make = async (more: object = {}): Promise<string> => {
    const { status, json } = await api.ask('POST', '/oauth_clients', {
      body: bodyOfClient({ ...made, ...more }),
    })
    assert.equal(status, 200)
    return json.result.client_id
  }
  const kept = async (id: string): Promise<Reply['json']> =>
    (await api.ask('GET', `/oauth_clients/${id}`)).json.result
  return { ...api, client, create, make, shown: kept, env }
}

const hour = 3_600_000
const callback = 'https://photos.example.com/callback'
const photos = ['--name', 'Photos', '--redirect-uri', callback, '--scope', 'ai_gateway.read']
/** The same, as the API has it. */
const made = { client_name: 'Photos', redirect_uris: [callback], scopes: ['ai_gateway.read'] }
const ownDomain = { client_uri: 'https://photos.example.com', logo_uri: `${callback}/logo.png` }
const withDomain = ['--client-uri', 'https://photos.example.com', '--logo-uri', `${callback}/logo.png`]

/** Starts a proxy before the API: `meddle` is called before each request is passed, and tells whether its answer breaks off. */
async function startProxy(
  t: TestContext,
  origin: string,
  meddle: (method: string, nth: number) => boolean | Promise<boolean>,
) {
  const asked: string[] = []
  const proxy = createServer(async (request, response) => {
    const { method = '', url, socket } = request
    const { connection: _, 'content-length': __, ...headers } = request.headers as Record<string, string>
    const body = await text(request)
    const isBroken = await meddle(method, asked.push(method))
    const answer = await fetch(`${origin}${url}`, { method, headers, ...(body !== '' && { body }) })
    const content = await answer.text()
    const etag = answer.headers.get('etag')
    if (isBroken) socket.destroy()
    else response.writeHead(answer.status, { ...(etag !== null && { etag }) }).end(content)
  }).listen(0, '127.0.0.1')
  t.after(() => proxy.close())
  await once(proxy, 'listening')
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked }
}

/** Starts `verify --wait`, and gives the lines that it tells meanwhile. */
function waitFor({ origin, env }: Awaited<ReturnType<typeof start>>, id: string) {
  const child = spawn(process.execPath, [main, 'client', 'verify', id, '--wait', '--url', origin], {
    env: { ...process.env, ...env },
  })
  const ended = Promise.all([once(child, 'close'), text(child.stdout)])
  return {
    child,
    ended: ended.then(([[code], stdout]) => ({ code, stdout })),
    told: createInterface(child.stderr),
  }
}

const script = process.env.SCRIPT ?? 'script'
const hasScript = spawnSync(script, ['--version']).error === undefined

test('create writes id and secret once, and nothing else to stdout', async t => {
  const { client, shown } = await start(t)
  const { code, stdout, stderr } = await client(['create', ...photos])
  assert.equal(code, 0)
  const [, id, secret] = /^client_id {6}([0-9a-f]{32})\nclient_secret {2}(svcs_\S{43})\n$/.exec(stdout) ?? []
  assert.match(stderr, /^Created the private client Photos\. Its secret is shown only once\.\n$/)
  const made = await shown(id!)
  assert.deepEqual(
    [made.client_name, made.redirect_uris, made.scopes, made.grant_types, made.token_endpoint_auth_method],
    ['Photos', [callback], ['ai_gateway.read'], ['authorization_code'], 'client_secret_basic'],
  )
  const later = await client(['show', id!])
  assert.doesNotMatch(`${stderr}${later.stdout}${later.stderr}`, new RegExp(secret!.slice(0, -4)))
})

test('create takes every setting as an option', async t => {
  const { create, shown } = await start(t)
  const site = 'https://photos.example.com'
  const { id, secret } = await create(
    ...['--redirect-uri', 'com.example.photos:/callback', '--scope', 'user.read', '--refresh'],
    ...['--auth-method', 'none', '--client-uri', site, '--logo-uri', `${site}/logo.png`],
    ...['--policy-uri', `${site}/privacy`, '--tos-uri', `${site}/terms`],
    ...['--post-logout-uri', `${site}/bye`, '--origin', site],
  )
  assert.equal(secret, undefined)
  const { client_id: _, client_uri_verification: __, ...made } = await shown(id)
  for (const [name, value] of Object.entries({
    redirect_uris: [callback, 'com.example.photos:/callback'],
    scopes: ['ai_gateway.read', 'user.read', 'offline_access'],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    client_uri: site,
    logo_uri: `${site}/logo.png`,
    policy_uri: `${site}/privacy`,
    tos_uri: `${site}/terms`,
    post_logout_redirect_uris: [`${site}/bye`],
    allowed_cors_origins: [site],
  }))
    assert.deepEqual(made[name], value, name)
})

test('create takes the whole body from a file, and shows the record that proves its domain', async t => {
  const { client } = await start(t)
  const file = join(dirname(writeConfig(t, 'zones: []')), 'client.json')
  const body = {
    client_name: 'From a file',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: [callback],
    scopes: ['ai_gateway.read'],
    token_endpoint_auth_method: 'none',
    client_uri: 'https://photos.example.com',
  }
  writeFileSync(file, JSON.stringify(body))
  const { code, stdout, stderr } = await client(['create', '--file', file])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^client_id {2}[0-9a-f]{32}\n$/)
  assert.match(stderr, /^Created the private client From a file\. It has no secret\.$/m)
  assert.match(
    stderr,
    /^record name {3}photos\.example\.com\nrecord type {3}TXT\nrecord value {2}svc_oauth_\S+$/m,
  )
})

test('every fault from the API is printed on a line of its own, with its pointer', async t => {
  const { client, ask } = await start(t)
  const bad = ['--redirect-uri', 'https://photos.example.com/#', '--scope', 'everything']
  const { code, stdout, stderr } = await client(['create', ...photos, ...bad, '--auth-method', 'jwt'])
  assert.deepEqual([code, stdout], [1, ''])
  const lines = stderr.trimEnd().split('\n')
  assert.equal(lines.length, 3)
  for (const [i, pointer] of ['/redirect_uris/1', '/scopes/1', '/token_endpoint_auth_method'].entries())
    assert.ok(
      lines.some(line => /^gatehouse: \S.* \(1000\d at \S+\)$/.test(line) && line.includes(`at ${pointer})`)),
      `${pointer} (${i}) in ${stderr}`,
    )
  assert.equal((await ask('GET', '/oauth_clients')).json.result_info.total_count, 0)
})

test('a connection that breaks after the client was created leaves one client, whose secret is shown', async t => {
  const { origin, client, ask, bugs } = await start(t)
  const { url, asked } = await startProxy(t, origin, (_, nth) => nth === 1)
  const { code, stdout, stderr } = await client(['create', ...photos, '--url', url])
  assert.deepEqual([code, asked], [0, ['POST', 'POST']], stderr)
  const { result } = (await ask('GET', '/oauth_clients')).json
  assert.equal(result.length, 1)
  assert.match(stdout, new RegExp(`^client_id +${result[0].client_id}\nclient_secret +svcs_\\S+\n$`))
  assert.deepEqual(bugs, [])
})

test('list shows a line for each client, filtered where asked, or all as JSON', async t => {
  const { client, make, clock } = await start(t)
  const first = await make()
  clock.advance(1)
  const second = await make({ ...ownDomain, client_name: 'Albums' })
  const { code, stdout, stderr } = await client(['list'])
  assert.deepEqual([code, stderr], [0, ''])
  const [head, ...lines] = stdout.trimEnd().split('\n')
  assert.match(head!, /^CLIENT ID +VISIBILITY +DOMAIN +SECRETS +CREATED +NAME$/)
  assert.deepEqual(
    lines.map(line => line.split(/ +/)),
    [
      [first, 'private', '-', '1', '2026-01-01', 'Photos'],
      [second, 'private', 'pending', '1', '2026-01-01', 'Albums'],
    ],
  )
  const found = JSON.parse((await client(['list', '--json', '--name', 'alb'])).stdout)
  assert.deepEqual(
    found.map((one: { client_id: string }) => one.client_id),
    [second],
  )
  assert.deepEqual(JSON.parse((await client(['list', '--json', '--visibility', 'public'])).stdout), [])
  assert.equal((await client(['list', '--visibility', 'hidden'])).code, 1)
})

test('show prints all of a client, as text or as in the API', async t => {
  const { client, create, shown } = await start(t)
  const { id, secret } = await create(...withDomain)
  const asText = await client(['show', id])
  assert.deepEqual([asText.code, asText.stderr], [0, ''])
  for (const line of [
    new RegExp(`^client_id +${id}$`, 'm'),
    /^client_name +Photos$/m,
    new RegExp(`^client_secrets +…${secret.slice(-4)}, created 2026-01-01T00:00:00\\S*$`, 'm'),
    /^status +pending$/m,
    /^record name +photos\.example\.com$/m,
    /^record value +svc_oauth_client_publisher=[0-9a-f]{32}$/m,
    /^deadline +2026-01-03T00:00:00/m,
  ])
    assert.match(asText.stdout, line)
  assert.deepEqual(JSON.parse((await client(['show', id, '--json'])).stdout), await shown(id))
})

test('rotate writes the new secret alone; a third is refused until drop-old-secret', async t => {
  const { client, create, shown } = await start(t)
  const { id, secret: first } = await create()
  const rotated = await client(['rotate', id])
  assert.equal(rotated.code, 0)
  assert.match(rotated.stdout, /^svcs_\S{43}\n$/)
  assert.notEqual(rotated.stdout.trim(), first)
  assert.match(rotated.stderr, new RegExp(`gatehouse client drop-old-secret ${id}\n$`))
  assert.match((await client(['show', id])).stderr, /^Both secrets work\./)

  const third = await client(['rotate', id])
  assert.deepEqual([third.code, third.stdout], [1, ''])
  assert.match(
    third.stderr,
    new RegExp(
      `^gatehouse: the client ${id} already has two secrets; .*gatehouse client drop-old-secret ${id}\n$`,
    ),
  )
  const dropped = await client(['drop-old-secret', id, '--json'])
  assert.deepEqual([dropped.code, JSON.parse(dropped.stdout)], [0, { id }])
  const { client_secrets: left, has_rotated_secret: isRotated } = await shown(id)
  assert.deepEqual([left.length, left[0].tail, isRotated], [1, rotated.stdout.trim().slice(-4), false])
  const again = await client(['drop-old-secret', id])
  assert.match(again.stderr, /\(10411\)\n$/)
  assert.equal(again.code, 1)
})

test('publish lists what is missing; verify proves the domain; then it is public', async t => {
  const api = await start(t)
  const { client, make, clock, shown } = api
  const id = await make({ client_uri: 'https://photos.example.com' })
  const early = await client(['publish', id, '--yes'])
  assert.deepEqual([early.code, early.stdout], [1, ''])
  const [first, ...missing] = early.stderr.trimEnd().split('\n')
  assert.equal(first, `The client ${id} cannot become public yet. Missing:`)
  assert.deepEqual(
    missing.map(line => line.trim().split(/ {2,}/)),
    [
      ['a logo', `gatehouse client update ${id} --logo-uri URI`],
      ['proof that photos.example.com is yours (pending)', `gatehouse client verify ${id}`],
    ],
  )

  const dns = await proveDomains(t, api)
  await dns.asked('photos.example.com')
  assert.equal((await client(['update', id, '--logo-uri', 'https://photos.example.com/logo.png'])).code, 0)
  const { ended, told } = waitFor(api, id)
  for await (const line of told) {
    if (!line.startsWith('photos.example.com: in_progress, name does not exist')) continue
    dns.txt('photos.example.com', 'v=spf1 -all', (await shown(id)).client_uri_verification.text)
    clock.advance(60_000)
  }
  const { code, stdout } = await ended
  assert.equal(code, 0)
  assert.match(stdout, /^status +verified$/m)

  const known = await client(['verify', id])
  assert.deepEqual([known.code, known.stderr], [0, ''])
  assert.match(known.stdout, /^verified at +2026-01-01T00:01:00/m)
  const published = await client(['publish', id, '--yes'])
  assert.deepEqual([published.code, published.stdout], [0, ''])
  assert.match(published.stderr, /is now public: any user may authorize it/)
  assert.equal((await shown(id)).visibility, 'public')
})

test('publish takes --yes, and nothing else where nobody can be asked', async t => {
  const { client, make } = await start(t)
  const id = await make()
  const { code, stderr } = await client(['publish', id], {}, `${id}\n`)
  assert.equal(code, 2)
  assert.match(stderr, /publishing a client is irreversible; say --yes/)
})

test('publish asks a person at a terminal to type the id', { skip: !hasScript }, async t => {
  const { make, origin, env } = await start(t)
  const id = await make()
  const command = `client publish ${id} --url ${origin}`
  const [thoughtAgain, refrained] = await typeAt(t, command, env, 'publish it: ', '\r')
  assert.equal(thoughtAgain, 1)
  assert.match(refrained, /Nothing was published\./)
  const [code, said] = await typeAt(t, command, env, 'publish it: ', `${id}\r`)
  assert.equal(code, 1)
  assert.match(said, /cannot become public yet/)
})

test('publish says how to set each missing member', async t => {
  const { client, make } = await start(t)
  const id = await make()
  assert.equal((await client(['update', id, '--scope', 'user.read'])).code, 0)
  const { code, stderr } = await client(['publish', id, '--yes'])
  assert.equal(code, 1)
  for (const option of ['--logo-uri URI', '--client-uri URI', '--scope ID'])
    assert.match(stderr, new RegExp(`^  \\S.* gatehouse client update ${id} ${option}$`, 'm'))
  assert.doesNotMatch(stderr, /10412|\/visibility/)
})

test('update changes what its options name, clears what --clear names, and reports both', async t => {
  const { client, make, shown } = await start(t)
  const id = await make({ ...ownDomain, allowed_cors_origins: ['https://photos.example.com'] })
  const { updated_at: _, ...before } = await shown(id)
  const more = ['--redirect-uri', 'https://photos.example.com/other', '--refresh']
  const changed = await client(['update', id, '--name', 'Pictures', ...more, '--clear', 'logo_uri'])
  assert.deepEqual([changed.code, changed.stdout], [0, ''], changed.stderr)
  assert.equal(
    changed.stderr,
    `Changed client_name, grant_types, redirect_uris, scopes, logo_uri of the client ${id}.\n`,
  )
  const { updated_at: __, logo_uri, ...after } = await shown(id)
  assert.equal(logo_uri, undefined)
  const { logo_uri: ___, ...others } = before
  assert.deepEqual(after, {
    ...others,
    client_name: 'Pictures',
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: ['https://photos.example.com/other'],
    scopes: ['ai_gateway.read', 'offline_access'],
  })
  const both = await client([
    'update',
    id,
    '--clear',
    'allowed_cors_origins',
    '--clear',
    'client_uri',
    '--json',
  ])
  assert.deepEqual(JSON.parse(both.stdout), await shown(id))
  assert.equal(both.stderr, `Changed allowed_cors_origins, client_uri of the client ${id}.\n`)
  const same = await client(['update', id, '--name', 'Pictures'])
  assert.deepEqual(
    [same.code, same.stderr],
    [0, `Nothing changed: the client ${id} already has these settings.\n`],
  )
  const bad = await client(['update', id, '--logo-uri', 'ftp://x', '--name', ''])
  assert.deepEqual([bad.code, bad.stdout], [1, ''])
  assert.match(bad.stderr, /^gatehouse: .* at \/client_name\)\ngatehouse: .* at \/logo_uri\)\n$/)
})

test('update writes the secret that a change of the method makes, and the record that a domain needs', async t => {
  const { client, make, shown } = await start(t)
  const id = await make({ token_endpoint_auth_method: 'none' })
  const method = await client(['update', id, '--auth-method', 'client_secret_post'])
  assert.match(method.stdout, /^svcs_\S{43}\n$/)
  assert.match(method.stderr, /^Changed token_endpoint_auth_method of .*\nIt has a secret now, .* once\.\n$/)
  assert.equal((await shown(id)).client_secrets[0].tail, method.stdout.trim().slice(-4))

  const none = await client(['update', id, '--auth-method', 'none'])
  assert.deepEqual([none.code, none.stdout], [0, ''])
  assert.match(none.stderr, /\nIt no longer has a secret; the old ones stopped working\.\n$/)

  const domain = await client(['update', id, '--client-uri', 'https://photos.example.com'])
  assert.equal(domain.stdout, '')
  const { text: record } = (await shown(id)).client_uri_verification
  assert.match(domain.stderr, new RegExp(`^record value +${record}$`, 'm'))
})

test('update takes the members to change from a file', async t => {
  const { client, make, shown } = await start(t)
  const id = await make()
  const file = join(dirname(writeConfig(t, 'zones: []')), 'changes.json')
  writeFileSync(file, '{"tos_uri": "https://photos.example.com/terms"}')
  assert.equal((await client(['update', id, '--file', file])).code, 0)
  assert.equal((await shown(id)).tos_uri, 'https://photos.example.com/terms')
  writeFileSync(file, 'null')
  assert.equal((await client(['update', id, '--file', file])).code, 1)
})

test('update reports only its own change, even if another one came first', async t => {
  const { origin, client, make, ask, shown } = await start(t)
  const id = await make()
  const { url, asked } = await startProxy(t, origin, async method => {
    if (method === 'PATCH' && asked.length === 2)
      await ask('PATCH', `/oauth_clients/${id}`, { body: { client_name: 'Theirs' } })
    return false
  })
  const { code, stderr } = await client(['update', id, '--tos-uri', callback, '--url', url])
  assert.deepEqual([code, stderr], [0, `Changed tos_uri of the client ${id}.\n`])
  assert.deepEqual(asked, ['GET', 'PATCH', 'GET', 'PATCH'])
  const { client_name, tos_uri } = await shown(id)
  assert.deepEqual([client_name, tos_uri], ['Theirs', callback])
})

test('verify asks at once, says so, and starts a failed proof again', async t => {
  const api = await start(t)
  const { client, make, clock, shown } = api
  const bare = await make()
  const none = await client(['verify', bare])
  assert.deepEqual([none.code, none.stdout], [1, ''])
  assert.match(none.stderr, /has no client_uri, so there is no domain to prove; /)
  assert.ok(none.stderr.endsWith(` gatehouse client update ${bare} --client-uri URI\n`))

  const id = await make(ownDomain)
  const dns = await proveDomains(t, api)
  await dns.asked('photos.example.com')
  const proofIs = (status: string) => async () => (await shown(id)).client_uri_verification.status === status
  const { text: record, deadline } = (await shown(id)).client_uri_verification
  await until(proofIs('in_progress'))
  clock.advance(48 * hour)
  await until(proofIs('failed'))
  assert.match((await client(['show', id])).stderr, new RegExp(` run gatehouse client verify ${id}\n$`))

  const anew = await client(['verify', id])
  assert.equal(anew.code, 0)
  assert.match(anew.stdout, new RegExp(`^record value +${record}$`, 'm'))
  assert.match(anew.stdout, new RegExp(`^last check +${deadline}$`, 'm'))
  assert.match(anew.stdout, /^deadline +2026-01-05T00:00:00/m)
  assert.match(anew.stderr, new RegExp(`gatehouse client show ${id}\n$`))
  await until(proofIs('in_progress'))

  const { child, ended, told } = waitFor(api, id)
  let last = ''
  for await (const line of told) {
    if (line.includes('in_progress')) clock.advance(48 * hour)
    last = line
  }
  assert.ok(last.endsWith(`gatehouse client verify ${id}`), last)
  const { code, stdout } = await ended
  assert.deepEqual([code, child.signalCode], [1, null])
  assert.match(stdout, /^status +failed$/m)
})

test('verify never reverts a client_uri that was changed meanwhile, and tries again', async t => {
  const { origin, client, make, ask, shown } = await start(t)
  const id = await make(ownDomain)
  const client_uri = 'https://albums.example.com'
  const { url, asked } = await startProxy(t, origin, async method => {
    if (method === 'PATCH' && asked.length === 2)
      await ask('PATCH', `/oauth_clients/${id}`, { body: { client_uri } })
    return false
  })
  const { code, stdout, stderr } = await client(['verify', id, '--url', url])
  assert.equal(code, 0, stderr)
  assert.deepEqual(asked, ['GET', 'PATCH', 'GET', 'PATCH'])
  assert.match(stdout, /^host +albums\.example\.com$/m)
  assert.equal((await shown(id)).client_uri, client_uri)
})

test('verify keeps waiting while the gateway is unreachable', async t => {
  const api = await start(t)
  const id = await api.make(ownDomain)
  const dns = await proveDomains(t, api)
  await dns.asked('photos.example.com')
  const { url, asked } = await startProxy(t, api.origin, async (_, nth) => {
    if (nth === 7) {
      dns.txt('photos.example.com', (await api.shown(id)).client_uri_verification.text)
      api.clock.advance(60_000)
    }
    return nth > 2 && nth < 7
  })
  const { code, stdout, stderr } = await api.client(['verify', id, '--wait', '--url', url])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^status +verified$/m)
  assert.ok(asked.length > 7)
})

/** Runs a command at a terminal and types when it asks; gives its exit code, and what it said. */
async function typeAt(
  t: TestContext,
  command: string,
  env: Readonly<Record<string, string>>,
  question: string,
  typed: string,
) {
  const line = `'${process.execPath}' '${main}' ${command}`
  const child = spawn(script, ['-qec', line, '/dev/null'], { env: { ...process.env, ...env } })
  t.after(() => child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let said = ''
  let isAsked = false
  for await (const chunk of child.stdout) {
    said += chunk
    if (isAsked || !said.includes(question)) continue
    isAsked = true
    child.stdin.write(typed)
  }
  child.stdin.end()
  return [(await closed)[0], said] as const
}

test('delete takes --yes, and nothing else where nobody can be asked', async t => {
  const { client, make, ask } = await start(t)
  const id = await make()
  assert.equal((await client(['delete', id], {}, `${id}\n`)).code, 2)
  assert.equal((await ask('GET', `/oauth_clients/${id}`)).status, 200)
  const { code, stdout, stderr } = await client(['delete', id, '--yes'])
  assert.deepEqual([code, stdout, stderr], [0, '', `Deleted the client ${id}.\n`])
  assert.equal((await ask('GET', `/oauth_clients/${id}`)).status, 404)
  const again = await client(['delete', id, '--yes'])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /\(7003\)\n$/)
})

test('delete asks a person at a terminal to type the id', { skip: !hasScript }, async t => {
  const { make, ask, origin, env } = await start(t)
  const id = await make()
  const isThere = async () => (await ask('GET', `/oauth_clients/${id}`)).status === 200
  const type = (typed: string) => typeAt(t, `client delete ${id} --url ${origin}`, env, 'delete it: ', typed)
  for (const typed of ['Photos\r', '\r', '\u0004', '\u0003']) {
    const [code, said] = await type(typed)
    assert.equal(code, 1, said)
    assert.match(said, /Nothing was deleted\./)
    assert.ok(await isThere())
  }
  const [code, said] = await type(`${id}\r`)
  assert.equal(code, 0, said)
  assert.equal(await isThere(), false)
})

test('the token can come from stdin; for one without permission the missing permission is named', async t => {
  const { client, keepToken, owner } = await start(t)
  const { value } = await keepToken(['AI Gateway Read'])
  const bad = await client(['list'], { GATEHOUSE_TOKEN: value })
  assert.equal(bad.code, 1)
  assert.match(bad.stderr, /^gatehouse: .*OAuth Clients Read.* \(10000\)\n$/)
  const piped = await client(['list', '--token-file', '-'], { GATEHOUSE_TOKEN: value }, `${owner.value}\n`)
  assert.deepEqual([piped.code, piped.stderr], [0, ''])
})

test('events show what happened to users, and why it failed', async t => {
  const { client, make, kept, clock } = await start(t)
  const id = await make()
  const event = {
    client: id,
    clientAccount: account,
    user: null,
    account: null,
    address: '',
    ray: '',
    isUnproven: false,
  }
  const failure = { result: 'failure', error: 'invalid_grant', reason: 'PKCE verifier\u001b[2J' } as const
  const success = { result: 'success', error: null, reason: null } as const
  const at = clock.now()
  await kept.authorizationEvents.append({ ...event, ...success, id: '1'.repeat(32), at, step: 'consent' })
  await kept.authorizationEvents.append({ ...event, ...failure, id: '2'.repeat(32), at, step: 'token' })
  const { stdout } = await client(['events', id])
  assert.match(
    stdout,
    /^WHEN +STEP +RESULT +REASON\n\S+ +token +invalid_grant +PKCE verifier[^\u001b]*\n\S+ +consent +success\n$/,
  )
  const failed = JSON.parse((await client(['events', id, '--failed', '--json'])).stdout)
  assert.deepEqual(
    failed.map(({ step }: { step: string }) => step),
    ['token'],
  )
})
