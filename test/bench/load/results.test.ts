// The arithmetic on results, and the targets.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MixName } from '../../../bench/load/mixes.ts'
import {
  growth,
  mostUnexpected,
  type Results,
  type Run,
  ratio,
  typical,
} from '../../../bench/load/results.ts'
import { type Heat, HEATS, pairsOf } from '../../../bench/load/heats.ts'
import { outcomeOf, type Target, TARGETS, targetsFor } from '../../../bench/load/targets.ts'

test('the typical value is the median over the rounds', () => {
  const runs = [run('nginx', 1, { cost: 10 }), run('nginx', 2, { cost: 50 }), run('nginx', 3, { cost: 11 })]
  assert.equal(typical(runs, subject('nginx')), 11)
})

test('other peers and mixes do not count', () => {
  const runs = [
    run('nginx', 1, { cost: 10 }),
    run('caddy', 1, { cost: 60 }),
    run('nginx', 1, { cost: 90, mix: 'post' }),
  ]
  assert.equal(typical(runs, subject('nginx')), 10)
})

test('a ratio is taken within each round, so that a slow round does not tilt it', () => {
  const runs = [
    ...[run('nginx', 1, { cost: 10 }), run('gatehouse', 1, { cost: 20 })],
    ...[run('nginx', 2, { cost: 30 }), run('gatehouse', 2, { cost: 60 })],
    ...[run('nginx', 3, { cost: 10 }), run('gatehouse', 3, { cost: 21 })],
  ]
  assert.equal(ratio(runs, subject('gatehouse'), subject('nginx')), 2)
})

test('a round that lacks one of the two is left out of the ratio', () => {
  const runs = [
    run('nginx', 1, { cost: 10 }),
    run('gatehouse', 1, { cost: 20 }),
    run('gatehouse', 2, { cost: 90 }),
  ]
  assert.equal(ratio(runs, subject('gatehouse'), subject('nginx')), 2)
})

test('unmeasured values are null', () => {
  assert.equal(typical([], subject('nginx')), null)
  assert.equal(ratio([run('nginx', 1, {})], subject('gatehouse'), subject('nginx')), null)
})

test('one round with unexpected responses is enough', () => {
  const runs = [1, 2, 3].map(round => run('nginx', round, { unexpected: round === 2 ? 7 : 0 }))
  assert.equal(mostUnexpected(runs, subject('nginx')), 7)
  assert.equal(mostUnexpected(runs, subject('caddy')), null)
})

test('a soak grows from its second reading, when it is warm, to its last', () => {
  const readings = [50, 100, 101, 99, 104].map((memory, at) => ({
    requests: (at + 1) * 1e6,
    memory,
    heap: 10 * (at + 1),
  }))
  const soak = { requests: 5e6, unexpected: 0, readings }
  assert.deepEqual([growth(soak, 'memory'), growth(soak, 'heap')], [1.04, 2.5])
  assert.deepEqual([growth(null, 'memory'), growth({ requests: 2e6 }, 'memory')], [null, null])
})

test('an upper target is met up to its bound and a lower one from its bound on', () => {
  const slow = [run('gatehouse', 1, { cost: 17, rate: 19 })]
  const fast = [run('gatehouse', 1, { cost: 16, rate: 20 })]
  const others = [run('nginx', 1, { cost: 10 }), run('caddy', 1, { rate: 10 })]
  assert.deepEqual(
    [met('against nginx', [...slow, ...others]), met('against nginx', [...fast, ...others])],
    ['missed', 'met'],
  )
  assert.deepEqual(
    [met('against caddy', [...slow, ...others]), met('against caddy', [...fast, ...others])],
    ['missed', 'met'],
  )
})

test("a chat a core is counted by CPU, and Portkey's is the dividend", () => {
  const runs = [
    run('gatehouse native', 1, { mix: 'chat', cost: 40 }),
    run('portkey', 1, { mix: 'chat', cost: 800 }),
  ]
  const target = TARGETS.find(target => target.name.includes('Portkey'))!
  assert.deepEqual(found(target, runs), [20, 'missed'])
})

test('rules are weighed against a GET without, whether they let pass or refuse', () => {
  const runs = [
    run('gatehouse', 1, { mix: 'rules', cost: 20 }),
    run('gatehouse', 1, { mix: 'get', cost: 99 }),
    run('gatehouse 10 rules', 1, { mix: 'rules', cost: 21.5 }),
    run('gatehouse 1015 Redis', 1, { mix: 'refused', cost: 14 }),
  ]
  const [ten, refused] = ['10 access rules', 'Refused by a rate limit in Redis'].map(
    name => TARGETS.find(target => target.name.startsWith(name))!,
  )
  assert.deepEqual(found(ten!, runs), [1.075, 'missed'])
  assert.deepEqual(found(refused!, runs), [0.7, 'met'])
})

test('a chat with an access token is weighed against one with an API token, and a refused one against a GET', () => {
  const runs = [
    run('gatehouse', 1, { mix: 'get', cost: 20 }),
    run('gatehouse native', 1, { mix: 'chat', cost: 40 }),
    run('gatehouse oauth', 1, { mix: 'chat', cost: 42 }),
    run('gatehouse native', 1, { mix: 'unknown', cost: 99 }),
    run('gatehouse oauth', 1, { mix: 'unknown', cost: 15 }),
  ]
  const [chat, refused] = ['Chat with a token of OAuth', 'Chat refused, unknown access token'].map(
    name => TARGETS.find(target => target.name.startsWith(name))!,
  )
  assert.deepEqual(found(chat!, runs), [1.05, 'met'])
  assert.deepEqual(found(refused!, runs), [0.75, 'missed'])
})

test('a refused API token is weighed against a GET, with SQLite and with Redis', () => {
  const runs = [
    run('gatehouse', 1, { mix: 'get', cost: 20 }),
    run('gatehouse native', 1, { mix: 'unknown', cost: 12 }),
    run('gatehouse native Redis', 1, { mix: 'unknown', cost: 16 }),
  ]
  const [here, inRedis] = ['Chat refused, unknown token:', 'Chat refused, unknown token, Redis'].map(
    name => TARGETS.find(target => target.name.startsWith(name))!,
  )
  assert.deepEqual(found(here!, runs), [0.6, 'met'])
  assert.deepEqual(found(inRedis!, runs), [0.8, 'missed'])
})

test('a target is met or missed by a whole interval, and undecided where the bound is within it', () => {
  const target = TARGETS.find(({ name }) => name.startsWith('Chat with token and log: CPU'))!
  const [subject, base] = target.compared!
  const runs = [
    run('gatehouse native', 1, { mix: 'chat', cost: 9 }),
    run(base.peer, 1, { mix: 'chat', cost: 9 }),
  ]
  const outcome = (low: number, high: number) =>
    outcomeOf(target, { ...results(runs), ratios: [{ subject, base, ratio: 1.2, low, high, blocks: 10 }] })
  assert.deepEqual(
    [outcome(1.15, 1.25), outcome(1.24, 1.26), outcome(1.26, 1.35)],
    ['met', 'undecided', 'missed'],
  )
})

test('everything that a target compares runs in one heat', () => {
  const twins = targetsFor(2).filter(({ compared }) => compared)
  for (const { compared, name } of twins) {
    const [subject, base] = compared!
    const isIn = (heat: Heat) => pairsOf(heat).some(([a, b]) => a === subject && b === base)
    assert.ok(HEATS.some(isIn), name)
  }
})

test('the rates of workers are compared where each has a processor of its own', () => {
  const runs = [
    run('gatehouse 1 worker', 1, { mix: 'workers', rate: 10 }),
    run('gatehouse 2 workers', 1, { mix: 'workers', rate: 19 }),
  ]
  const target = TARGETS.find(({ name }) => name.startsWith('Two workers: requests'))!
  const on = (processor: string) => {
    const given = results(runs)
    return outcomeOf(target, { ...given, machine: { ...given.machine, processor } })
  }
  assert.deepEqual([on('2 × Quick'), on('8 × Quick')], ['not measured', 'met'])
  assert.deepEqual([targetsFor(4).includes(target), targetsFor(5).includes(target)], [false, true])
})

test('a figure of a profile or of a part is that of its target', () => {
  const spread = { value: 1, low: 1, high: 1 }
  const gateway = { peer: 'gatehouse governed', added: { p50: spread, p99: spread }, rates: {} }
  const given: Results = {
    ...results([run('gatehouse governed', 1, { mix: 'eight', cost: 36 })]),
    figures: { getTail: { value: 0.1, low: 0, high: 0.3 }, frontier: { value: 0.95 } },
    profile: {
      gateways: [{ ...gateway, firstToken: null, goodStreams: null, memory: { '256 connections': 150 } }],
      governed: { 32: { ratio: 0.8, low: 0.7, high: 0.84 } },
      tails: {},
    },
  }
  const outcome = (name: string) => outcomeOf(TARGETS.find(target => target.name.includes(name))!, given)
  assert.deepEqual(
    ['GET, one connection back', 'one core', '256 connections', '32 connections', '8 connections'].map(
      outcome,
    ),
    ['undecided', 'met', 'met', 'missed', 'missed'],
  )
})

test('a single stream that is cut or stalls misses its target', () => {
  const streams = (unexpected: number) => [run('gatehouse native', 1, { mix: 'steady', unexpected })]
  const target = TARGETS.find(target => target.name.startsWith('512 streamed chats'))!
  assert.deepEqual(
    [found(target, streams(0)), found(target, streams(1))],
    [
      [0, 'met'],
      [1, 'missed'],
    ],
  )
})

test('a target that was not measured is neither met nor missed', () => {
  for (const target of TARGETS) assert.equal(outcomeOf(target, results([])), 'not measured')
})

/** Returns what was measured of a target, and how it came out. */
function found(target: Target | undefined, runs: readonly Run[]) {
  return [target!.measured(results(runs))?.value, outcomeOf(target!, results(runs))]
}

function met(name: string, runs: Run[]) {
  return outcomeOf(
    TARGETS.find(target => target.name.startsWith('GET') && target.name.endsWith(name))!,
    results(runs),
  )
}

function results(runs: readonly Run[]): Results {
  const machine = { processor: '', memory: '', system: '', node: '' }
  return { date: '', machine, peers: {}, rounds: 1, seconds: 1, runs, startup: null, soak: null, scan: null }
}

function run(peer: string, round: number, facts: Partial<Run>): Run {
  return {
    peer,
    round,
    mix: 'get',
    cost: 1,
    rate: 1,
    p50: 1,
    p99: 1,
    memory: 1,
    attempts: 0,
    dropped: 0,
    unexpected: 0,
    ...facts,
  }
}

function subject(peer: string, mix: MixName = 'get') {
  return { peer, mix, metric: 'cost' } as const
}
