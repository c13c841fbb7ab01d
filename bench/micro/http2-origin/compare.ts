// Compares clients of HTTP/2 to an origin, nginx over TLS, each in a process of its own: node bench/micro/http2-origin/compare.ts [CLIENT…]
//
// CPU is that of the client's process alone; the requests go over one connection.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const port = 18_443
const rounds = 3
const named = process.argv.slice(2)
const clients = named.length > 0 ? named : ['undici', 'node', 'own']
const loads = [
  { path: '/small', concurrency: 1, requests: 3_000 },
  { path: '/small', concurrency: 100, requests: 20_000 },
  { path: '/large', concurrency: 8, requests: 400 },
]

const folder = mkdtempSync(join(tmpdir(), 'http2-origin-'))
try {
  await compare()
} finally {
  rmSync(folder, { recursive: true })
}

async function compare(): Promise<void> {
  prepare()
  const nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], {
    stdio: 'inherit',
  })
  await sleep(500)
  for (const { path, concurrency, requests } of loads) {
    console.log(`${path}, ${concurrency} at a time`)
    for (const client of clients) {
      const results = Array.from({ length: rounds }, () => run(client, path, concurrency, requests))
      const [cpu, p50, p99] = [0, 1, 2].map(
        i => results.map(row => row[i]!).sort((a, b) => a - b)[rounds >> 1],
      )
      console.log(
        `  ${client.padEnd(8)} ${cpu!.toFixed(1)} µs CPU a request, p50 ${p50!.toFixed(2)} ms, p99 ${p99!.toFixed(2)} ms`,
      )
    }
  }
  nginx.kill()
  await once(nginx, 'exit')
}

function run(client: string, path: string, concurrency: number, requests: number): number[] {
  const args = [
    join(import.meta.dirname, 'measure.ts'),
    client,
    String(port),
    path,
    `${concurrency}`,
    `${requests}`,
  ]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

function prepare(): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem']
  execFileSync('openssl', ['req', '-x509', ...key, '-out', 'cert.pem', '-subj', '/CN=localhost'], {
    cwd: folder,
    stdio: 'pipe',
  })
  writeFileSync(join(folder, 'small'), 'x'.repeat(200))
  writeFileSync(join(folder, 'large'), Buffer.alloc(1024 * 1024, 'x'))
  writeFileSync(
    join(folder, 'nginx.conf'),
    `worker_processes 1;
user root;
daemon off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port} ssl http2;
    keepalive_requests 1000000000;
    ssl_certificate cert.pem;
    ssl_certificate_key key.pem;
    root .;
  }
}
`,
  )
}
