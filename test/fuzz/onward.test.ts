// What the edge sends on means the same to all readers: Node's, nginx's and Python's. FUZZ_CONNECTIONS=2000 tries more than the
// tests do, and FUZZ_SEED other ones.

import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { countOf, seedOf } from '../help/command-options.ts'
import { startEdge } from '../help/edge.ts'
import { startOrigin } from '../help/origin.ts'
import { readInputs } from './engine/corpus-file.ts'
import { mutate } from './engine/mutate.ts'
import {
  nginxReader,
  pythonReader,
  type Request,
  type Response,
  responseByNode,
  responsesByPython,
  sendTo,
  startNodeOrigin,
} from './readers.ts'
import { randomOf } from './target.ts'
import { readRequests, target } from './targets/http1-requests.ts'
import { readResponse, target as responseTarget } from './targets/http1-responses.ts'

const { FUZZ_CONNECTIONS = '50', FUZZ_SEED = '1' } = process.env
/** Connections of clients: of fewer, too little might be accepted to show anything. */
const connections = countOf('FUZZ_CONNECTIONS', FUZZ_CONNECTIONS, 50)
/** What they are made from. */
const seed = seedOf('FUZZ_SEED', FUZZ_SEED)

/** Wider than those of any edge. */
const limits = { url: 65_536, headerSection: 65_536, headers: 10_000 }

const corpora = join(import.meta.dirname, 'corpus')

/** Makes what a client may send, of which whole requests are accepted. */
function* accepted(seed: number): Generator<Buffer> {
  const { seeds, tokens, maxLength } = target
  const corpus = [...seeds.map(latin1), ...readInputs(join(corpora, 'http1-requests.txt'))]
  const material = { corpus, tokens: tokens.map(latin1), maxLength }
  const random = randomOf(seed)
  const seen = new Set<string>()
  for (;;) {
    const input = mutate(corpus[random() % corpus.length]!, random, material)
    const { requests } = readRequests([input], limits)
    const facts = JSON.stringify(requests)
    if (!requests.some(({ isWhole }) => isWhole) || !requests.every(isCommon) || seen.has(facts)) continue
    seen.add(facts)
    yield input
  }
}

/** Makes what an origin may send, most of which is accepted. */
function* responses(seed: number): Generator<Buffer> {
  const { seeds, tokens, maxLength } = responseTarget
  const corpus = [...seeds.map(latin1), ...readInputs(join(corpora, 'http1-responses.txt'))]
  const material = { corpus, tokens: tokens.map(latin1), maxLength }
  const random = randomOf(seed)
  for (;;) {
    const input = mutate(corpus[random() % corpus.length]!, random, material)
    const isAccepted = JSON.stringify(readResponse([input], 'GET', false)).startsWith('[["head"')
    if (isAccepted || random() % 60 === 0) yield input
  }
}

function latin1(text: string | Buffer): Buffer {
  return Buffer.from(text as string, 'latin1')
}

/**
 * What all readers take. Node knows no extension methods, and nginx no broken escapes and no paths above the root; to refuse them is
 * no ambiguity.
 */
function isCommon({ method, target }: { readonly method: string; readonly target: string }): boolean {
  const isPlain = /^(?:\/|https?:)[!-~]*$/i.test(target) && !/%(?![0-9a-f]{2})|%00|\.\.|%2e/i.test(target)
  return METHODS.includes(method) && isPlain
}

/** Leaves out what nginx sets itself. */
function comparable({ method, target, fields, body }: Request): unknown {
  const own = ['connection', 'te', 'transfer-encoding', 'content-length', 'expect', 'trailer', 'upgrade']
  const lines = fields.flatMap((name, i) =>
    i % 2 === 0 && !own.includes(name) ? `${name}: ${fields[i + 1]}` : [],
  )
  return { method, target, body, lines: lines.sort() }
}

test('requests are sent on so that all readers agree on them', async t => {
  const origin = await startNodeOrigin(t)
  const edge = await startEdge(t, [`http://127.0.0.1:${origin.port}`], { zone: { isDefault: true } })
  const inputs = accepted(seed).take(connections)
  for (const input of inputs) await sendTo(edge.port, input)
  assert.deepEqual(origin.refusals, [])
  assert.ok(origin.requests.length > connections / 2, `only ${origin.requests.length} requests`)
  const readers = { python: pythonReader(), nginx: await nginxReader(t) }
  for (const [name, read] of Object.entries(readers)) {
    if (read === null) t.diagnostic(`${name} is not installed`)
    const theirs: Request[] = []
    for (const pieces of origin.connections) theirs.push(...((await read?.(Buffer.concat(pieces))) ?? []))
    if (read !== null) assert.deepEqual(theirs.map(comparable), origin.requests.map(comparable), name)
  }
  t.diagnostic(`${origin.requests.length} requests on ${origin.connections.length} connections`)
})

test('responses are sent on so that all readers agree on them', async t => {
  let sent: Buffer = Buffer.alloc(0)
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    wire.socket.end(sent)
  })
  const edge = await startEdge(t, [origin.url], { zone: { isDefault: true } })
  const received: Buffer[] = []
  for (sent of responses(seed).take(connections))
    received.push(await sendTo(edge.port, latin1('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')))
  const readByNode = await responseByNode(t)
  const read: (Response | null)[] = []
  for (const bytes of received) read.push(await readByNode(bytes))
  const count = read.filter(response => response?.status !== 520).length
  assert.ok(count > connections / 4, `only ${count} responses`)
  const readByPython = responsesByPython()
  if (readByPython !== null)
    for (const [i, theirs] of readByPython(received).entries())
      assert.deepEqual(theirs, read[i], JSON.stringify(received[i]!.toString('latin1')))
  t.diagnostic(`${count} responses of origins`)
})
