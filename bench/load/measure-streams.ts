// The measurements of event streams, for measure.ts.
import { setTimeout as wait } from 'node:timers/promises'
import { type Call, chatAt, type Door, EVENTS, PROVIDER_DOOR } from './call.ts'
import { LAST_EVENTS, TOKEN_INTERVAL } from './chat.ts'
import type { Running } from './launch.ts'
import type { Sample } from './measure.ts'
import { meter } from './meter.ts'
import { MIXES, STALL } from './mixes.ts'
import { percentile } from './statistics.ts'
import { type EventStream, openStreams, timeFirstEvents, warmUpStreams } from './streams.ts'

const WARM_UP_SECONDS = 1
const FIRST_EVENTS = 500

/** Streams of each that are timed in turn. */
const BURST = 20

const TOKENS_PER_SECOND = 1000 / TOKEN_INTERVAL

/** More than any stream gets before it is closed. */
const ENDLESS = 120 * TOKENS_PER_SECOND

/** What it may take to open the streams that are read to their end. */
const OPENING_SECONDS = 2

/** What the streams ask for that stay open, and those that are timed: a chat of one token is read to its end, as callers do, and its connection to the origin serves the next. */
const CALLS = {
  sse: () => ({ long: EVENTS, short: EVENTS }),
  ttft: (door: Door) => ({ long: chatAt(door, 'own', ENDLESS), short: chatAt(door, 'own', 1) }),
}

/** Measures streams that stay open, and while they do how long others wait for their first event. */
export async function measureStreams(
  proxy: Running,
  mix: 'sse' | 'ttft',
  door: Door,
  origin: number,
  seconds: number,
): Promise<Sample> {
  const { short } = CALLS[mix](PROVIDER_DOOR)
  const count = MIXES[mix].streams
  const own = CALLS[mix](door)
  const ends = mix === 'ttft'
  await warmUpStreams(proxy.port, own.short, ends)
  return whileStreaming(proxy.port, count, own.long, async streams => {
    const time = (port: number, call: Call, count: number) => timeFirstEvents(port, count, call, ends)
    await wait(WARM_UP_SECONDS * 1000)
    const flow = await measureFlow(proxy, streams, seconds)
    const [direct, proxied]: [number[], number[]] = [[], []]
    // In turn, while the same streams flow, so that what the machine does meanwhile hits both.
    while (proxied.length < FIRST_EVENTS) {
      direct.push(...(await time(origin, short, BURST)))
      proxied.push(...(await time(proxy.port, own.short, BURST)))
    }
    return {
      ...flow,
      p50: percentile(proxied, 50) - percentile(direct, 50),
      p99: percentile(proxied, 99) - percentile(direct, 99),
      unexpected: streams.filter(stream => !stream.open).length,
    }
  })
}

/** Measures streamed chats that are read to their end; each must be whole, without a stall, and have every token. */
export async function measureWholeStreams(proxy: Running, door: Door, seconds: number): Promise<Sample> {
  const { streams, tokens } = await openWholeStreams(
    proxy,
    door,
    MIXES.steady.streams,
    WARM_UP_SECONDS + seconds,
  )
  await wait(WARM_UP_SECONDS * 1000)
  const flow = await measureFlow(proxy, streams, seconds)
  await Promise.all(streams.map(stream => stream.ended))
  const pauses = streams.map(stream => stream.longestPause)
  return {
    ...flow,
    p50: percentile(pauses, 50),
    p99: percentile(pauses, 99),
    unexpected: streams.filter(stream => !isGood(stream, tokens)).length,
  }
}

/** Has so many streamed chats flow to their end, and returns how many were cut, stalled or lacked a token. */
export async function holdWholeStreams(
  proxy: Running,
  door: Door,
  count: number,
  seconds: number,
): Promise<number> {
  const { streams, tokens } = await openWholeStreams(proxy, door, count, seconds)
  await Promise.all(streams.map(stream => stream.ended))
  return streams.filter(stream => !isGood(stream, tokens)).length
}

async function openWholeStreams(proxy: Running, door: Door, count: number, seconds: number) {
  const tokens = (OPENING_SECONDS + seconds) * TOKENS_PER_SECOND
  const streams = await openStreams(proxy.port, count, chatAt(door, 'own', tokens))
  return { streams, tokens }
}

function isGood({ isWhole, events, longestPause }: EventStream, tokens: number): boolean {
  return isWhole && events === tokens + LAST_EVENTS && longestPause <= STALL
}

async function measureFlow(proxy: Running, streams: readonly EventStream[], seconds: number) {
  const received = countReceived(streams)
  const spent = await meter(proxy)
  const began = performance.now()
  await wait(seconds * 1000)
  const events = countReceived(streams) - received
  const rate = (events * 1000) / (performance.now() - began)
  return { ...(await spent(events)), rate }
}

function countReceived(streams: readonly EventStream[]): number {
  return streams.reduce((sum, stream) => sum + stream.events, 0)
}

async function whileStreaming<T>(
  port: number,
  count: number,
  call: Call,
  work: (streams: readonly EventStream[]) => Promise<T>,
): Promise<T> {
  const streams = await openStreams(port, count, call)
  try {
    return await work(streams)
  } finally {
    for (const stream of streams) stream.close()
  }
}
