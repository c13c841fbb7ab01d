// Measures the memory of idle connections: node bench/micro/tls/idle.ts. COUNT says how many there are; each has made one request. PLAIN=1 has them without TLS, and
// WARM=100000 has so many requests come before. PROGRAM=dist/main.js measures the package. The limit of open files must allow twice as many.
import { once } from 'node:events'
import { join } from 'node:path'
import { connect as connectPlainly, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { connect, createSecureContext } from 'node:tls'
import { freePort } from '../../../test/help/free-port.ts'
import { ROOT } from '../../load/installed.ts'
import { emptyFolder, keep, launch } from '../../load/launch.ts'
import { residentMemory } from '../../load/proc.ts'
import { identityFiles } from '../../load/tls.ts'

const count = Number(process.env.COUNT ?? 10_000)
const isPlain = process.env.PLAIN === '1'
const warmUp = Number(process.env.WARM ?? 0)
const first = 500
/** Ms behind the start in which more code is loaded. */
const settling = 3_000
/** Clients that connect at once. */
const atOnce = 50

const port = await freePort()
const args = [
  join(ROOT, process.env.PROGRAM ?? 'src/main.ts'),
  'start',
  '--config',
  keep('idle.yaml', await config()),
]
const server = await launch('gatehouse', port, {
  file: process.execPath,
  args,
  env: { GATEHOUSE_DATA: emptyFolder() },
})
const secureContext = createSecureContext({})
const open: Socket[] = []
// What the first connections make once, and what is loaded behind the start, is no part of those that follow.
await connectAll(first)
await Promise.all(open.map(askAgain))
await setTimeout(settling)
const before = residentMemory(server.pid)
await connectAll(count)
const after = residentMemory(server.pid)
const each = ((after - before) * 1024) / (count - first)
console.log(
  `${open.length} idle connections: ${before.toFixed(0)} MiB with ${first}, ${after.toFixed(0)} MiB with all`,
)
console.log(`${each.toFixed(1)} KiB each, ${((each * count) / 1024).toFixed(1)} MiB for ${count}`)
await server.stop()
process.exit()

async function config(): Promise<string> {
  return `workers: 0
listen: [{ address: '127.0.0.1:${port}', tls: ${!isPlain} }]
${isPlain ? '' : certificates()}
admin: 127.0.0.1:${await freePort()}
log: { access: false }
client: { connections: ${count + 1_000}, connections_per_address: off, keep_alive: 1h }
zones: [{ hosts: ['127.0.0.1'], routes: [] }]
`
}

function certificates(): string {
  const { certificate, key } = identityFiles()
  return `tls: { certificates: [{ certificate: 'file:${certificate}', key: 'file:${key}' }] }`
}

/** Opens connections until there are so many. */
async function connectAll(total: number): Promise<void> {
  let begun = open.length
  const connectOn = async () => {
    while (begun++ < total) open.push(await visit())
  }
  await Promise.all(Array.from({ length: atOnce }, connectOn))
}

async function visit(): Promise<Socket> {
  const socket = isPlain
    ? connectPlainly(port, '127.0.0.1')
    : connect({ host: '127.0.0.1', port, secureContext, servername: '', rejectUnauthorized: false })
  await once(socket, isPlain ? 'connect' : 'secureConnect')
  await ask(socket)
  return socket
}

async function ask(socket: Socket): Promise<void> {
  socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  await once(socket, 'data')
}

/** Sends the part of the requests before that is for one connection. */
async function askAgain(socket: Socket): Promise<void> {
  for (let left = Math.ceil(warmUp / first); left > 0; left--) await ask(socket)
}
