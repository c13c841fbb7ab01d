import { equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileExpression, type Expression, type Facts } from '../../src/expression/expression.ts'
import { failure } from '../../src/expression/meter.ts'
import { maxWork, Work } from '../../src/expression/work-budget.ts'
import { noTls } from '../../src/expression/tls-facts.ts'

const section = 128 * 1024
const header = 'request.headers["x"][0]'

describe('what takes too long on heads of 128 KiB is refused, or fails early', () => {
  for (const text of [
    `"x" in request.headers && ${header}.split(",").exists(a, ${header}.upperAscii().size() == 3)`,
    `[${header}.split("|")[0]].exists(p, p.split("").exists(c, p.upperAscii().size() == 3))`,
    `[${header}.split("|").map(a, a)[0]].exists(p, p.split("").exists(c, p.upperAscii().size() == 3))`,
    `${header}.split("|").filter(a, a != "")[0].split("").map(a, ${header}).join("").size() == 1`,
    repeated(i => `request.query.split("").size() == ${i}`),
    repeated(i => `${header}.split("").size() == ${i}`),
  ]) {
    test(text.slice(0, 80), () => {
      const result = compileExpression(text, 'request', 'bool')
      if ('line' in result) return match(result.message, /too many steps/)
      for (const facts of heads()) {
        const work = new Work()
        const { user } = process.threadCpuUsage()
        result.evaluate(facts, work)
        const spent = (process.threadCpuUsage().user - user) / 1000
        ok(spent < 50 && work.left > -1_000, `took ${spent} ms, ${work.left} steps left`)
      }
    })
  }
})

test('what is let in takes no more than its steps on heads of 128 KiB, or fails', () => {
  for (const text of [
    `${header}.split(",").exists(a, ${header}.contains(a + "zz"))`,
    `${header}.split("").all(a, a != "B")`,
    `${header}.contains("${'A'.repeat(20)}B")`,
    `${header}.upperAscii().size() == 1`,
    `${header}.contains(request.headers["y"][0])`,
    `${header}.contains("B${'A'.repeat(3900)}")`,
    'request.query.split("&").exists(a, int(a) == 77)',
    'request.headers["x"].exists(v, v.split(",").exists(a, a == "json"))',
    'request.headers.exists(n, request.headers[n].exists(v, v.matches("zz.*b")))',
    'request.headers.exists(n, n.upperAscii() == "zz")',
  ]) {
    const result = compileExpression(text, 'request', 'bool')
    if ('line' in result) continue
    for (const facts of heads()) {
      const work = new Work()
      const before = work.left
      const { user } = process.threadCpuUsage()
      const answer = result.evaluate(facts, work)
      const spent = (process.threadCpuUsage().user - user) / 1000
      ok(answer === null || work.left >= 0, text)
      ok(answer === null || work.left < before, text)
      ok(spent < 50, `${text.slice(0, 80)} took ${spent} ms`)
    }
  }
})

test('an expression fails once its request has no steps left', () => {
  const expression = compiled('request.path.contains("A")')
  const facts = factsOf(new Map())
  const work = new Work()
  const { left } = work
  equal(expression.evaluate(facts, work), true)
  const steps = left - work.left
  ok(steps > 8000 / 8 && steps < 8000 / 4, `${steps}`)
  equal(expression.evaluate(facts, Object.assign(new Work(), { left: steps })), true)
  equal(expression.evaluate(facts, Object.assign(new Work(), { left: steps - 1 })), null)
})

test('conditions behind the last step take none, however many there are', () => {
  const expression = compiled('request.path.contains("A")')
  const facts = factsOf(new Map())
  const work = Object.assign(new Work(), { left: 1 })
  for (let i = 0; i < 100; i++) equal(expression.evaluate(facts, work), null)
  equal(work.left, 1)
  ok(work.isExceeded)
})

test('a loop ends with the steps, though each of its rounds fails', () => {
  const facts = factsOf(new Map([['x', ['a,'.repeat(4_000)]]]))
  const work = new Work()
  equal(compiled(`${header}.split(",").exists(a, int(a) == 7)`).evaluate(facts, work), null)
  ok(work.left < failure && work.left > -2 * failure, `${work.left}`)
})

test('comparing lists and maps takes steps for all that they hold', () => {
  const facts = factsOf(new Map([['x', ['a,'.repeat(400)]]]))
  for (const list of [`${header}.split(",")`, `{"a": ${header}.split(",")}`, `[${header}.split(",")]`]) {
    const work = new Work()
    equal(compiled(`[${list}].exists(l, l != l || l != l)`).evaluate(facts, work), false)
    ok(new Work().left - work.left > 4 * 400, `${list}: ${work.left}`)
  }
})

test('a long text is not looked for from the end of another one', () => {
  const facts = factsOf(new Map())
  equal(compiled(`request.path.lastIndexOf("${'A'.repeat(3900)}B") == 1`).evaluate(facts), null)
  equal(compiled('request.path.lastIndexOf("/") == 0').evaluate(facts), true)
})

test('simple conditions hold on large heads', () => {
  const cookie = 'a=b; '.repeat(2000)
  const facts = factsOf(new Map([['cookie', [cookie]]]))
  equal(compiled('request.headers["cookie"][0].contains("a=b")').evaluate(facts), true)
  equal(compiled('request.headers["cookie"].exists(v, v.contains("a=b"))').evaluate(facts), true)
})

test('a look through all headers holds on those of a browser', () => {
  const usual = Array.from({ length: 24 }, (_, i): [string, string[]] => [
    `x-${i}`,
    ['some text of a browser'],
  ])
  const facts = factsOf(new Map([...usual, ['cookie', ['a=b; '.repeat(800)]]]))
  const any = compiled('request.headers.exists(n, request.headers[n].exists(v, v.contains("${jndi:")))')
  equal(any.evaluate(facts), false)
})

test('only what a condition reads has to be small', () => {
  const agent = compiled('request.headers["agent"].exists(v, v.split(" ").exists(a, a == "bot"))')
  const large = ['x '.repeat(20_000)]
  equal(agent.evaluate(factsOf(new Map([['agent', ['a bot']]]))), true)
  equal(agent.evaluate(factsOf(new Map(Object.entries({ agent: ['a bot'], cookie: large })))), true)
  equal(agent.evaluate(factsOf(new Map([['agent', large]]))), null)
})

test('hundreds of usual conditions fit into one file, and a few of the largest do not', () => {
  for (const [least, text] of [
    [500, 'request.path.startsWith("/admin") && request.method != "GET"'],
    [400, 'request.path.startsWith("/admin") && !(request.ip in ["192.0.2.1"])'],
    [110, '"user-agent" in request.headers && request.headers["user-agent"][0].contains("bot")'],
    [350, 'request.headers[?"x-test"].orValue([]).exists(v, v == "1")'],
    [120, 'request.path.matches("^/(shop|admin)/items/[0-9]+$")'],
  ] as const) {
    const { work } = compiled(text)
    ok(work > 0 && least * work <= maxWork.rules.file, `${text}: ${work}`)
  }
  ok(10 * compiled('request.query.split("").exists(a, a == "b")').work > maxWork.rules.file)
})

function compiled(text: string): Expression<boolean> {
  const result = compileExpression(text, 'request', 'bool')
  ok(!('line' in result), 'line' in result ? `${text}: ${result.message}` : '')
  return result
}

/** Repeats a condition as often as an expression has room for. */
function repeated(condition: (i: number) => string): string {
  let all = condition(0)
  for (let i = 1; all.length < 3900; i++) all += ` || ${condition(i)}`
  return all.length > 4096 ? all.slice(0, all.lastIndexOf(' || ')) : all
}

function* heads(): Generator<Facts> {
  for (const value of ['A,'.repeat(section / 2), 'A'.repeat(section), 'A,'.repeat(2048), 'é'.repeat(section)])
    yield factsOf(
      new Map([
        ['x', [value]],
        ['y', [`B${'A'.repeat(4000)}`]],
      ]),
    )
  yield factsOf(new Map([['x', Array<string>(1000).fill('A'.repeat(128))]]))
  const names = (count: number, values: number) =>
    Array.from({ length: count }, (_, i): [string, string[]] => [
      `x-${i}`,
      Array(values).fill('a'.repeat(128)),
    ])
  yield factsOf(new Map(names(1000, 1)))
  yield factsOf(new Map(names(128, 8)))
}

function factsOf(headers: Map<string, string[]>): Facts {
  const line = { method: 'GET', host: 'a', path: `/${'A'.repeat(8000)}`, query: 'A'.repeat(8192) }
  const client = { ip: '192.0.2.1', country: '', asn: 0, scheme: 'http' as const, tls: noTls }
  return { request: { ...line, headers, ...client }, response: null, error: null, zone: 'main' }
}
