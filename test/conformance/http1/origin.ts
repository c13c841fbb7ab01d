// An origin of HTTP/1.1 that takes nothing on trust: what is no request, it notes, and it serves by bytes.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Ended, type Message, Wire } from '../../help/raw.ts'

/** What an origin sends back, and whether it then ends the connection. */
export interface Script {
  readonly bytes: string
  readonly ends: boolean
}

const usual: Script = { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', ends: false }

/** Requests begin with the path of their case: `/17/main`. */
export class RawOrigin {
  readonly requests: Message[] = []
  /** What came where a request had to begin, by the number of the case before it on the connection. */
  readonly strays = new Map<number, string>()
  /** By paths; what is not in it gets `hello`. */
  readonly scripts = new Map<string, Script>()
  port = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor() {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
      void this.#serve(new Wire(socket))
    })
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
    return this
  }

  /** The requests of a case, by the number that their paths begin with. */
  of(number: number): readonly Message[] {
    return this.requests.filter(({ target }) => target.includes(`/${number}/`))
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  async #serve(wire: Wire): Promise<void> {
    let number = 0
    try {
      for (;;) {
        const request = await wire.head()
        if (!/^[!-~]+ [!-~\x80-\xff]+ HTTP\/1\.[01]$/.test(request.startLine)) {
          this.strays.set(number, request.startLine)
          return wire.leave()
        }
        await wire.body(request, false)
        number = Number(/\/(\d+)\//.exec(request.target)?.[1] ?? 0)
        this.requests.push(request)
        const path = request.target.replace(/^http:\/\/[^/]+/, '')
        const { bytes, ends } = this.scripts.get(path) ?? usual
        const isHead = request.startLine.startsWith('HEAD ')
        await wire.send(isHead ? bytes.slice(0, bytes.indexOf('\r\n\r\n') + 4) : bytes)
        if (bytes.startsWith('HTTP/1.1 101')) return void wire.socket.pipe(wire.socket)
        if (ends) return wire.finish()
      }
    } catch (error) {
      // A connection may end between two requests, or amid one.
      if (!(error instanceof Ended)) this.strays.set(number, String(error))
      wire.leave()
    }
  }
}
