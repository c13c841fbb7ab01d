import { equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileExpression, type Expression, type Facts, mostListWork } from '../../src/base/expression.ts'

const section = 128 * 1024
const header = 'request.headers["x"][0]'

describe('what takes too long on heads of 128 KiB is refused', () => {
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
      ok('line' in result)
      match(result.message, /too much work/)
    })
  }
})

test('what is let in takes no longer than 200 ms on heads of 128 KiB', () => {
  for (const text of [
    `${header}.split(",").exists(a, ${header}.contains(a + "zz"))`,
    `${header}.split("").all(a, a != "B")`,
    repeated(i => `${header}.contains("A${i}")`),
    repeated(i => `${header}.contains("${'A'.repeat(20)}B${i}")`),
    repeated(i => `${header}.upperAscii().size() == ${i}`),
    `${header}.contains(request.headers["y"][0])`,
    `${header}.contains("B${'A'.repeat(3900)}")`,
    'request.query.split("").exists(a, int(a) == 77)',
    'request.headers["x"].exists(v, v.split(",").exists(a, a == "json"))',
    'request.headers.exists(n, request.headers[n].exists(v, v.matches("zz.*a.{9}b")))',
    'request.headers.exists(n, n.upperAscii() == "zz")',
  ]) {
    const result = compileExpression(text, 'request', 'bool')
    if ('line' in result) continue
    for (const facts of heads()) {
      const { user } = process.cpuUsage()
      result.evaluate(facts)
      const spent = (process.cpuUsage().user - user) / 1000
      ok(spent < 200, `${text.slice(0, 80)} took ${spent} ms`)
    }
  }
})

test('simple conditions hold on large heads', () => {
  const cookie = 'a=b; '.repeat(2000)
  const facts = factsOf(new Map([['cookie', [cookie]]]))
  equal(compiled('request.headers["cookie"][0].contains("a=b")').evaluate(facts), true)
  equal(compiled('request.headers["cookie"].exists(v, v.contains("a=b"))').evaluate(facts), true)
})

test('only what a condition reads has to be as small as it was let in for', () => {
  const agent = compiled('request.headers["agent"].exists(v, v.split(" ").exists(a, a == "bot"))')
  const large = ['x '.repeat(5000)]
  equal(agent.evaluate(factsOf(new Map([['agent', ['a bot']]]))), true)
  equal(agent.evaluate(factsOf(new Map(Object.entries({ agent: ['a bot'], cookie: large })))), true)
  equal(agent.evaluate(factsOf(new Map([['agent', large]]))), null)
  const query = compiled('request.query.split("&").exists(a, int(a) == 1)')
  equal(
    query.evaluate({ ...factsOf(new Map()), request: { ...factsOf(new Map()).request, query: '1' } }),
    true,
  )
  const long = { ...factsOf(new Map()).request, query: '1&'.repeat(5000) }
  equal(query.evaluate({ ...factsOf(new Map()), request: long }), null)
})

test('a thousand simple conditions fit into one list, and three of the largest do not', () => {
  for (const text of [
    'request.path.startsWith("/admin") && request.method != "GET" && !(request.ip in ["192.0.2.1"])',
    '"user-agent" in request.headers && request.headers["user-agent"][0].contains("bot")',
    'request.headers[?"user-agent"].orValue([]).exists(v, v == "bot")',
    'request.path.matches("^/(shop|admin)/items/[0-9]+$")',
  ]) {
    const { work } = compiled(text)
    ok(work > 0 && 1000 * work <= mostListWork, `${text}: ${work}`)
  }
  ok(3 * compiled('request.query.split("").exists(a, int(a) == 77)').work > mostListWork)
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
  const client = { ip: '192.0.2.1', country: '', asn: 0, tls: false }
  return { request: { ...line, headers, ...client }, response: null, error: null, zone: 'main' }
}
