// Which upgrades come to nothing, and who is ended then; test/journeys/upgrade.test.ts has those of whole gateways.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLogger } from '../../../src/log/log.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import { Upgrade } from '../../../src/process/handover/upgrade.ts'
import { version } from '../../../src/process/system/version.ts'
import { turnsUntil } from '../../help/until.ts'

/** A gateway that is to be replaced by a process which runs this code. */
function upgradeTo(
  t: TestContext,
  code: string,
  settled: string | null = null,
  start = (code: string): ChildProcess =>
    spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] }),
  countedBefore = async () => {},
) {
  const did: string[] = []
  const lines: string[] = []
  const started: ChildProcess[] = []
  const { upgrades } = new Metrics('0')
  const upgrade = new Upgrade({
    gateway: {
      settled,
      bequest: { edge: [], admin: null, secret: Buffer.alloc(32) },
      loans: [],
      makeWay: () => did.push('made way'),
      goOn: async () => void did.push('went on'),
      snapshots: async () => [],
    },
    log: createLogger('info', { write: (line: string) => lines.push(JSON.parse(line).msg) }),
    upgrades,
    env: () => ({}),
    succeeded: () => did.push('succeeded'),
    countedBefore,
    start: () => {
      const child = start(code)
      t.after(() => child.kill('SIGKILL'))
      started.push(child)
      return child
    },
  })
  return { upgrade, did, lines, started, upgrades }
}

/** Asserts that the report names both processes, and how long it took. */
async function assertUpgraded(
  outcome: ReturnType<Upgrade['begin']>,
  after: { readonly pid: number; readonly version: string | null },
): Promise<void> {
  const report = await outcome
  assert.ok(typeof report === 'object', String(report))
  const { seconds, ...processes } = report
  assert.deepEqual(processes, { before: { pid: process.pid, version }, after })
  assert.ok(seconds > 0 && seconds < 60, String(seconds))
}

test('a new gateway that is not ready within a minute is ended, by force where it has to be, and the one that runs goes on', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stubborn =
    "process.on('SIGTERM', () => console.log('asked')); setInterval(() => {}, 1e6); console.log('up')"
  const { upgrade, did, lines, started, upgrades } = upgradeTo(t, stubborn)
  const outcome = upgrade.begin()
  const [child] = started
  await once(child!.stdout!, 'data')
  t.mock.timers.tick(59_999)
  await turn()
  assert.equal(await upgrade.begin(), 'an upgrade is under way')
  t.mock.timers.tick(1)
  assert.equal(String(await once(child!.stdout!, 'data')), 'asked\n')
  assert.deepEqual(did, [])
  t.mock.timers.tick(5_000)
  assert.equal(await outcome, 'the new gateway was not ready within 60 s')
  assert.equal(child!.signalCode, 'SIGKILL')
  assert.deepEqual([did, upgrades.failure.value, upgrades.success.value], [['went on'], 1, 0])
  assert.equal(lines.at(-1), 'upgrade failed, the running gateway continues')
  // The next one may try.
  const next = upgrade.begin()
  await turnsUntil(() => started.length === 2)
  started[1]!.kill('SIGKILL')
  assert.equal(await next, 'the new gateway ended with SIGKILL before it was ready')
})

test('process 1, with which all others of a container would end, is not replaced', async t => {
  const { upgrade, started, lines, upgrades } = upgradeTo(t, '')
  t.mock.property(process, 'pid', 1)
  assert.match(
    String(await upgrade.begin()),
    /^the container would end with this process; replace the container/,
  )
  assert.deepEqual([started, lines, upgrades.failure.value], [[], ['upgrade refused'], 0])
})

test('a gateway that starts or stops is not replaced', async t => {
  const { upgrade, started, lines } = upgradeTo(t, '', 'the gateway is stopping')
  assert.equal(await upgrade.begin(), 'the gateway is stopping')
  assert.deepEqual([started, lines], [[], ['upgrade refused']])
})

test('a program that says what no gateway does ends nothing but the upgrade', async t => {
  const said = ['null', '1', "'ready'", '[]', '{}', "{ kind: 'other' }"].map(one => `process.send(${one})`)
  const { upgrade, did } = upgradeTo(t, `${said.join(';')}; process.disconnect()`)
  assert.equal(await upgrade.begin(), 'the new gateway ended with code 0 before it was ready')
  assert.deepEqual(did, ['went on'])
})

test('if no process can be started, the running gateway continues', async t => {
  const { upgrade, lines, upgrades } = upgradeTo(t, '', null, () => {
    throw new Error('spawn ENOMEM')
  })
  for (let i = 1; i <= 2; i++) {
    assert.equal(await upgrade.begin(), 'the new gateway cannot be started: spawn ENOMEM')
    assert.deepEqual([lines.length, upgrades.failure.value], [i, i])
  }
  assert.equal(lines[0], 'upgrade failed, the running gateway continues')
})

test('a new gateway that says why it cannot serve is ended, and that is the reason', async t => {
  const failing = "process.send({ kind: 'failed', reason: 'no such port' }); setInterval(() => {}, 1e6)"
  const { upgrade, did, started } = upgradeTo(t, failing)
  assert.equal(await upgrade.begin(), 'no such port')
  assert.deepEqual([did, started[0]!.signalCode], [['went on'], 'SIGTERM'])
})

test('a gateway that stops ends the new one with it, but not one that serves', async t => {
  const waiting = upgradeTo(t, 'setInterval(() => {}, 1e6)')
  const outcome = waiting.upgrade.begin()
  waiting.upgrade.abort()
  assert.equal(await outcome, 'the new gateway ended with SIGTERM before it was ready')
  const serving = "process.on('disconnect', () => process.exit(7)); process.send({ kind: 'ready' })"
  const { upgrade, did, started } = upgradeTo(t, serving)
  const begun = upgrade.begin()
  await assertUpgraded(begun, { pid: started[0]!.pid!, version: null })
  assert.deepEqual(did, ['succeeded', 'made way'])
  upgrade.abort()
  const exited = once(started[0]!, 'exit')
  await upgrade.close()
  assert.deepEqual(await exited, [7, null])
})

test('the last counts wait for those of the gateway before', async t => {
  const code = "process.on('message', ({ kind }) => console.log(kind)); process.send({ kind: 'ready' })"
  const { promise: counted, resolve } = Promise.withResolvers<void>()
  const { upgrade, started } = upgradeTo(t, code, null, undefined, () => counted)
  assert.equal(typeof (await upgrade.begin()), 'object')
  const heard = text(started[0]!.stdout!)
  const closed = upgrade.close()
  await turn()
  assert.ok(started[0]!.connected)
  resolve()
  await closed
  assert.deepEqual(await heard, 'counts\nleft\ncounts\n')
})

test('counts are handed over before the new gateway can be asked for them, and again when it is alone', async t => {
  const ready = "if (kind === 'start') process.send({ kind: 'ready' })"
  const code = `process.on('message', ({ kind }) => { console.log(kind); ${ready} }); process.send({ kind: 'hello', version: '9.8.7' })`
  const { upgrade, started } = upgradeTo(t, code)
  const outcome = upgrade.begin()
  const heard = text(started[0]!.stdout!)
  await assertUpgraded(outcome, { pid: started[0]!.pid!, version: '9.8.7' })
  await upgrade.close()
  assert.deepEqual((await heard).split('\n').slice(0, 4), ['counts', 'start', 'counts', 'left'])
})
