// A bare server of node:tls as a contestant of the bench, run as `bare-tls.ts PORT CERTIFICATE KEY`: it shakes hands and waits for the end.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:tls'

const [port, certificate, key] = process.argv.slice(2)
const identity = { cert: readFileSync(certificate!), key: readFileSync(key!) }

createServer({ ...identity, noDelay: true }, socket => socket.on('error', () => {}).resume()).listen(
  Number(port),
  '127.0.0.1',
  () => console.log('listening'),
)
