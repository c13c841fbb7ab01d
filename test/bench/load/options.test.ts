// The command line of the bench.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Options, parseOptions } from '../../../bench/load/options.ts'

const PEERS = ['gatehouse', 'nginx']

function parse(...args: string[]): Options {
  const options = parseOptions(args, PEERS)
  assert.ok(typeof options !== 'string', String(options))
  return options
}

test('without options everything but the soak is measured, up to 40 blocks, and times in three rounds of two seconds', () => {
  const { parts, ...rest } = parse()
  assert.deepEqual(parts, [
    ...[
      'get',
      'log',
      'post',
      'upload',
      'download',
      'tls',
      'h2',
      'streams',
      'full',
      'resumed',
      'down',
      'rules',
    ],
    ...[
      'refused',
      'chat',
      'eight',
      'alias',
      'unknown',
      'ttft',
      'client',
      'workers',
      'sse',
      'steady',
      'profile',
      'start',
      'scan',
      'back-to-back',
      'frontier',
      'heap',
      'idle',
      'npm-start',
    ],
  ])
  assert.deepEqual(rest, {
    ...{ peers: PEERS, blocks: 40, slice: 100, launches: 1, minutes: null, rounds: 3, seconds: 2 },
    ...{ isQuick: false, json: false, complete: true, add: false },
  })
})

test('a soak comes on top', () => {
  assert.ok(parse('--soak').parts.includes('soak'))
  assert.deepEqual(parse('--only', 'get,soak', '--soak').parts, ['get', 'soak'])
  assert.ok(parse('--soak').complete)
})

test('ai stands for all that is about AI gateways', () => {
  assert.deepEqual(parse('--only', 'get,ai').parts, [
    ...['get', 'chat', 'eight', 'alias', 'unknown', 'ttft', 'steady', 'profile', 'scan', 'frontier'],
  ])
})

test('a narrowed or quick run is not complete', () => {
  assert.equal(parse('--quick').complete, false)
  assert.equal(parse('--only', 'get').complete, false)
  assert.equal(parse('--peers', 'nginx').complete, false)
})

test('quick is ten blocks and one round of one second unless another length is asked for', () => {
  const { blocks, rounds, seconds } = parse('--quick', '--rounds', '2')
  assert.deepEqual({ blocks, rounds, seconds }, { blocks: 10, rounds: 2, seconds: 1 })
})

test('a wrong option is named in a sentence', () => {
  assert.match(
    String(parseOptions(['--only', 'get,put'], PEERS)),
    /^--only: there is no put; there are get, /,
  )
  assert.match(
    String(parseOptions(['--peers', 'squid'], PEERS)),
    /^--peers: there is no squid; there are gatehouse, nginx$/,
  )
  assert.match(String(parseOptions(['--rounds', '0'], PEERS)), /^--rounds must be/)
  assert.match(String(parseOptions(['--seconds', '1.5'], PEERS)), /^--seconds must be/)
  assert.match(String(parseOptions(['--blocks', '9'], PEERS)), /^--blocks must be a whole number from 10/)
  assert.match(String(parseOptions(['--slice', '5'], PEERS)), /^--slice must be/)
  assert.match(String(parseOptions(['--launches', '2'], PEERS)), /^--launches must be/)
  assert.match(String(parseOptions(['--fast'], PEERS)), /--fast/)
})

test('a run may be given its minutes', () => {
  assert.equal(parse('--minutes', '28').minutes, 28)
  assert.match(String(parseOptions(['--minutes', '0.5'], PEERS)), /--minutes must be a whole number/)
})
