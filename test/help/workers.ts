// Connections to each worker of a gateway, so that a test says which of them gets a request.

import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { RunningGateway } from './gateway.ts'

export interface WorkerAnswer {
  readonly status: number
  readonly ray: string
  readonly text: string
}

/** One connection that is kept, and with it one worker. */
export class WorkerLine {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #origin: string
  /** The process that serves it, once that is known. */
  pid = 0

  constructor(t: TestContext, origin: string) {
    this.#origin = origin
    t.after(() => this.close())
  }

  send(
    path: string,
    { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: object; body?: string } = {},
  ): Promise<WorkerAnswer> {
    return new Promise((resolve, reject) => {
      const asked = request(this.#origin + path, { agent: this.#agent, method, headers: { ...headers } })
      asked.once('error', reject).once('response', response => {
        const { statusCode: status = 0, headers } = response
        text(response).then(text => resolve({ status, ray: String(headers['svc-ray']), text }), reject)
      })
      asked.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Opens connections until so many workers have one; the access log says whose each is. */
export async function lineToEach(
  t: TestContext,
  gateway: RunningGateway,
  count = 2,
): Promise<readonly WorkerLine[]> {
  const lines = new Map<number, WorkerLine>()
  while (lines.size < count) {
    const line = new WorkerLine(t, gateway.edge)
    const { ray } = await line.send('/which-worker')
    const { pid } = await gateway.logged('request', line => line.ray === ray)
    line.pid = Number(pid)
    if (lines.has(line.pid)) line.close()
    else lines.set(line.pid, line)
  }
  return [...lines.values()]
}
