// An origin in a process of its own that refuses each upload by its head and closes, so that the system resets the connection for the body that nobody has read.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { selfSigned } from '../../src/process/demo/self-signed.ts'

export type OriginKind = 'http' | 'https'

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

const servers: Readonly<Record<OriginKind, () => Server>> = {
  http: () => createServer(refuse),
  https: () => createTlsServer(selfSigned('localhost'), refuse),
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = servers[process.argv[2] as OriginKind]().listen(0, '127.0.0.1')
  server.on('listening', () => console.log((server.address() as AddressInfo).port))
}
