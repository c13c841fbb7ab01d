import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { limitsCost, modelAt, type RouteNode } from '../../../src/ai/failover/model-route.ts'
import { compileElements, readElements } from '../../../src/ai/failover/route-elements.ts'
import type { RouteElement, Scalar } from '../../../src/store/records/model-route.ts'

const to = (elementId: string) => ({ elementId })
const start = { id: 'begin', type: 'start', outputs: { next: to('big') } }
const end = { id: 'done', type: 'end', outputs: {} }
const model = (id: string, fallback = 'done', properties: object = {}) => ({
  id,
  type: 'model',
  properties: { provider: 'openai', model: id, timeout: 5000, retries: 1, ...properties },
  outputs: { success: to('done'), fallback: to(fallback) },
})
const paid = (yes: string, no: string) => ({
  id: 'paid',
  type: 'conditional',
  properties: { conditions: { 'metadata.plan': { $eq: 'paid' } } },
  outputs: { true: to(yes), false: to(no) },
})
const rate = (within: string, beyond: string, properties: object = {}) => ({
  id: 'hourly',
  type: 'rate',
  properties: { key: 'token', limit: 10, limitType: 'count', window: 60, ...properties },
  outputs: { success: to(within), fallback: to(beyond) },
})
const shares = (outputs: Readonly<Record<string, string>>) => ({
  id: 'split',
  type: 'percentage',
  outputs: Object.fromEntries(Object.entries(outputs).map(([name, id]) => [name, to(id)])),
})
const from = (id: string) => ({ ...start, outputs: { next: to(id) } })

const isModel = (name: string) => name.startsWith('openai/')

function flawsOf(elements: unknown): string[] {
  const read = readElements(elements, isModel)
  return 'flaws' in read ? read.flaws.map(({ pointer, place, rule }) => `${pointer} ${place} ${rule}`) : []
}

describe('elements are refused by name and rule:', () => {
  const cases: readonly [title: string, elements: unknown, ...flaws: string[]][] = [
    ['no list', {}, '/elements elements must be a list of 1 to 100 elements'],
    ['no start', [end], '/elements elements must have an element of type start'],
    [
      'two starts',
      [start, { ...start, id: 'again' }, model('big'), end],
      '/elements/1 element "again" is a second start',
    ],
    [
      'an id twice',
      [start, model('big'), end, end],
      '/elements/3 element "done" has the id of another element',
    ],
    [
      'no object, and no id',
      [7, { type: 'end' }],
      '/elements/0 elements[0] must be an object',
      '/elements/1/id id of elements[1] must be a string of 1 to 64 printable characters',
    ],
    [
      'an unknown type',
      [{ id: 'a', type: 'loop' }],
      '/elements/0/type type of element "a" must be one of start, conditional, percentage, rate, model, end',
    ],
    [
      'an unknown member',
      [start, { ...end, note: 1 }, model('big')],
      '/elements/1/note note of element "done" is an unknown member',
    ],
    [
      'an output to an unknown element',
      [start, model('big', 'small'), end],
      '/elements/1/outputs/fallback outputs.fallback of element "big" leads to an unknown element, "small"',
    ],
    [
      'a dead end',
      [{ ...start, outputs: {} }, end],
      '/elements/0/outputs/next outputs.next of element "begin" is required: it would be a dead end',
    ],
    [
      'an unknown output',
      [start, model('big'), { ...end, outputs: { next: to('big') } }],
      '/elements/2/outputs/next outputs.next of element "done" is an unknown output',
    ],
    [
      'a loop',
      [start, model('big', 'small'), model('small', 'big'), end],
      '/elements/2/outputs/fallback outputs.fallback of element "small" closes a loop: it leads back to element "big"',
    ],
    [
      'an unreachable element',
      [start, model('big'), model('small'), end],
      '/elements/2 element "small" is unreachable: nothing leads to it',
    ],
    [
      'success that goes on',
      [
        start,
        { ...model('big'), outputs: { success: to('small'), fallback: to('done') } },
        model('small'),
        end,
      ],
      '/elements/1/outputs/success outputs.success of element "big" must lead to an end',
    ],
    [
      'an end without a model',
      [from('paid'), paid('big', 'done'), model('big'), end],
      '/elements/1/outputs/false outputs.false of element "paid" leads to an end without a model',
    ],
    [
      'an unknown provider',
      [start, model('big', 'done', { provider: 'nobody' }), end],
      '/elements/1/properties/model properties.model of element "big" has an unknown provider or resource: "nobody/big"',
    ],
    [
      'properties out of bounds',
      [start, model('big', 'done', { timeout: 0, retries: 5 }), end],
      '/elements/1/properties/timeout properties.timeout of element "big" must be a whole number from 1 to 3600000',
      '/elements/1/properties/retries properties.retries of element "big" must be a whole number from 0 to 4',
    ],
    [
      'a condition with a flaw',
      [from('paid'), { ...paid('big', 'big'), properties: { conditions: { plan: 1 } } }, model('big'), end],
      '/elements/1/properties/conditions properties.conditions of element "paid" has an unknown fact, "plan": use metadata.NAME, token, app or person',
    ],
    [
      'a limit of something else',
      [from('hourly'), rate('big', 'done', { limitType: 'tokens' }), model('big'), end],
      '/elements/1/properties/limitType properties.limitType of element "hourly" must be count or cost',
    ],
    [
      'a limit of cost in parts of a nanodollar, and in seconds',
      [
        from('hourly'),
        rate('big', 'done', { limitType: 'cost', limit: 0.0000000001, window: 59 }),
        model('big'),
        end,
      ],
      '/elements/1/properties/limit properties.limit of element "hourly" must be a number of USD above 0, up to 1000000, with at most 9 decimals, since limitType is cost',
      '/elements/1/properties/window properties.window of element "hourly" must be a whole number from 60 to 2678400',
    ],
    [
      'a limit of calls that is not whole',
      [from('hourly'), rate('big', 'done', { limit: 2.5 }), model('big'), end],
      '/elements/1/properties/limit properties.limit of element "hourly" must be a whole number from 1 to 1000000000',
    ],
    [
      'an unknown key of a rate',
      [from('hourly'), rate('big', 'done', { key: 'address' }), model('big'), end],
      '/elements/1/properties/key properties.key of element "hourly" must be gateway, token, app, person or metadata.NAME',
    ],
    [
      'percentages that do not add up',
      [from('split'), shares({ '30%': 'big', '60%': 'big' }), model('big'), end],
      '/elements/1/outputs outputs of element "split" must add up to 100% or have an else; they add up to 90%',
    ],
    [
      'percentages that leave nothing',
      [from('split'), shares({ '100%': 'big', else: 'big' }), model('big'), end],
      '/elements/1/outputs/else outputs.else of element "split" leaves no calls: the percentages add up to 100%',
    ],
    [
      'more than five percentages',
      [
        from('split'),
        shares(Object.fromEntries([...'abcdef'].map((name, i) => [`${i + 1}% ${name}`, 'big']))),
        model('big'),
        end,
      ],
      '/elements/1/outputs outputs of element "split" must have 1 to 5 percentages',
    ],
    [
      'a percentage without a number',
      [from('split'), shares({ half: 'big', else: 'big' }), model('big'), end],
      '/elements/1/outputs/half outputs.half of element "split" must be named by its percentage, such as 20% or 20% canary',
    ],
  ]
  for (const [title, elements, ...flaws] of cases) test(title, () => deepEqual(flawsOf(elements), flaws))

  test('too many, or too long', () => {
    equal(flawsOf(Array.from({ length: 101 }, () => end)).length, 1)
    const long = { 'metadata.a': { $in: Array.from({ length: 100 }, () => 'x'.repeat(256)) } }
    const conditions = { $or: [long, long] }
    deepEqual(
      flawsOf([from('paid'), { ...paid('big', 'big'), properties: { conditions } }, model('big'), end]),
      ['/elements elements must have at most 32768 characters as JSON'],
    )
  })
})

/** Lists the models of a route for a call, in the order in which they are tried. */
function order(
  elements: unknown,
  { point = 0, plan = 'free', isWithin = true, keys = [] as string[] } = {},
): string[] {
  const read = readElements(elements, isModel)
  ok(!('flaws' in read), JSON.stringify(read))
  const journey = {
    draw: () => point,
    facts: (fact: string): readonly Scalar[] =>
      fact === 'metadata.plan' ? [plan] : fact === 'token' ? ['t1'] : [],
    spend: ({ name, limit, window }: { name: string; limit: number; window: number }, key: string) => {
      keys.push(`${name} ${limit}/${window} ${key}`)
      return isWithin
    },
    pass: ({ name, limit }: { name: string; limit: number }, key: string) => {
      keys.push(`${name} $${limit} ${key}`)
    },
  }
  const models: string[] = []
  for (let at: RouteNode | null = compileElements(read, 'r1'); at !== null; ) {
    const node = modelAt(at, journey)
    if (node === null || node instanceof Promise) break
    models.push(node.model)
    at = node.fallback
  }
  return models
}

describe('compiled elements lead a call', () => {
  test('from a failed model to its fallback', () =>
    deepEqual(order([start, model('big', 'small'), model('small'), end]), ['openai/big', 'openai/small']))

  test('by its metadata', () => {
    const elements = [from('paid'), paid('big', 'small'), model('big', 'small'), model('small'), end]
    deepEqual(order(elements), ['openai/small'])
    deepEqual(order(elements, { plan: 'paid' }), ['openai/big', 'openai/small'])
  })

  test('by percentages, and what is left', () => {
    const elements = [from('split'), shares({ '12.5%': 'big', '7.5% canary': 'new', else: 'small' })]
    const models = [model('big'), model('new'), model('small'), end]
    const at = (point: number) => order([...elements, ...models], { point })[0]
    deepEqual([0, 0.124, 0.125, 0.199, 0.2, 0.999].map(at), [
      ...['openai/big', 'openai/big', 'openai/new', 'openai/new', 'openai/small', 'openai/small'],
    ])
  })

  test('by a rate, which is counted by its key', () => {
    const elements = [from('hourly'), rate('big', 'small'), model('big'), model('small'), end]
    const keys: string[] = []
    deepEqual(order(elements, { keys }), ['openai/big'])
    deepEqual(order(elements, { isWithin: false }), ['openai/small'])
    deepEqual(keys, ['r1 hourly 10/60000 "t1"'])
    deepEqual(order([from('hourly'), rate('big', 'done', { key: 'app' }), model('big'), end], { keys }), [
      'openai/big',
    ])
    equal(keys.at(-1), 'r1 hourly 10/60000 ')
    deepEqual(order([from('hourly'), rate('big', 'done'), model('big'), end], { isWithin: false }), [])
  })

  test('within a rate by cost, which is noted: what a call costs is not known yet', () => {
    const costs = rate('big', 'small', { limitType: 'cost', limit: 2.5 })
    const elements = [from('hourly'), costs, model('big', 'small'), model('small'), end]
    const keys: string[] = []
    deepEqual(order(elements, { isWithin: false, keys }), ['openai/big', 'openai/small'])
    deepEqual(keys, ['r1 hourly $2.5 "t1"'])
    const isLimited = (elements: unknown) =>
      limitsCost(compileElements(readElements(elements, isModel) as readonly RouteElement[], 'r1')!)
    equal(isLimited(elements), true)
    equal(isLimited([from('hourly'), rate('big', 'done'), model('big'), end]), false)
    const behind = model('first', 'hourly')
    equal(isLimited([from('first'), behind, costs, model('big'), model('small'), end]), true)
  })
})

test('any JSON is refused with named flaws, or every way through it ends', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const output = fc.record({ elementId: id })
  const both = fc.record({ success: output, fallback: output })
  const element = fc.oneof(
    fc.record({ id, type: fc.constant('start'), outputs: fc.record({ next: output }) }),
    fc.record({
      id,
      type: fc.constant('conditional'),
      properties: fc.constant({ conditions: { 'metadata.plan': 'paid' } }),
      outputs: fc.record({ true: output, false: output }),
    }),
    fc.record({
      id,
      type: fc.constant('percentage'),
      outputs: fc.record({ '40%': output, '60%': output, else: output }, { requiredKeys: ['40%'] }),
    }),
    fc.record({
      id,
      type: fc.constant('rate'),
      properties: fc.constant({ key: 'token', limit: 1, limitType: 'count', window: 1 }),
      outputs: both,
    }),
    fc.record({
      id,
      type: fc.constant('model'),
      properties: fc.constant({ provider: 'openai', model: 'm', timeout: 1, retries: 0 }),
      outputs: both,
    }),
    fc.record({ id, type: fc.constant('end') }),
  )
  // Elements that lead forward only, of which more are right.
  const forward = fc
    .array(fc.tuple(fc.constantFrom('paid', 'rate', 'model'), fc.nat(1), fc.nat(1)), {
      minLength: 1,
      maxLength: 4,
    })
    .map(middle => {
      const idAt = (i: number) => (i < middle.length ? `e${i}` : 'done')
      const elements = middle.map(([type, one, other], i) => {
        const [first, second] = [idAt(i + 1 + one), idAt(i + 1 + other)]
        if (type === 'paid') return { ...paid(first, second), id: idAt(i) }
        return { ...(type === 'rate' ? rate(first, second) : model('m', first)), id: idAt(i) }
      })
      return [from('e0'), ...elements, end]
    })
  const any = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(element, fc.jsonValue()), { maxLength: 5 }), forward)
  let valid = 0
  fc.assert(
    fc.property(
      any,
      fc.double({ min: 0, max: 0.99, noNaN: true }),
      fc.boolean(),
      (value, point, isWithin) => {
        const read = readElements(value, isModel)
        if ('flaws' in read) {
          ok(read.flaws.length > 0)
          for (const { pointer, place, rule } of read.flaws)
            ok(pointer.startsWith('/elements') && place !== '' && rule !== '')
          return
        }
        valid++
        const models = order(read, { point, isWithin })
        ok(models.length > 0 || !isWithin)
      },
    ),
    { numRuns: 2000 },
  )
  ok(valid > 0, 'some were valid')
})
