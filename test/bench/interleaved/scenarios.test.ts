// What two states of the project are compared in, and what the parts of governing a chat are.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type ScenarioName, scenarios } from '../../../bench/interleaved/scenarios.ts'
import { chatAt } from '../../../bench/load/call.ts'
import { statusOf } from '../../../bench/load/launch.ts'
import { launchOrigin, launchPeer, type Peer } from '../../../bench/load/peers.ts'
import { main } from '../../help/gateway.ts'
import { thorough } from '../../help/thorough.ts'

const compare = new URL('../../../bench/compare.ts', import.meta.url).pathname
const root = new URL('../../..', import.meta.url).pathname

/** Returns the peer of a scenario, which starts what other tests start, in half the time of the sources. */
function peerOf(name: ScenarioName): Peer {
  const peer = scenarios[name].peer(name, root)
  const prepare: Peer['prepare'] = async (port, origin) => {
    const command = await peer.prepare(port, origin)
    return { ...command, args: command.args.with(0, main) }
  }
  return { ...peer, prepare }
}

test('only what runs under the same load is compared', () => {
  for (const against of ['open', 'nothing']) {
    const { status, stderr } = spawnSync(process.execPath, [
      compare,
      root,
      '--mix',
      'get',
      '--against',
      against,
    ])
    assert.equal(status, 2)
    assert.match(stderr.toString(), /^node bench\/compare\.ts REF/)
  }
})

test('a gateway asks for a token in just the scenarios that say so', async t => {
  const origin = await launchOrigin()
  t.after(() => origin.stop())
  const statuses = async (name: ScenarioName) => {
    const peer = peerOf(name)
    const gateway = await launchPeer(peer, origin.port)
    t.after(() => gateway.stop())
    const door = peer.door!(gateway.printed(), origin.port)
    return [await statusOf(gateway.port, chatAt(door)), await statusOf(gateway.port, chatAt(door, 'none'))]
  }
  assert.deepEqual(await statuses('governed'), [200, 401])
  assert.deepEqual(await statuses('entries'), [200, 200])
})

test('what clients show a gate lets them in, and its origin is not open to others', async t => {
  const origin = await launchOrigin()
  t.after(() => origin.stop())
  for (const name of thorough<readonly ScenarioName[]>(
    ['protectedSession', 'protectedAccess', 'identifiedJwt'],
    ['protectedSession'],
  )) {
    const peer = peerOf(name)
    const gateway = await launchPeer(peer, origin.port)
    t.after(() => gateway.stop())
    assert.equal(await statusOf(gateway.port, peer.call!()), 200, name)
    assert.equal(await statusOf(gateway.port), 401, name)
  }
})

test('each client in turn shows something of its own', async () => {
  const peer = scenarios.bearers.peer('bearers', root)
  await peer.prepare(1, 2)
  const requests = readFileSync(peer.call!().requests!, 'latin1').split('\0').slice(0, -1)
  assert.equal(
    new Set(requests.map(head => /\r\nAuthorization: (Bearer .+)\r\n\r\n$/.exec(head)![1])).size,
    1000,
  )
})
