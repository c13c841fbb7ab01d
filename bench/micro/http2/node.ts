// A server as small as can be on node:http2, over TLS: node bench/micro/http2/node.ts FOLDER PORT
import { readFileSync } from 'node:fs'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { bodyOf, fieldsOf } from './responses.ts'

const [folder = '.', port = '0'] = process.argv.slice(2)
const server = createSecureServer({
  cert: readFileSync(`${folder}/cert.pem`),
  key: readFileSync(`${folder}/key.pem`),
  settings: { maxConcurrentStreams: 128 },
})
const endStream = 1

server.on('session', session => session.setLocalWindowSize(2 ** 20))
server.on('stream', (stream: ServerHttp2Stream, head, flags) => {
  const body = bodyOf(head[':path']!)
  const respond = () => {
    stream.respond(fieldsOf(body))
    stream.end(body)
  }
  stream.on('error', () => {})
  if (flags & endStream) return respond()
  stream.resume()
  stream.on('end', respond)
})
server.listen(Number(port), '127.0.0.1')
