// How other readers of HTTP/1 understand bytes: Node's, nginx's and Python's.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freePort } from '../help/free-port.ts'
import { until } from '../help/until.ts'

/** A request that came to its end. */
export interface Request {
  readonly method: string
  readonly target: string
  /** Names in lower case, each before its value. */
  readonly fields: readonly string[]
  readonly body: string
}

/** Reads the requests of a connection, up to one that it refuses or that has no end. */
export type Reader = (bytes: Buffer) => Promise<readonly Request[]>

/** What a server of Node's reads, with the bytes of each connection. */
export class NodeOrigin {
  readonly requests: Request[] = []
  readonly connections: Buffer[][] = []
  /** What it refused to read; connections that end within a request are none. */
  readonly refusals: string[] = []
  readonly #server: Server

  constructor(server: Server) {
    this.#server = server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }
}

export async function startNodeOrigin(t: TestContext): Promise<NodeOrigin> {
  const server = createServer(
    { insecureHTTPParser: false, requireHostHeader: false },
    (request, response) => {
      let body = ''
      request.setEncoding('latin1')
      request.on('data', (text: string) => (body += text))
      request.on('error', () => {})
      request.on('end', () => {
        const fields = request.rawHeaders.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text))
        origin.requests.push({ method: request.method!, target: request.url!, fields, body })
        response.end('ok')
      })
    },
  )
  const origin = new NodeOrigin(server)
  // What is sent to a server waits for nobody: requests may follow each other.
  Object.assign(server, { httpAllowHalfOpen: true })
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request, response) => server.emit('request', request, response))
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    const { code, message, rawPacket } = error
    if (code !== 'ECONNRESET' && code !== 'HPE_INVALID_EOF_STATE')
      origin.refusals.push(`${message}: ${JSON.stringify(rawPacket?.toString('latin1'))}`)
    socket.destroy()
  })
  server.on('connection', socket => {
    const pieces: Buffer[] = []
    origin.connections.push(pieces)
    socket.on('data', bytes => pieces.push(Buffer.from(bytes)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return origin
}

/** Sends bytes to a port; returns what comes until the connection is over, whether in good order or not. */
export function sendTo(port: number, bytes: Buffer): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const received: Uint8Array[] = []
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {}).on('end', () => socket.destroy())
  socket
    .on('data', (piece: Buffer) => received.push(piece))
    .on('close', () => resolve(Buffer.concat(received)))
  socket.end(bytes)
  return promise
}

export interface Response {
  readonly status: number
  /** Names in lower case, each before its value. */
  readonly fields: readonly string[]
  readonly body: string
}

/** Reads the response to a GET as Node's client does; null if it refuses it. */
export async function responseByNode(t: TestContext): Promise<(bytes: Buffer) => Promise<Response | null>> {
  let sent: Buffer = Buffer.alloc(0)
  const server = createTcpServer(socket => socket.on('error', () => {}).once('data', () => socket.end(sent)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return bytes => {
    sent = bytes
    const { promise, resolve } = Promise.withResolvers<Response | null>()
    const asked = get({ port, host: '127.0.0.1', agent: false, insecureHTTPParser: false }, response => {
      let body = ''
      response.setEncoding('latin1').on('data', (text: string) => (body += text))
      response.on('error', () => resolve(null))
      response.on('end', () => {
        const fields = response.rawHeaders.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text))
        resolve({ status: response.statusCode!, fields, body })
      })
    })
    asked.on('error', () => resolve(null))
    return promise
  }
}

/** Reads responses to GETs as http.client does, each null if it is refused; null where there is no Python. */
export function responsesByPython(): ((all: readonly Buffer[]) => readonly (Response | null)[]) | null {
  if (!hasPython()) return null
  return all =>
    runPython(responseScript, JSON.stringify(all.map(bytes => bytes.toString('hex')))) as Response[]
}

/** Null where there is no Python. */
export function pythonReader(): Reader | null {
  return hasPython() ? async bytes => runPython(requestScript, bytes) as Request[] : null
}

function hasPython(): boolean {
  return spawnSync('python3', ['-c', '']).status === 0
}

function runPython(script: string, input: string | Buffer): unknown {
  const { stdout, stderr, status } = spawnSync('python3', ['-c', script], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

/** Null where nginx is not installed. Requests go through it to a server of Node's. */
export async function nginxReader(t: TestContext): Promise<Reader | null> {
  if (spawnSync('nginx', ['-v']).error !== undefined) return null
  const behind = await startNodeOrigin(t)
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'))
  writeFileSync(join(folder, 'nginx.conf'), configuration(port, behind.port))
  const nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', 'nginx.conf'], { stdio: 'ignore' })
  t.after(async () => {
    const ended = once(nginx, 'exit')
    nginx.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true })
  })
  await until(() => isListening(port))
  return async bytes => {
    behind.requests.length = 0
    await sendTo(port, bytes)
    return [...behind.requests]
  }
}

function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, '127.0.0.1')
  socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

function configuration(port: number, behind: number): string {
  return `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port};
    underscores_in_headers on;
    ignore_invalid_headers off;
    large_client_header_buffers 8 32k;
    location / {
      proxy_pass http://127.0.0.1:${behind};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_request_buffering off;
      proxy_ignore_client_abort on;
    }
  }
}
`
}

/** Reads requests as http.server does, whose handlers read bodies themselves. */
const requestScript = `
import http.client, io, json, sys
from http.server import BaseHTTPRequestHandler

http.client._MAXHEADERS = 10_000

class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def __init__(self, data):
        self.rfile = io.BytesIO(data)
        self.wfile = io.BytesIO()
        self.client_address = ('', 0)
        self.requests = []
        self.close_connection = False

    def log_message(self, *_):
        pass

    def read_chunked(self):
        body = b''
        while True:
            size = int(self.rfile.readline().split(b';')[0].strip(), 16)
            if size == 0:
                while self.rfile.readline() not in (b'\\r\\n', b''):
                    pass
                return body
            chunk = self.rfile.read(size)
            if len(chunk) < size or self.rfile.read(2) != b'\\r\\n':
                return None
            body += chunk

    def read_body(self):
        if 'chunked' in self.headers.get('Transfer-Encoding', '').lower():
            return self.read_chunked()
        length = int(self.headers.get('Content-Length', '0'))
        body = self.rfile.read(length)
        return body if len(body) == length else None

    def read_all(self):
        while not self.close_connection:
            self.raw_requestline = self.rfile.readline()
            if not self.raw_requestline or not self.parse_request():
                return
            body = self.read_body()
            if body is None:
                return
            words = self.raw_requestline.decode('latin1').split()
            fields = [text for name, value in self.headers.items() for text in (name.lower(), value)]
            self.requests.append({'method': words[0], 'target': words[1], 'fields': fields, 'body': body.decode('latin1')})

handler = Handler(sys.stdin.buffer.read())
handler.read_all()
print(json.dumps(handler.requests))
`

const responseScript = `
import http.client, io, json, sys
from http.client import HTTPException, HTTPResponse

http.client._MAXHEADERS = 10_000

class Stream(io.BytesIO):
    def close(self):
        pass

class Socket:
    def __init__(self, data):
        self.stream = Stream(data)

    def makefile(self, *_):
        return self.stream

def read(data):
    try:
        socket = Socket(data)
        status = 100
        while status < 200:
            response = HTTPResponse(socket, method='GET')
            response.begin()
            status = response.status
        body = response.read().decode('latin1')
        fields = [text for name, value in response.getheaders() for text in (name.lower(), value)]
        return {'status': response.status, 'fields': fields, 'body': body}
    except (HTTPException, ValueError):
        return None

print(json.dumps([read(bytes.fromhex(data)) for data in json.load(sys.stdin)]))
`
