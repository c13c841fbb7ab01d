// A client of event streams that counts and times, for measure-streams.ts.
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { asText, type Call } from './call.ts'

const SILENCE_LIMIT = 5_000
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Milliseconds between the end of one stream and the next: what a proxy still does for the one is no part of what it adds to the other. */
const PAUSE = 5

/** Streams by which a proxy gets warm, and how many flow at once: as long as its code is not compiled, a first event takes twice as long. */
const WARM_UP_STREAMS = 8000
const WARM_UP_AT_ONCE = 50

/** One open event stream; it counts its events until it has ended or is closed. */
export class EventStream {
  readonly #socket: Socket
  #unread: Buffer = Buffer.alloc(0)
  #lastAt = 0
  /** Settles with the milliseconds from the request on an open connection to the first event. */
  readonly firstEvent: Promise<number>
  /** Settles when nothing more will come, whatever the reason. */
  readonly ended: Promise<void>
  events = 0
  /** Milliseconds between the two events that were furthest apart. */
  longestPause = 0
  /** Whether its end was announced, not only found. */
  isWhole = false

  constructor(port: number, call: Call) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.firstEvent = new Promise((resolve, reject) => this.#listen(asText(call), resolve, reject))
    this.ended = new Promise(resolve => this.#socket.on('close', () => resolve()))
  }

  get open(): boolean {
    return !this.#socket.destroyed
  }

  close(): void {
    this.#socket.destroy()
  }

  #listen(request: string, resolve: (ms: number) => void, reject: (reason: Error) => void): void {
    let asked = 0
    let answered = ''
    this.#socket.setTimeout(SILENCE_LIMIT, () => this.close())
    this.#socket.on('connect', () => {
      asked = performance.now()
      this.#socket.write(request)
    })
    this.#socket.on('data', chunk => {
      answered ||= chunk.toString('latin1').split('\r\n', 1)[0]!
      this.#read(chunk as Buffer)
      if (this.events > 0) resolve(this.#lastAt - asked)
    })
    this.#socket.on('error', reject)
    this.#socket.on('close', () =>
      reject(new Error(`the event stream ended before its first event: ${answered}`)),
    )
  }

  #read(chunk: Buffer): void {
    const bytes = this.#unread.length > 0 ? Buffer.concat([this.#unread, chunk]) : chunk
    const end = bytes.lastIndexOf('\n') + 1
    const count = countEvents(bytes.subarray(0, end))
    this.#unread = bytes.subarray(end)
    if (count > 0) this.#note(count, performance.now())
    this.isWhole = bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
    if (this.isWhole) this.close()
  }

  #note(count: number, now: number): void {
    if (this.events > 0) this.longestPause = Math.max(this.longestPause, now - this.#lastAt)
    this.events += count
    this.#lastAt = now
  }
}

/** Opens streams one after the other, so that the events of all are spread over the interval of the origin. */
export async function openStreams(port: number, count: number, call: Call): Promise<EventStream[]> {
  const streams: EventStream[] = []
  while (streams.length < count) {
    const stream = new EventStream(port, call)
    streams.push(stream)
    await stream.firstEvent
  }
  return streams
}

/** Opens `count` streams in turn and returns the milliseconds to the first event of each; those that end are read to their end, endless ones are closed. */
export async function timeFirstEvents(
  port: number,
  count: number,
  call: Call,
  ends: boolean,
): Promise<number[]> {
  const times: number[] = []
  while (times.length < count) {
    times.push(await readFirstEvent(port, call, ends))
    await wait(PAUSE)
  }
  return times
}

/** Has a proxy begin thousands of streams before its first events are timed. */
export async function warmUpStreams(
  port: number,
  call: Call,
  ends: boolean,
  count = WARM_UP_STREAMS,
): Promise<void> {
  let left = count
  const next = async () => {
    while (left-- > 0) await readFirstEvent(port, call, ends)
  }
  await Promise.all(Array.from({ length: WARM_UP_AT_ONCE }, next))
}

async function readFirstEvent(port: number, call: Call, ends: boolean): Promise<number> {
  const stream = new EventStream(port, call)
  const time = await stream.firstEvent
  if (ends) await stream.ended
  else stream.close()
  return time
}

/** Counts the events in whole lines; each has one data field. */
export function countEvents(lines: Buffer): number {
  let count = 0
  for (let at = lines.indexOf('data: '); at >= 0; at = lines.indexOf('data: ', at + 6)) count++
  return count
}
