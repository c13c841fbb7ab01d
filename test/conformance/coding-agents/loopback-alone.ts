// Runs a program in a network namespace that has nothing but loopback: brings that up, and passes connections to one port on to a socket of the file
// system. Arguments: the socket, the port, the program and its arguments.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

const [socket, port, program, ...args] = process.argv.slice(2)
spawnSync('ip', ['link', 'set', 'lo', 'up'])
const server = createServer(inner => {
  const outer = connect(socket!)
  inner.pipe(outer).pipe(inner)
  inner.on('error', () => outer.destroy())
  outer.on('error', () => inner.destroy())
})
server.listen(Number(port), '127.0.0.1')
await once(server, 'listening')
const [code] = await once(spawn(program!, args, { stdio: 'inherit' }), 'close')
process.exit(code ?? 1)
