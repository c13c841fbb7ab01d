// What credentials cost: puts of one and of a pair, consumptions and look-ups per second and per second of CPU, with durable writes, on SQLite and Redis.
// Usage: node bench/micro/store/credentials.ts [seconds]
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Credential, CredentialKind } from '../../../src/store/records/credential.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { freePort } from '../../../test/help/free-port.ts'

/** Calls at once: as many as apps wait for while a commit is on its way to the disk. */
const atOnce = 64
const seconds = Number(process.argv[2] ?? 4)
/** Codes to be consumed: more than can be while it is measured. */
const mostCodes = 100_000
/** Ticks of the kernel's clock in a second. */
const ticks = 100

const hex = (bytes: number): string => randomBytes(bytes).toString('hex')
const [users, clients] = [2_000, 20].map(count => Array.from({ length: count }, () => hex(16))) as [
  string[],
  string[],
]

function credential(kind: CredentialKind, grant = hex(16)): Credential {
  const [user, client] = [users, clients].map(all => all[Math.floor(Math.random() * all.length)]!)
  const data = {
    scopes: ['ai.run', 'account.read', 'offline_access'],
    resource: ['https://gateway.example/client/v4'],
  }
  const createdAt = Date.now()
  const expiresAt = createdAt + 3_600_000
  return {
    kind,
    digest: hex(32),
    user: user!,
    client: client!,
    grant,
    data,
    createdAt,
    expiresAt,
    consumedAt: null,
  }
}

/** Calls as often as it can for some seconds, or until it is told that nothing is left, and prints how often that was. */
async function measure(
  name: string,
  call: () => Promise<unknown> | null,
  server: number | null,
): Promise<number> {
  const end = performance.now() + seconds * 1_000
  const [cpu, theirs] = [process.cpuUsage(), cpuOf(server)]
  const began = performance.now()
  let calls = 0
  const work = async () => {
    while (performance.now() < end) {
      const next = call()
      if (next === null) return
      await next
      calls++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const took = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const own = (user + system) / 1_000_000
  const all = own + cpuOf(server) - theirs
  console.log(
    `  ${name.padEnd(32)} ${rate(calls / took)}/s ${rate(calls / own)}/s of our CPU ${rate(calls / all)}/s of all CPU`,
  )
  return calls
}

function rate(number: number): string {
  return Math.round(number).toLocaleString('en').padStart(9)
}

/** Returns the seconds of CPU that a process has used. */
function cpuOf(pid: number | null): number {
  if (pid === null) return 0
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticks
}

async function measureAll({ credentials }: Store, server: number | null): Promise<number> {
  let kept = await measure('put', () => credentials.put(credential('session')), server)
  kept +=
    2 *
    (await measure(
      'putAll of access and refresh token',
      () => {
        const grant = hex(16)
        return credentials.putAll([credential('access_token', grant), credential('refresh_token', grant)])
      },
      server,
    ))
  const codes = Array.from({ length: mostCodes }, () => credential('authorization_code'))
  for (let first = 0; first < mostCodes; first += 500)
    await credentials.putAll(codes.slice(first, first + 500))
  kept += mostCodes
  let at = 0
  await measure(
    'consume',
    () => {
      const code = codes[at++]
      return code ? credentials.consume('authorization_code', code.digest, 1) : null
    },
    server,
  )
  await measure(
    'get',
    async () => credentials.get('authorization_code', codes[at++ % mostCodes]!.digest),
    server,
  )
  await measure('get of what is not there', async () => credentials.get('access_token', hex(32)), server)
  kept +=
    3 *
    (await measure(
      'code, and its exchange',
      async () => {
        const grant = hex(16)
        const code = credential('authorization_code', grant)
        await credentials.put(code)
        const { kind, digest } = code
        const issued = [credential('access_token', grant), credential('refresh_token', grant)]
        const end = credential('ended_family', grant)
        await credentials.exchange({ kind, digest, at: Date.now(), grace: 0, issued, end })
      },
      server,
    ))
  return kept
}

async function onSqlite(folder: string): Promise<void> {
  const file = join(folder, 'gatehouse.db')
  const store = await openStore(`sqlite:${file}`, { commandTimeout: 5_000 })
  console.log('SQLite, durable')
  const kept = await measureAll(store, null)
  await store.close()
  console.log(
    `  ${Math.round(statSync(`${file}-credentials`).size / kept)} bytes of file a credential, of ${kept}`,
  )
}

async function onRedis(folder: string, fsync: 'always' | 'everysec'): Promise<void> {
  const port = await freePort()
  const args = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'yes',
    '--appendfsync',
    fsync,
    '--dir',
    folder,
  ]
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await ready(server)
  const store = await openStore(`redis://127.0.0.1:${port}`, { commandTimeout: 5_000 })
  console.log(`Redis, appendfsync ${fsync}`)
  await measureAll(store, server.pid!)
  await store.close()
  server.kill()
}

async function ready(server: ChildProcess): Promise<void> {
  let said = ''
  for await (const text of server.stdout!) if ((said += text).includes('Ready to accept')) return
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
try {
  await onSqlite(folder)
  for (const fsync of ['always', 'everysec'] as const)
    await onRedis(mkdtempSync(join(folder, 'redis-')), fsync)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
