// An origin that attacks on each connection with the first request, and closes it if nobody else does: a process with the name of the attack as its argument.
import { createServer } from 'node:net'
import { settings, settingsAck } from '../../../test/help/http2.ts'
import { originAttacks } from '../../../test/help/http2-origin-attacks.ts'

const [, bytes] = originAttacks[process.argv[2]!]!
const greeting = Buffer.concat([settings(), settingsAck])
const attack = bytes(1)

const server = createServer(socket => {
  socket.on('error', () => {})
  socket.write(greeting)
  socket.once('data', () => socket.end(attack))
  socket.resume()
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as { port: number }).port))
