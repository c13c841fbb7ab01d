// Measures the CPU of a request over HTTP/2 and TLS for three servers as small as can be, on the codec of this project, on node:http2, and nginx, in turns:
// node bench/micro/http2/compare.ts, with ROUNDS and SCALE. Needs Linux with taskset, openssl, nginx and h2load; the servers share one core, and h2load has another.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenOf, cpuTime } from '../../load/proc.ts'
import { alternate, median } from '../../load/statistics.ts'

const rounds = Number(process.env.ROUNDS ?? 5)
const scale = Number(process.env.SCALE ?? 1)

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-http2-'))
const file = (name: string) => join(folder, name)

interface Load {
  readonly name: string
  readonly count: number
  readonly path: string
  readonly args: readonly string[]
}

const loads: readonly Load[] = [
  { name: 'GET, 8 connections, a stream each', count: 40_000, path: '/', args: ['-c8', '-m1'] },
  { name: 'GET, 4 connections, 100 streams each', count: 100_000, path: '/', args: ['-c4', '-m100'] },
  {
    name: 'POST of 60 bytes, 8 connections, a stream each',
    count: 30_000,
    path: '/post',
    args: ['-c8', '-m1', '-d', file('small')],
  },
  { name: 'GET of 1 MiB, 4 connections, 4 streams each', count: 800, path: '/large', args: ['-c4', '-m4'] },
  {
    name: 'POST of 1 MiB, 4 connections, 4 streams each',
    count: 800,
    path: '/post',
    args: ['-c4', '-m4', '-d', file('large')],
  },
]

interface Server {
  readonly name: string
  readonly port: number
  readonly child: ChildProcess
  /** Returns the process that does the work. */
  readonly pid: () => number
}

prepare()
const servers = [start('ours', 7801), start('node', 7802), startNginx(7803)]
try {
  await Promise.all(servers.map(({ port }) => listening(port)))
  for (const load of loads) report(load)
} finally {
  for (const { child } of servers) child.kill()
  await sleep(200)
  rmSync(folder, { recursive: true })
}

function report(load: Load): void {
  const costs = new Map<string, number[]>(servers.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const server of alternate(servers, round)) costs.get(server.name)!.push(measure(server, load))
  const middles = servers.map(({ name }) => `${name} ${median(costs.get(name)!).toFixed(1)}`)
  console.log(`${load.name}: ${middles.join(', ')} µs of CPU`)
}

function measure({ port, pid }: Server, { count, path, args }: Load): number {
  const most = Math.ceil(count * scale)
  const before = cpuTime(pid())
  const output = execFileSync('taskset', [
    '-c',
    '1',
    'h2load',
    `-n${most}`,
    ...args,
    `https://127.0.0.1:${port}${path}`,
  ])
  const done = Number(/ (\d+) succeeded/.exec(output.toString())?.[1])
  if (done !== most) throw new Error(`${done} of ${most} requests succeeded`)
  return (cpuTime(pid()) - before) / done
}

function prepare(): void {
  const subject = ['-subj', '/CN=localhost', '-keyout', file('key.pem'), '-out', file('cert.pem')]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...subject], { stdio: 'ignore' })
  mkdirSync(file('www'))
  writeFileSync(file('www/large'), 'x'.repeat(2 ** 20))
  writeFileSync(file('large'), 'x'.repeat(2 ** 20))
  writeFileSync(file('small'), JSON.stringify({ model: 'x', messages: [{ role: 'user', content: 'hello' }] }))
}

function start(name: string, port: number): Server {
  const script = new URL(`${name}.ts`, import.meta.url).pathname
  const child = spawn('taskset', ['-c', '0', process.execPath, script, folder, String(port)], {
    stdio: 'inherit',
  })
  return { name, port, child, pid: () => child.pid! }
}

function startNginx(port: number): Server {
  writeFileSync(
    file('nginx.conf'),
    `worker_processes 1; daemon off; pid nginx.pid; error_log stderr error; user root;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; default_type text/plain; root www;
  client_body_temp_path body; client_max_body_size 100m; client_body_buffer_size 2m; proxy_temp_path proxy;
  fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port} ssl http2; http2_max_concurrent_streams 128;
    ssl_certificate cert.pem; ssl_certificate_key key.pem;
    location = / { return 200 "Hello, world!\\n"; }
    location = /post { return 200 "Hello, world!\\n"; }
  }
}
`,
  )
  const args = ['-c', '0', 'nginx', '-p', folder, '-e', 'stderr', '-c', file('nginx.conf')]
  const child = spawn('taskset', args, { stdio: 'inherit' })
  return { name: 'nginx', port, child, pid: () => childrenOf(child.pid!)[0]! }
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    const isOpen = await promise
    socket.destroy()
    if (isOpen) return
    await sleep(100)
  }
  throw new Error(`nothing listens on port ${port}`)
}
