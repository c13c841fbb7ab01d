// An origin in a process of its own that refuses each upload by its head and closes, so that the system resets the connection for the body that nobody has read.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { flag, frameType } from '../../src/http2/frames/frames.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { data, frame, headers, preface, settings, windowUpdate } from './http2.ts'

export type OriginKind = 'http' | 'https' | 'h2c'

/** Starts one and returns its URL. */
export async function startRefusingOrigin(t: TestContext, kind: OriginKind): Promise<string> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [port] = await once(child.stdout, 'data')
  return `${kind === 'https' ? 'https' : 'http'}://127.0.0.1:${Number(port)}`
}

const refusal = 'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 7\r\n\r\nrefused'

function refuse(socket: Socket): void {
  socket.on('error', () => {})
  socket.once('data', () => {
    socket.pause()
    socket.write(refusal, () => socket.destroy())
  })
}

/** Says that the connection takes no more than its first stream. */
const lastStream = frame(frameType.goAway, 0, 0, Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]))

/** Refuses the first request of a connection of HTTP/2. */
function refuseStream(socket: Socket): void {
  let bytes: Buffer = Buffer.alloc(0)
  // As much as comes.
  socket.write(Buffer.concat([settings([4, 2 ** 24]), windowUpdate(0, 2 ** 24)]))
  socket.on('error', () => {})
  socket.on('data', more => {
    bytes = Buffer.concat([bytes, more as Buffer])
    if (!hasRequest(bytes)) return
    socket.pause()
    socket.removeAllListeners('data')
    const head = headers(1, [[':status', '401']], flag.endHeaders)
    socket.write(Buffer.concat([lastStream, head, data(1, 'refused', flag.endStream)]), () =>
      socket.destroy(),
    )
  })
}

function hasRequest(bytes: Buffer): boolean {
  for (let at = preface.length; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3))
    if (bytes[at + 3] === frameType.headers) return true
  return false
}

const servers: Readonly<Record<OriginKind, () => Server>> = {
  http: () => createServer(refuse),
  https: () => createTlsServer(selfSigned('localhost'), refuse),
  h2c: () => createServer(refuseStream),
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = servers[process.argv[2] as OriginKind]().listen(0, '127.0.0.1')
  server.on('listening', () => console.log((server.address() as AddressInfo).port))
}
