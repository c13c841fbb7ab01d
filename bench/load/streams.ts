// A client of event streams that counts and times, for the sse mix of measure.ts.
import { connect, type Socket } from 'node:net'

const REQUEST =
  'GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: text/event-stream\r\n\r\n'
const SILENCE_LIMIT = 5_000

/** One open event stream; it counts its events until it is closed. */
export class EventStream {
  readonly #socket: Socket
  /** Settles with the milliseconds from the request on an open connection to the first event. */
  readonly firstEvent: Promise<number>
  events = 0

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.firstEvent = new Promise((resolve, reject) => this.#listen(resolve, reject))
  }

  get open(): boolean {
    return !this.#socket.destroyed
  }

  close(): void {
    this.#socket.destroy()
  }

  #listen(resolve: (milliseconds: number) => void, reject: (reason: Error) => void): void {
    let asked = 0
    this.#socket.setTimeout(SILENCE_LIMIT, () => this.close())
    this.#socket.on('connect', () => {
      asked = performance.now()
      this.#socket.write(REQUEST)
    })
    this.#socket.on('data', chunk => {
      this.events += countEvents(chunk as Buffer)
      if (this.events > 0) resolve(performance.now() - asked)
    })
    this.#socket.on('error', reject)
    this.#socket.on('close', () => reject(new Error('the event stream ended before its first event')))
  }
}

/** Opens streams one after the other, so that the events of all are spread over the interval of the origin. */
export async function openStreams(port: number, count: number): Promise<EventStream[]> {
  const streams: EventStream[] = []
  while (streams.length < count) {
    const stream = new EventStream(port)
    streams.push(stream)
    await stream.firstEvent
  }
  return streams
}

/** Opens and closes `count` streams in turn and returns the milliseconds to the first event of each. */
export async function timeFirstEvents(port: number, count: number): Promise<number[]> {
  const times: number[] = []
  while (times.length < count) {
    const stream = new EventStream(port)
    times.push(await stream.firstEvent)
    stream.close()
  }
  return times
}

/** Counts the events that begin in a chunk; each has one data field. */
export function countEvents(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf('data: '); at >= 0; at = chunk.indexOf('data: ', at + 6)) count++
  return count
}
