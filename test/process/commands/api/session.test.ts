// How `gatehouse client` is told where the API is and who asks; what is wrong there is told before anything is sent.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { quickGatehouse } from '../../../help/command.ts'
import { writeConfig } from '../../../help/gateway.ts'
import { freePort } from '../../../help/free-port.ts'

const account = '0123456789abcdef0123456789abcdef'
const id = 'fedcba9876543210fedcba9876543210'
const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: 'svct_SECRET' }

const misuses: readonly [args: string[], env: NodeJS.ProcessEnv, sentence: RegExp][] = [
  [['list'], { ...env, GATEHOUSE_TOKEN: '' }, /set an API token in GATEHOUSE_TOKEN/],
  [['list', '--account', '..'], env, /an account id has 32 hexadecimal digits/],
  [['list'], { ...env, GATEHOUSE_TOKEN: 'svct_SECRET\u0007x' }, /the API token has invalid characters/],
  [['list', '--token-file', '/nowhere/SECRET'], env, /--token-file names a file that cannot be read/],
  [['list', '--url', 'ftp://127.0.0.1'], env, /--url must be a URL such as http:\/\/127\.0\.0\.1:8081/],
  [['list', '--url', 'http://user:SECRET@127.0.0.1'], env, /--url must be a URL such as/],
  [['list', '--token', 'svct_SECRET'], env, /unknown option '--token'/],
  [['list', '--yes'], env, /unknown option '--yes'; usage: gatehouse client list/],
  [['list', id], env, /unexpected argument/],
  [['show'], env, /missing argument; usage: gatehouse client show ID/],
  [['show', '../tokens'], env, /a client id has 32 hexadecimal digits/],
  [['rotate', id, '--wait'], env, /unknown option '--wait'/],
  [['create'], env, /a client needs --name, --redirect-uri and --scope, or --file/],
  [['create', '--file', '/nowhere.json'], env, /--file \/nowhere\.json cannot be read/],
  [['create', '--file', 'README.md'], env, /--file README\.md is not valid JSON/],
  [['create', '--file', 'package.json', '--refresh'], env, /cannot be combined with other settings/],
  [['update'], env, /missing argument; usage: gatehouse client update ID/],
  [['update', id], env, /nothing to change; see gatehouse client update --help/],
  [['update', id, '--clear', 'scopes'], env, /--clear scopes must be one of optional_scopes, /],
  [
    ['update', id, '--clear', 'logo_uri', '--logo-uri', 'https://a.example'],
    env,
    /--clear logo_uri cannot be combined/,
  ],
  [['update', id, '--refresh', '--no-refresh'], env, /--refresh cannot be combined with --no-refresh/],
  [
    ['update', id, '--file', 'package.json', '--clear', 'tos_uri'],
    env,
    /cannot be combined with other settings/,
  ],
  [['update', id, '--file', '/nowhere\u001b[2J'], env, /--file \/nowhere\\u\{1b\}\[2J cannot be read/],
  [
    ['create', '--name', '-x'],
    env,
    /^gatehouse: --name needs a value: .* --name=VALUE; usage: gatehouse client create/,
  ],
  [['st\u001b[2Jeal'], env, /unknown command 'client st\\u\{1b\}\[2Jeal'/],
  [['delete', id], env, /deleting a client revokes all of its grants; say --yes/],
  [['publish', id], env, /publishing a client is irreversible; say --yes/],
  [['steal'], env, /unknown command 'client steal'; see gatehouse client --help/],
]

for (const [args, variables, sentence] of misuses) {
  test(`gatehouse client ${args.join(' ')} is refused in a sentence, with exit code 2: ${sentence}`, async () => {
    const { code, stdout, stderr } = await quickGatehouse(['client', ...args], variables)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, sentence)
    assert.match(stderr, /^gatehouse: [^\n]*\n$/)
    assert.doesNotMatch(stderr, /SECRET/)
  })
}

/** Starts a server that has no clients, and notes what it is asked and by whom. */
async function start(t: TestContext) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`)
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result: [] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return { seen, port, url: `http://127.0.0.1:${port}` }
}

const asked = new RegExp(`^/client/v4/accounts/${account}/oauth_clients\\?\\S+ Bearer svct_SECRET$`)

test('the address is that of --url, with the base path of the API or without', async t => {
  const { seen, url } = await start(t)
  for (const written of [url, `${url}/`, `${url}/client/v4`, `${url}/client/v4/`])
    assert.equal((await quickGatehouse(['client', 'list', '--url', written], env)).code, 0)
  assert.equal(seen.length, 4)
  for (const line of seen) assert.match(line, asked)
})

test('the address is that of the configuration otherwise, and its mistakes are told', async t => {
  const { seen, port } = await start(t)
  const listen = `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:${port}\nzones: []\nai: { hosts: [127.0.0.1] }\n`
  const good = writeConfig(t, listen)
  assert.equal((await quickGatehouse(['client', 'list', '--config', good], env)).code, 0)
  assert.equal((await quickGatehouse(['client', 'list'], { ...env, GATEHOUSE_CONFIG: good })).code, 0)
  assert.equal(seen.length, 2)
  const bad = writeConfig(t, `${listen}colour: red\n`)
  const { code, stderr } = await quickGatehouse(['client', 'list', '--config', bad], env)
  assert.equal(code, 2)
  assert.ok(stderr.includes(`${bad}:5:1 colour`), stderr)
  assert.equal(seen.length, 2)
})

test('the token can come from a file, the account from an option', async t => {
  const { seen, url } = await start(t)
  const file = join(dirname(writeConfig(t, 'zones: []')), 'token')
  writeFileSync(file, 'svct_SECRET\n')
  const args = ['client', 'list', '--url', url, '--token-file', file, '--account', account]
  assert.equal((await quickGatehouse(args, { GATEHOUSE_TOKEN: 'svct_OTHER' })).code, 0)
  assert.match(seen[0]!, asked)
})

test('an unreachable gateway is reported in a sentence, with exit code 1', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const { code, stdout, stderr } = await quickGatehouse(['client', 'list', '--url', url], env)
  assert.deepEqual([code, stdout], [1, ''])
  assert.equal(stderr, `gatehouse: ${url} refuses connections; is the gateway running?\n`)
})

test('mistakes in a configuration that was not named are ignored: the default address is used', async () => {
  const { code, stderr } = await quickGatehouse(['client', 'list'], { ...env, ORIGIN: 'not an origin' })
  // What answers at that address, if anything does, knows no such token.
  assert.equal(code, 1, stderr)
  assert.doesNotMatch(stderr, /gatehouse\.yaml/)
})
