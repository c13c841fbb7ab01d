// Measures the CPU of a response that is compressed on its way, in this gateway and in nginx, in turns: node bench/micro/compression/compare.ts, with ROUNDS and
// SCALE. Needs Linux with taskset, nginx and h2load. The proxies share one core, and h2load and the origin have the other.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../../test/help/free-port.ts'
import { ROOT } from '../../load/installed.ts'
import { emptyFolder, keep, launch, type Running } from '../../load/launch.ts'
import { cpuTime } from '../../load/proc.ts'
import { alternate, median } from '../../load/statistics.ts'
import { body } from './body.ts'

const rounds = Number(process.env.ROUNDS ?? 5)
const scale = Number(process.env.SCALE ?? 1)
const sizes = [2, 20, 100, 500].map(kib => ({
  path: `/${kib}`,
  bytes: body(kib * 1024),
  count: 8_000 / kib ** 0.7,
}))

interface Contestant {
  readonly name: string
  readonly server: Running
  readonly coding: string
}

const origin = createServer((request, response) => {
  const found = sizes.find(({ path }) => path === request.url) ?? sizes[0]!
  response.setHeader('Content-Type', 'application/json')
  response.setHeader('Content-Length', found.bytes.length)
  response.end(found.bytes)
}).listen(0, '127.0.0.1')
await once(origin, 'listening')
const originPort = (origin.address() as AddressInfo).port
execFileSync('taskset', ['-acp', '1', String(process.pid)])

const ports = { ours: await freePort(), nginx: await freePort() }
const running = await Promise.all([startOurs(ports.ours), startNginx(ports.nginx)])
const [ours, nginx] = running
const contestants: Contestant[] = [
  { name: 'nginx, as it is', server: nginx, coding: 'identity' },
  { name: 'ours, as it is', server: ours, coding: 'identity' },
  { name: 'nginx, gzip 5', server: nginx, coding: 'gzip' },
  { name: 'ours, gzip 5', server: ours, coding: 'gzip' },
  { name: 'ours, br 4', server: ours, coding: 'br' },
  { name: 'ours, zstd 3', server: ours, coding: 'zstd' },
]
for (const size of sizes) await report(size)
await Promise.all(running.map(server => server.stop()))
process.exit()

async function report(size: (typeof sizes)[number]): Promise<void> {
  const costs = new Map<Contestant, number[]>(contestants.map(one => [one, []]))
  for (let round = 0; round < rounds; round++)
    for (const one of alternate(contestants, round)) costs.get(one)!.push(await measure(one, size))
  console.log(`${size.bytes.length / 1024} KiB of JSON`)
  for (const [one, all] of costs)
    console.log(`  ${one.name}: ${median(all).toFixed(0)} µs of CPU, ${await sizeOf(one, size)} bytes`)
}

async function measure(
  { server, coding }: Contestant,
  { path, count }: (typeof sizes)[number],
): Promise<number> {
  const most = Math.ceil(count * scale)
  const args = ['--h1', '-n', String(most), '-c', '8', '-H', `accept-encoding: ${coding}`]
  const before = cpuTime(server.pid)
  const load = spawn('taskset', ['-c', '1', 'h2load', ...args, `http://127.0.0.1:${server.port}${path}`])
  let output = ''
  load.stdout.on('data', text => {
    output += text
  })
  await once(load, 'close')
  const done = Number(/ (\d+) succeeded/.exec(output)?.[1])
  if (done !== most) throw new Error(`${done} of ${most} requests succeeded: ${output}`)
  return (cpuTime(server.pid) - before) / done
}

async function sizeOf({ server, coding }: Contestant, { path }: (typeof sizes)[number]): Promise<number> {
  const args = ['-s', '-o', '/dev/null', '-w', '%{size_download}', '-H', `Accept-Encoding: ${coding}`]
  const curl = spawn('curl', [...args, `http://127.0.0.1:${server.port}${path}`])
  const [text] = await once(curl.stdout, 'data')
  return Number(text)
}

function startOurs(port: number): Promise<Running> {
  const config = keep(
    'compression.yaml',
    `workers: 0
listen: ['127.0.0.1:${port}']
admin: 127.0.0.1:0
log: { access: false, level: error }
pools: { a: { origins: ['http://127.0.0.1:${originPort}'] } }
zones: [{ default: on, compression: on, routes: [{ path: /, pool: a }] }]
`,
  )
  const args = ['-c', '0', process.execPath, join(ROOT, 'src/main.ts'), 'start', '--config', config]
  return launch('gatehouse', port, { file: 'taskset', args, env: { GATEHOUSE_DATA: emptyFolder() } })
}

function startNginx(port: number): Promise<Running> {
  const folder = emptyFolder()
  writeFileSync(
    join(folder, 'nginx.conf'),
    `worker_processes 1; daemon off; pid nginx.pid; error_log stderr error; user root;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  gzip on; gzip_comp_level 5; gzip_proxied any; gzip_types application/json;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`,
  )
  return launch('nginx', port, {
    file: 'taskset',
    args: ['-c', '0', 'nginx', '-p', folder, '-c', 'nginx.conf'],
  })
}
