// Upgrades: a new process from the code on disk takes the place of the one that runs, which loses nothing and nobody.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get, type ServerResponse } from 'node:http'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gatehouse } from '../help/command.ts'
import { freePort } from '../help/free-port.ts'
import { beHeld, heldAt, lastingPenalty } from '../help/held.ts'
import { main, writeConfig } from '../help/gateway.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { readMetrics } from '../help/prometheus.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { SharedLog } from '../help/shared-log.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { root } from '../help/source.ts'
import { thorough } from '../help/thorough.ts'
import { busySecond, until } from '../help/until.ts'
import { runTrial } from '../help/upgrade-trial.ts'
import { late, Visitor } from '../help/visitor.ts'

/** A gateway and those that replace it. */
class Dynasty {
  readonly log: SharedLog
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  constructor(t: TestContext, node: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(node, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#exited = once(this.#child, 'exit')
    this.log = new SharedLog(this.#child)
    t.after(async () => {
      for (const pid of new Set(this.log.lines.map(({ pid }) => pid))) end(pid)
      await this.log.closed
    })
  }

  /** The code with which the first one ended. */
  get exited(): Promise<number | null> {
    return this.#exited.then(() => this.#child.exitCode)
  }

  /** The signal that ended it. */
  get signal(): NodeJS.Signals | null {
    return this.#child.signalCode
  }

  get pid(): number {
    return this.#child.pid!
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // It has ended already.
  }
}

/** Returns what, in NODE_OPTIONS, has processes start once there is no such file. */
function waitingAt(file: string): string {
  const code = `import{existsSync}from'node:fs';while(existsSync('${file}'))await(new(Promise)(resolve=>setTimeout(resolve,20)))`
  return `--import=data:text/javascript,${code}`
}

/** Starts a gateway of this configuration before a site that says `hello`, on `/held` once the test says so. */
async function start(
  t: TestContext,
  workers: number,
  program = main,
  more: NodeJS.ProcessEnv = {},
  node = process.execPath,
) {
  const held: ServerResponse[] = []
  const origin = await startSite(t, ({ url }, response) => {
    if (url === '/held') held.push(response)
    else response.end('hello')
  })
  const [edge, admin] = await Promise.all([freePort(), freePort()])
  const listen = `listen: [{address: '127.0.0.1:${edge}', h2c: true}]`
  const settings = `workers: ${workers}\n${listen}\nadmin: 127.0.0.1:${admin}\n${lastingPenalty}`
  const file = writeConfig(t, siteConfig(origin, settings))
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
  const gateway = new Dynasty(t, node, [program, 'start', '--config', file], { ...env, ...more })
  await gateway.log.nth('ready')
  return { gateway, file, env, held, edge: `http://127.0.0.1:${edge}`, admin: `http://127.0.0.1:${admin}` }
}

for (const workers of thorough([0, 2], [2]))
  test(`clients of every kind notice no reload, no upgrade, and of a killed worker what it held (workers: ${workers})`, async t => {
    const deeds = workers === 0 ? (['reload', 'upgrade'] as const) : (['upgrade', 'kill', 'reload'] as const)
    const { counts, failures, lost, metrics } = await runTrial({ workers, pause: 300, deeds, clients: 1 })
    t.diagnostic(`${JSON.stringify(counts)}, ${lost} lost with a worker`)
    assert.deepEqual(failures, [])
    for (const [kind, count] of Object.entries(counts)) assert.ok(count > 0, kind)
    // What the gateways before have counted is not forgotten.
    const { samples } = readMetrics(metrics)
    assert.equal(
      samples.get('gatehouse_upgrades_total{result="success"}'),
      deeds.filter(deed => deed === 'upgrade').length,
    )
    assert.equal(samples.get('gatehouse_config_reloads_total{result="success"}'), 1)
    if (workers === 0) {
      const counted = samples.get('gatehouse_requests_total{zone="site",status_class="2xx"}')!
      const { websocket: _, ...answered } = counts
      assert.ok(counted >= Object.values(answered).reduce((sum, count) => sum + count, 0), `${counted}`)
    }
  })

test('if the new gateway cannot start, the running one continues and logs why, and a later upgrade replaces it', async t => {
  const gate = join(quickFolder(t, 'upgrade'), 'closed')
  const { gateway, file, env, edge, admin } = await start(t, 0, main, { NODE_OPTIONS: waitingAt(gate) })
  const yaml = readFileSync(file, 'utf8')
  const attempts = [
    ['pool: site', 'pool: nobody', /pool must be the name of a pool/],
    [
      'listen: [',
      "listen: ['203.0.113.1:1', ",
      /cannot listen on 203\.0\.113\.1:1: this machine does not have this address/,
    ],
  ] as const
  for (const [i, [from, to, why]] of attempts.entries()) {
    writeFileSync(file, yaml.replace(from, to))
    const { code, stderr } = await gatehouse(['upgrade', '--config', file], env)
    assert.equal(code, i === 0 ? 2 : 1)
    assert.match(stderr, why)
    if (i === 0) process.kill(gateway.pid, 'SIGUSR2')
    assert.match((await gateway.log.nth('upgrade failed, the running gateway continues', i + 1)).reason!, why)
  }
  assert.equal(await (await fetch(edge)).text(), 'hello')
  assert.equal((await fetch(`${admin}/readyz`)).status, 200)
  writeFileSync(file, yaml)
  // However fast the new one starts, it is not there yet.
  writeFileSync(gate, '')
  process.kill(gateway.pid, 'SIGUSR2')
  await gateway.log.nth('upgrade started', attempts.length + 1)
  // Whoever has the note of the data folder finds this gateway still.
  const { code, stderr } = await gatehouse(['upgrade', '--config', file], env)
  assert.deepEqual([code, stderr], [1, 'gatehouse: an upgrade is under way\n'])
  rmSync(gate)
  const { next } = await gateway.log.nth('upgraded: the new gateway serves')
  assert.equal((await gateway.log.nth('ready', 2)).pid, next)
  assert.equal(await gateway.exited, 0)
  const upgraded = await gatehouse(['upgrade', '--config', file, '--json'], env)
  assert.deepEqual([upgraded.code, upgraded.stderr], [0, ''])
  const { before, after, seconds } = JSON.parse(upgraded.stdout)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { pid } = await gateway.log.nth('ready', 3)
  assert.deepEqual(
    [before, after],
    [
      { pid: next, version },
      { pid, version },
    ],
  )
  assert.ok(seconds > 0 && seconds < 60, seconds)
  assert.equal(await (await fetch(edge)).text(), 'hello')
})

test('the old workers finish what they have, and have those clients connect again', async t => {
  const { gateway, held, edge } = await start(t, 1)
  const session = await connectHttp2(t, edge)
  const farewell = once(session, 'goaway')
  const [plain, streamed] = [
    fetch(`${edge}/held`),
    ask(session, { ':path': '/held', ':authority': '127.0.0.1' }),
  ]
  await until(() => held.length === 2)
  process.kill(gateway.pid, 'SIGUSR2')
  await gateway.log.nth('upgraded: the new gateway serves')
  assert.equal((await farewell)[0], 0)
  assert.equal(await (await fetch(edge)).text(), 'hello')
  for (const response of held) response.end('in time')
  const response = await plain
  assert.deepEqual([response.headers.get('connection'), await response.text()], ['close', 'in time'])
  assert.equal(String((await streamed).body), 'in time')
  assert.equal(await gateway.exited, 0)
})

for (const workers of thorough([0, 1], [1]))
  test(`connections that are held are reset by an upgrade, and nobody waits for them (workers: ${workers})`, async t => {
    const { gateway, edge, admin } = await start(t, workers)
    const { ends } = await beHeld(t, edge, admin)
    process.kill(gateway.pid, 'SIGUSR2')
    await gateway.log.nth('upgraded: the new gateway serves')
    assert.deepEqual(new Set(await ends), new Set(['ECONNRESET']))
    assert.equal(await gateway.exited, 0)
    assert.equal(await heldAt(admin), 0)
    assert.equal(await (await fetch(edge)).text(), 'hello')
  })

test('new connections to the side port notice no upgrade', async t => {
  const upgrades = thorough(2, 1)
  const { gateway, admin } = await start(t, 0)
  const visitors = Array.from({ length: 12 }, (_, i) => new Visitor(Number(new URL(admin).port), i * 8))
  t.after(() => Promise.all(visitors.map(visitor => visitor.leave())))
  let { pid } = gateway
  for (let i = 1; i <= upgrades; i++) {
    const before = late(visitors)
    process.kill(pid, 'SIGUSR2')
    pid = (await gateway.log.nth('upgraded: the new gateway serves', i)).next!
    await gateway.log.nth('stopped', i)
    assert.ok(late(visitors) > before, 'no connection was open when the port was left')
  }
  const outcomes = (await Promise.all(visitors.map(visitor => visitor.leave()))).flat()
  t.diagnostic(`${outcomes.length} connections, ${late(visitors)} of them open when the port was left`)
  assert.deepEqual(
    outcomes.filter(outcome => outcome !== 'served'),
    [],
  )
})

test('a command finds the gateway even where the file names another side port by now', async t => {
  const { gateway, file, env, admin } = await start(t, 0)
  const next = await freePort()
  const yaml = readFileSync(file, 'utf8')
  writeFileSync(file, yaml.replace(new URL(admin).host, `127.0.0.1:${next}`))
  const reloaded = await gatehouse(['reload', '--config', file], env)
  assert.deepEqual(
    [reloaded.code, reloaded.stderr],
    [1, 'gatehouse: restart required to change admin: run gatehouse upgrade\n'],
  )
  // A gateway of another file is none of its business.
  const other = writeConfig(t, siteConfig(admin, `admin: 127.0.0.1:${next}\nlisten: ['127.0.0.1:0']`))
  assert.equal((await gatehouse(['upgrade', '--config', other], env)).code, 1)
  const upgraded = await gatehouse(['upgrade', '--config', file], env)
  assert.deepEqual([upgraded.code, upgraded.stderr], [0, ''])
  assert.match(
    upgraded.stdout,
    /^Upgraded in \d+\.\d s: process \d+ \(.+\) serves; process \d+ \(.+\) finishes its requests and exits\.\n$/,
  )
  assert.equal(await gateway.exited, 0)
  assert.equal((await fetch(`http://127.0.0.1:${next}/readyz`)).status, 200)
})

test('what a gateway counts while it drains is counted by the next but one, too', async t => {
  const { gateway, held, edge, admin } = await start(t, 0)
  const late = fetch(`${edge}/held`)
  await until(() => held.length === 1)
  process.kill(gateway.pid, 'SIGUSR2')
  const { next } = await gateway.log.nth('upgraded: the new gateway serves')
  process.kill(next!, 'SIGUSR2')
  await gateway.log.nth('upgraded: the new gateway serves', 2)
  // Long enough for the second one, which has nothing to do, to stop if it does not wait.
  await Promise.race([gateway.log.nth('stopped'), sleep(1_500)])
  held[0]!.end('in time')
  assert.equal(await (await late).text(), 'in time')
  assert.equal(await gateway.exited, 0)
  await gateway.log.nth('stopped', 2)
  const { samples } = readMetrics(await (await fetch(`${admin}/metrics`)).text())
  assert.equal(samples.get('gatehouse_requests_total{zone="site",status_class="2xx"}'), 1)
})

/** What, in NODE_OPTIONS, kills each gateway that is being replaced at the next of the MOMENTS of its environment: before it sends a message of this kind to its successor, or where that has said so. */
const killing = `--import=data:text/javascript,${encodeURIComponent(`
import cp from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
const [moment, ...later] = process.env.MOMENTS.split(',')
const { fork } = cp
const die = () => process.kill(process.pid, 'SIGKILL')
cp.fork = (file, args, options) => {
  if (options?.env.GATEHOUSE_UPGRADE === undefined) return fork(file, args, options)
  const child = fork(file, args, { ...options, env: { ...options.env, MOMENTS: later.join() } })
  const send = child.send.bind(child)
  child.send = (message, ...rest) => {
    if (message.kind === moment) return die()
    const sent = send(message, ...rest)
    if (message.kind === 'start' && moment === 'after start') die()
    return sent
  }
  if (moment === 'fork') die()
  child.on('message', message => message?.kind === moment && die())
  return child
}
syncBuiltinESMExports()`)}`

/** Asks on a connection of its own: one that is kept ends with who has it. */
async function askAnew(url: string): Promise<string> {
  const [response] = await once(get(url, { agent: false }), 'response')
  return text(response)
}

/** Whether all threads of a process have ended, and with them its sockets, be it that nobody has asked for its code yet (proc_pid_stat(5)). */
function hasEnded(pid: number): boolean {
  const folder = `/proc/${pid}/task`
  const stateOf = (thread: string) =>
    readFileSync(join(folder, thread, 'stat'), 'utf8').replace(/^.*\) (.).*$/s, '$1')
  try {
    return readdirSync(folder).every(thread => 'ZX'.includes(stateOf(thread)))
  } catch {
    return !existsSync(folder)
  }
}

type Killings = readonly (readonly [workers: number, moments: readonly string[]])[]

// Without workers the process itself serves; with two, those of both gateways share the sockets.
for (const [workers, moments] of thorough<Killings>(
  [
    [0, ['edge', 'after start']],
    [1, ['fork', 'hello', 'edge', 'admin']],
    [1, ['start', 'after start', 'ready', 'left']],
    [2, ['after start']],
  ],
  [
    [0, ['edge']],
    [1, ['hello', 'admin', 'after start', 'left']],
  ],
))
  test(`after a gateway was killed during its upgrade, the next one takes the place (workers: ${workers}; at ${moments.join(', ')})`, async t => {
    const env = { NODE_OPTIONS: killing, MOMENTS: moments.join() }
    const { gateway, edge, admin } = await start(t, workers, main, env)
    let { pid } = gateway
    for (const [i, moment] of moments.entries()) {
      assert.equal(await askAnew(edge), 'hello', moment)
      process.kill(pid, 'SIGUSR2')
      await until(() => hasEnded(pid))
      const killed = performance.now()
      const next = await gateway.log.nth('ready', i + 2)
      const took = performance.now() - killed
      assert.notEqual(next.pid, pid, moment)
      assert.equal(await askAnew(edge), 'hello', moment)
      assert.equal((await fetch(`${admin}/readyz`)).status, 200, moment)
      t.diagnostic(`${moment}: served ${Math.round(took)} ms later`)
      assert.ok(took < busySecond, `${moment}: ${took} ms`)
      pid = next.pid
    }
    await gateway.exited
    assert.equal(gateway.signal, 'SIGKILL')
    const upgraded = gateway.log.lines.filter(({ msg }) => msg.startsWith('upgraded'))
    assert.equal(upgraded.length, moments.some(moment => moment === 'left') ? 1 : 0)
  })

test('a link that leads to another Node by now leads the new gateway to it', async t => {
  const folder = quickFolder(t, 'nodes')
  const [link, next] = [join(folder, 'current'), join(folder, 'next')]
  symlinkSync(process.execPath, link)
  const { gateway, edge } = await start(t, 0, main, {}, link)
  writeFileSync(next, `#!/bin/sh\nexport OTHER_NODE=1\nexec ${process.execPath} "$@"\n`, { mode: 0o755 })
  rmSync(link)
  symlinkSync(next, link)
  process.kill(gateway.pid, 'SIGUSR2')
  const { next: pid } = await gateway.log.nth('upgraded: the new gateway serves')
  assert.match(readFileSync(`/proc/${pid}/environ`, 'utf8'), /\0OTHER_NODE=1/)
  assert.equal(await gateway.exited, 0)
  assert.equal(await (await fetch(edge)).text(), 'hello')
})

test('no counter goes back, even where the old gateway is killed before anybody has asked for its counts', async t => {
  const { gateway, edge, admin } = await start(t, 1)
  for (let i = 0; i < 3; i++) assert.equal(await (await fetch(edge)).text(), 'hello')
  process.kill(gateway.pid, 'SIGUSR2')
  await gateway.log.nth('upgraded: the new gateway serves')
  process.kill(gateway.pid, 'SIGKILL')
  await gateway.exited
  const { samples } = readMetrics(await (await fetch(`${admin}/metrics`)).text())
  assert.equal(samples.get('gatehouse_requests_total{zone="site",status_class="2xx"}'), 3)
})

test('if the new code throws, the running gateway continues and logs why', async t => {
  const folder = dirname(writeConfig(t, 'zones: []'))
  const program = join(folder, relative(root, main))
  cpSync(dirname(main), dirname(program), { recursive: true })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const { gateway, edge } = await start(t, 0, program)
  const [, commands] = /\bimport\(['"](.+?)['"]\)/.exec(readFileSync(program, 'utf8'))!
  writeFileSync(join(dirname(program), commands!), "throw new Error('a bad release')")
  process.kill(gateway.pid, 'SIGUSR2')
  const { reason } = await gateway.log.nth('upgrade failed, the running gateway continues')
  assert.match(reason!, /a bad release/)
  assert.equal(await (await fetch(edge)).text(), 'hello')
})
