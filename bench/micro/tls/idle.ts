// Measures the memory of idle TLS connections: node bench/micro/tls/idle.ts. COUNT says how many there are; each has made one request. The limit of open files must
// allow twice as many.
import { once } from 'node:events'
import { join } from 'node:path'
import { connect, createSecureContext, type TLSSocket } from 'node:tls'
import { freePort } from '../../../test/help/free-port.ts'
import { ROOT } from '../../load/installed.ts'
import { emptyFolder, keep, launch } from '../../load/launch.ts'
import { residentMemory } from '../../load/proc.ts'
import { identityFiles } from '../../load/tls.ts'

const count = Number(process.env.COUNT ?? 10_000)
/** Clients that connect at once. */
const atOnce = 50

const port = await freePort()
const args = [join(ROOT, 'src/main.ts'), 'start', '--config', keep('idle.yaml', await config())]
const server = await launch('gatehouse', port, {
  file: process.execPath,
  args,
  env: { GATEHOUSE_DATA: emptyFolder() },
})
const secureContext = createSecureContext({})
const open: TLSSocket[] = []
// What the first connections make once is no part of those that follow.
await connectAll(500)
const before = residentMemory(server.pid)
await connectAll(count)
const after = residentMemory(server.pid)
const each = ((after - before) * 1024) / (count - 500)
console.log(
  `${open.length} idle connections: ${before.toFixed(0)} MiB with 500, ${after.toFixed(0)} MiB with all`,
)
console.log(`${each.toFixed(1)} KiB each`)
await server.stop()
process.exit()

async function config(): Promise<string> {
  const { certificate, key } = identityFiles()
  return `workers: 0
listen: [{ address: '127.0.0.1:${port}', tls: true }]
admin: 127.0.0.1:${await freePort()}
log: { access: false }
client: { connections: ${count + 1_000}, connections_per_address: off, keep_alive: 1h }
tls: { certificates: [{ certificate: 'file:${certificate}', key: 'file:${key}' }] }
zones: [{ hosts: ['127.0.0.1'], routes: [] }]
`
}

/** Opens connections until there are so many. */
async function connectAll(total: number): Promise<void> {
  let begun = open.length
  const connectOn = async () => {
    while (begun++ < total) open.push(await visit())
  }
  await Promise.all(Array.from({ length: atOnce }, connectOn))
}

async function visit(): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    secureContext,
    servername: '',
    rejectUnauthorized: false,
  })
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  await once(socket, 'data')
  return socket
}
