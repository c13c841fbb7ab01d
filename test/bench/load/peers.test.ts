// Who takes part in the bench, and how chats reach their provider through them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { MIX_NAMES, MIXES } from '../../../bench/load/mixes.ts'
import { parseDropped } from '../../../bench/load/meter.ts'
import { chatAt } from '../../../bench/load/call.ts'
import { statusOf } from '../../../bench/load/launch.ts'
import { launchOrigin, launchPeer, type Peer, PEERS } from '../../../bench/load/peers.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { loadConfig } from '../../../src/config/load/load.ts'
import { gatehouse } from '../../../bench/load/peers/gatehouse.ts'
import { gatehouseAi } from '../../../bench/load/peers/gatehouse-ai.ts'
import { nginx } from '../../../bench/load/peers/nginx.ts'
import { gatehouseOauth } from '../../../bench/load/peers/gatehouse-oauth.ts'
import { gatehousesWithRules } from '../../../bench/load/peers/gatehouse-rules.ts'

const ACCOUNT = '0123456789abcdef0123456789abcdef'
const PRINTED = `Account  ${ACCOUNT}\nToken    svct_Ab-_9\nIt is shown once.\n`

test('each name that a mix measures is that of a contestant, and nobody is there in vain', () => {
  const named = new Set(MIX_NAMES.flatMap(mix => MIXES[mix].peers))
  assert.deepEqual([...named].sort(), PEERS.map(peer => peer.name).sort())
})

test('the account and the token of a first start are put where each kind of AI route wants them', () => {
  const native = gatehouseAi('native').door!(PRINTED, 1)
  assert.equal(native.path, `/v1/${ACCOUNT}/default/openai/chat/completions`)
  assert.deepEqual(native.token, ['svc-aig-authorization', 'Bearer svct_Ab-_9'])
  const rest = gatehouseAi('REST').door!(PRINTED, 1)
  assert.equal(rest.path, `/client/v4/accounts/${ACCOUNT}/ai/v1/chat/completions`)
  assert.deepEqual(rest.token, ['authorization', 'Bearer svct_Ab-_9'])
})

test('what Gatehouse with rules is started with is good', async () => {
  for (const peer of gatehousesWithRules.filter(({ name }) => !/ list$| Redis$/.test(name))) {
    const { args } = await peer.prepare(1, 2)
    assert.ok('config' in loadConfig(args.at(-1)!), peer.name)
  }
})

test('no connection ends before its load does', async () => {
  for (const peer of [gatehouse(), gatehouseAi('native')]) {
    const { args } = await peer.prepare(1, 2)
    const loaded = loadConfig(args.at(-1)!)
    assert.ok('config' in loaded, peer.name)
    assert.equal(loaded.config.limits.requestsPerConnection, 1e9)
  }
})

test('Gatehouse and nginx log accesses as long as nothing else is said, and the output of a start is its beginning', async t => {
  const origin = await launchOrigin()
  t.after(() => origin.stop())
  const logged = async (peer: Peer) => {
    const proxy = await launchPeer(peer, origin.port)
    t.after(() => proxy.stop())
    const lineOf = () =>
      proxy
        .printed()
        .split('\n')
        .find(line => line.includes('"msg":"request"'))
    for (const end = Date.now() + 2_000; lineOf() === undefined && Date.now() < end; ) await setTimeout(20)
    return Object.keys(JSON.parse(lineOf() ?? '{}'))
  }
  const fields = await logged(gatehouse())
  assert.ok(fields.includes('duration'))
  if (nginx.version() !== null)
    assert.deepEqual(
      (await logged(nginx)).filter(field => !fields.includes(field)),
      [],
    )
  const silent = await gatehouse('silent', { logsAccess: false }).prepare(1, 2)
  const loaded = loadConfig(silent.args.at(-1)!)
  assert.ok('config' in loaded && !loaded.config.log.access)
})

test('a refused request is recognized by its status', () => {
  for (const peer of gatehousesWithRules)
    assert.equal(peer.denial !== undefined, MIXES.refused.peers.includes(peer.name))
})

test('an access token that was kept before the start is let in, and an unknown or revoked one is refused', async t => {
  const origin = await launchOrigin()
  t.after(() => origin.stop())
  const peer = gatehouseOauth()
  const gateway = await launchPeer(peer, origin.port)
  t.after(() => gateway.stop())
  const door = peer.door!(gateway.printed(), origin.port)
  assert.match(door.token![1], /^Bearer svco_/)
  assert.equal(await statusOf(gateway.port, chatAt(door)), 200)
  const unknown = { ...door, token: [door.token![0], `Bearer ${mintToken('svco_').value}`] } as const
  assert.equal(await statusOf(gateway.port, chatAt(unknown)), 401)
  const [revoked] = readFileSync(chatAt(door, 'revoked').revoked!, 'utf8').split('\n')
  const shown = { ...door, token: [door.token![0], `Bearer ${revoked}`] } as const
  const asked = async () => {
    const text = await (await fetch(`http://127.0.0.1:${gateway.metrics}/metrics`)).text()
    return Number(/gatehouse_token_lookups_total\{source="asked"\} (\d+)/.exec(text)![1])
  }
  const before = await asked()
  assert.equal(await statusOf(gateway.port, chatAt(shown)), 401)
  assert.equal(await asked(), before + 1)
})

test('a start that prints no token is an error', () => {
  assert.throws(() => gatehouseAi('native').door!('Listening', 1), /printed no account and no token/)
})

test('dropped log entries are read from the exposition, whatever other labels there are', () => {
  const name = 'gatehouse_ai_log_entries_total'
  const lines = [
    `# TYPE ${name} counter`,
    `${name}{result="written"} 9`,
    `${name}{worker="1",result="dropped"} 4`,
  ]
  assert.equal(parseDropped(lines.join('\n')), 4)
  assert.ok(Number.isNaN(parseDropped('')))
})
