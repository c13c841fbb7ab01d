// As a service of systemd: with sockets that it has bound, and told how the service is.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from '../help/free-port.ts'
import { main, writeConfig } from '../help/gateway.ts'
import { siteConfig, startSite } from '../help/site.ts'

/** A socket as that of systemd, in Perl, which every Debian has: prints each datagram as a line of JSON, with the process that sent it. */
const receiver = `
use Socket; use strict; $| = 1;
socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
setsockopt($s, SOL_SOCKET, 16, 1) or die;
bind($s, pack('S a*', AF_UNIX, $ARGV[0] =~ s/^@/\\0/r)) or die "$!";
print "\\n";
while (defined recv($s, my $m, 4096, 0)) { $m =~ s/\\n/|/g; print "$m\\n" }
`

/** A flag of open files (proc_pid_fdinfo(5), x86 and ARM). */
const closeOnExec = 0o2000000

/** Returns the lines of all that is sent to an address. */
async function listen(t: TestContext, address: string) {
  const child = spawn('perl', ['-e', receiver, address], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout! }).on('line', line => lines.push(line))
  await once(reader, 'line')
  return async (wanted: RegExp, nth = 1): Promise<string> => {
    for (;;) {
      const found = lines.filter(line => wanted.test(line))[nth - 1]
      if (found !== undefined) return found
      await once(reader, 'line')
    }
  }
}

async function bind(): Promise<{ readonly server: Server; readonly port: number; readonly fd: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return { server, port, fd: (server as unknown as { _handle: { fd: number } })._handle.fd }
}

/** Starts a gateway as systemd does: in the process that its variables name. */
function start(t: TestContext, file: string, fds: readonly number[], variables: NodeJS.ProcessEnv) {
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data'), ...variables }
  const child = spawn(
    '/bin/sh',
    ['-c', 'LISTEN_PID=$$ exec "$@"', 'sh', process.execPath, main, 'start', '--config', file],
    {
      env,
      stdio: ['ignore', 'pipe', 'pipe', ...fds],
    },
  )
  const pids = [child.pid!]
  const closed = once(child, 'close')
  t.after(async () => {
    for (const pid of pids)
      try {
        process.kill(pid, 'SIGTERM')
      } catch {
        // It has ended already.
      }
    await closed
  })
  return { child, pids, stdout: text(child.stdout!), stderr: text(child.stderr!) }
}

test('a service is told to be ready, reloading, replaced and stopping by the process that is it, and alive while its workers are', async t => {
  const site = await startSite(t, (_, response) => response.end('hello'))
  const sockets = await Promise.all([bind(), bind(), bind()])
  const [port, second, admin] = sockets.map(({ port }) => port)
  const file = writeConfig(
    t,
    siteConfig(
      site,
      `workers: 1\nlisten: ['127.0.0.1:${port}', '127.0.0.1:${second}']\nadmin: 127.0.0.1:${admin}`,
    ),
  )
  const address = `@gatehouse-test-${process.pid}`
  const told = await listen(t, address)
  const fds = sockets.map(({ fd }) => fd)
  const { child, pids, stdout, stderr } = start(t, file, fds, {
    LISTEN_FDS: '3',
    NOTIFY_SOCKET: address,
    WATCHDOG_USEC: '400000',
  })
  // Only the gateway accepts from them.
  for (const { server } of sockets) server.close()
  await told(/^READY=1\|STATUS=serving http:\/\/127\.0\.0\.1:\d+, http:\/\/127\.0\.0\.1:\d+$/)
  for (const at of [port, second]) assert.equal(await (await fetch(`http://127.0.0.1:${at}`)).text(), 'hello')
  assert.equal((await fetch(`http://127.0.0.1:${admin}/readyz`)).status, 200)
  // Processes that it starts get sockets by message alone: one that was inherited would stay open, and nobody would accept from it.
  for (const [nth] of fds.entries()) {
    const [, flags] = /^flags:\t(\d+)$/m.exec(readFileSync(`/proc/${child.pid}/fdinfo/${3 + nth}`, 'latin1'))!
    assert.ok(Number.parseInt(flags!, 8) & closeOnExec, `fd ${3 + nth} has ${flags}`)
  }
  await told(/^WATCHDOG=1$/, 2)
  child.kill('SIGHUP')
  const [, time] = /^RELOADING=1\|MONOTONIC_USEC=(\d+)$/.exec(await told(/^RELOADING=1/))!
  const seconds = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0])
  assert.ok(Math.abs(Number(time) / 1e6 - seconds) < 60, `${time} µs after ${seconds} s`)
  await told(/^READY=1/, 2)
  child.kill('SIGUSR2')
  const pid = Number((await told(/^MAINPID=\d+$/)).slice('MAINPID='.length))
  pids.push(pid)
  await told(/^READY=1/, 3)
  await once(child, 'exit')
  assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), 'hello')
  process.kill(pid, 'SIGTERM')
  await told(/^STOPPING=1\|/)
  // The way there is experimental in Node, which is nothing that an operator could change.
  assert.doesNotMatch((await stdout) + (await stderr), /warning/i)
})

test('a start that waits for an operator to accept the store is not killed for it, and says what it waits for', async t => {
  const { fd, server, port } = await bind()
  const config = `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:${port}\nzones: []\nworkers: 0\n`
  const file = writeConfig(t, config)
  const data = join(dirname(file), 'data')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const seen = { identity: 'f'.repeat(32), generation: 7, last: '', isBehind: false }
  writeFileSync(
    join(data, 'store.json'),
    JSON.stringify({ format: 1, location: `sqlite:${join(data, 'gatehouse.db')}`, ...seen }),
  )
  const address = `@gatehouse-test-waits-${process.pid}`
  const told = await listen(t, address)
  start(t, file, [fd], { LISTEN_FDS: '1', NOTIFY_SOCKET: address })
  server.close()
  const first = await told(/^(READY|EXTEND)/)
  assert.match(first, /^EXTEND_TIMEOUT_USEC=60000000\|STATUS=not ready: the store is (empty|another)/)
  // Again and again, within what each extends it by.
  await told(/^EXTEND_TIMEOUT_USEC=/, 2)
  const env = { ...process.env, GATEHOUSE_DATA: data }
  await promisify(execFile)(process.execPath, [main, 'store', 'accept', '--config', file], { env })
  await told(/^READY=1\|STATUS=serving/)
})

test('the first connection to sockets of systemd starts the gateway, which serves it', async t => {
  const site = await startSite(t, (_, response) => response.end('hello'))
  const [edge, admin] = await Promise.all([freePort(), freePort()])
  // Behind the sockets are other addresses than those of the configuration, so that their names count.
  const settings = `workers: 1\nlisten: ['127.0.0.1:1']\nadmin: 127.0.0.1:2`
  const file = writeConfig(t, siteConfig(site, settings))
  const sockets = ['-l', `127.0.0.1:${edge}`, '-l', `127.0.0.1:${admin}`, '--fdname=listen-1:admin']
  const env = { PATH: process.env.PATH, GATEHOUSE_DATA: join(dirname(file), 'data') }
  const passed = Object.entries(env).flatMap(([name, value]) => ['-E', `${name}=${value}`])
  const program = [process.execPath, main, 'start', '--config', file]
  // It becomes the gateway.
  const child = spawn('systemd-socket-activate', [...sockets, ...passed, ...program], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  t.after(async () => {
    child.kill()
    await closed
  })
  const { promise: listening, resolve } = Promise.withResolvers<void>()
  let count = 0
  createInterface({ input: child.stderr! }).on('line', line => {
    if (line.startsWith('Listening on') && ++count === 2) resolve()
  })
  await listening
  assert.equal(await (await fetch(`http://127.0.0.1:${edge}`)).text(), 'hello')
  assert.equal((await fetch(`http://127.0.0.1:${admin}/healthz`)).status, 200)
  child.kill()
  assert.deepEqual(await closed, [0, null])
})

test('a socket that is for no listener keeps the gateway from starting, with a sentence that names it', async t => {
  const { server, fd, port } = await bind()
  const file = writeConfig(t, "listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:0\nzones: []\nworkers: 0\n")
  const { child, stderr } = start(t, file, [fd], { LISTEN_FDS: '1', LISTEN_FDNAMES: 'web' })
  server.close()
  assert.equal((await once(child, 'exit'))[0], 1)
  const socket = `the socket that systemd passed for 127.0.0.1:${port} (fd 3, web)`
  assert.ok(
    (await stderr).includes(`gatehouse: ${socket} is for no address of listen or admin`),
    await stderr,
  )
})
