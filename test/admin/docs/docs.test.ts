// The pages below /docs: each operation of the API has one, made from the document.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { curlOf, variableOf } from '../../../src/admin/docs/curl.ts'
import { type Document, operationsOf } from '../../../src/admin/docs/operations.ts'
import { schemaRow, schemaRows } from '../../../src/admin/docs/schema-rows.ts'
import { AdminServer } from '../../../src/admin/server.ts'
import { readPages } from '../../help/docs.ts'
import { described, document, faultsOf } from '../openapi/openapi-document.ts'

const operations = operationsOf(document as unknown as Document)

/** Starts a side port; returns what loads a path of it. */
async function startSidePort(t: TestContext) {
  const facts = { unready: () => null, metricsAccess: 'direct', metrics: async () => '' } as const
  const { promise: crashed, reject } = Promise.withResolvers<never>()
  crashed.catch(() => {})
  const server = new AdminServer(facts, reject)
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  return async (path: string, accept = 'text/html') => {
    const asked = fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept }, redirect: 'manual' })
    const response = await Promise.race([asked, crashed])
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
}

/** Returns the text of a page, without its style and its markup. */
const textOf = (page: string) =>
  page
    .replaceAll(/<(style|title)>.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_, point) => String.fromCodePoint(Number(point)))

const linksOf = (page: string) => Array.from(page.matchAll(/ href="([^"]*)"/g), ([, link]) => link!)

test('every operation has a page with all that the document has of it', async t => {
  const get = await startSidePort(t)
  for (const { id, method, path, summary, permission, parameters, body, responses } of described) {
    const { status, headers, text } = await get(`/docs/api/${id}`)
    assert.equal(status, 200, id)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(headers.get('content-security-policy')!, /^default-src 'none'.*script-src 'none'/)
    const shown = textOf(text)
    const words = [
      `${method} ${path}`,
      summary,
      permission ?? '',
      ...parameters.map(({ name }) => name),
      ...Object.keys((body?.schema.properties ?? {}) as object),
      ...(body?.examples ?? []).map(example =>
        typeof example === 'string' ? example : JSON.stringify(example, null, 2),
      ),
      ...Object.entries(responses).flatMap(([status, { headers }]) =>
        status === '200' ? Object.keys(headers) : [status],
      ),
      'curl ',
    ]
    for (const word of words) assert.ok(shown.includes(word), `${id}: ${word}`)
  }
})

test('every guide has a page with its title and headings, and the list leads to it', async t => {
  const get = await startSidePort(t)
  const index = await get('/docs')
  assert.ok(linksOf(index.text).includes('docs/api'))
  const pages = readPages().filter(({ path }) => /^docs\/(?!screenshots|design\/)/.test(path))
  assert.ok(pages.length > 15)
  for (const { path, text } of pages) {
    const name = path.slice('docs/'.length, -'.md'.length)
    assert.ok(linksOf(index.text).includes(`docs/${name}`), name)
    const page = await get(`/docs/${name}`)
    assert.equal(page.status, 200, name)
    assert.match(page.headers.get('content-security-policy')!, /script-src 'none'/)
    const [title, ...sections] = headingsOf(text)
    assert.ok(page.text.includes(`<h1>${title}</h1>`), name)
    assert.deepEqual(Array.from(page.text.matchAll(/<h[2-6] id="([^"]+)"/g)).length, sections.length, name)
    assert.doesNotMatch(page.text, /<(script|img|picture)\b|<!--|flowchart/)
  }
  assert.equal((await get('/docs/screenshots')).status, 404)
  assert.equal((await get('/docs/..%2FREADME')).status, 404)
})

/** Reads the headings outside of blocks of code. */
const headingsOf = (markdown: string) =>
  Array.from(markdown.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm), ([, heading]) => heading!)

test('every link of the pages leads to a page, and to a place in it', async t => {
  const get = await startSidePort(t)
  const pages = new Map<string, string>()
  const queue = ['/docs']
  for (const path of queue) {
    if (pages.has(path)) continue
    const { status, text } = await get(path)
    assert.equal(status, 200, path)
    pages.set(path, text)
    for (const link of linksOf(text)) {
      const { pathname, host } = new URL(link, `http://side.test${path}`)
      if (host === 'side.test' && pathname !== '/') queue.push(pathname)
    }
  }
  for (const { id } of described) assert.ok(pages.has(`/docs/api/${id}`), `no page leads to ${id}`)
  for (const [path, text] of pages)
    for (const link of linksOf(text)) {
      const { pathname, host, hash } = new URL(link, `http://side.test${path}`)
      if (host === 'side.test' && hash !== '')
        assert.ok(pages.get(pathname)!.includes(` id="${hash.slice(1)}"`), `${path}: ${link}`)
    }
})

test('an operation that there is not is 404, as a page or in the envelope', async t => {
  const get = await startSidePort(t)
  for (const id of ['none', 'constructor', '%00', 'createtoken']) {
    const page = await get(`/docs/api/${id}`)
    assert.deepEqual([page.status, page.headers.get('content-type')], [404, 'text/html; charset=utf-8'], id)
    const { status, text } = await get(`/docs/api/${id}`, 'application/json')
    assert.deepEqual([status, JSON.parse(text).errors[0].code], [404, 7003], id)
  }
})

test('the front page of the side port leads to them', async t => {
  const get = await startSidePort(t)
  const { text } = await get('/')
  assert.ok(linksOf(text).includes('docs/api'))
})

test('the commands ask the operations, with bodies that they take', () => {
  const script = operations.map(one => `${curlOf(one)}\necho`).join('\n')
  // A curl that shows its arguments, as the shell reads them.
  const stub = 'curl() { printf "%s\\0" "$@"; }\necho() { printf "\\n\\0"; }\n'
  const variables = Object.fromEntries(
    operations
      .flatMap(({ path }) => [...path.matchAll(/\{(\w+)\}/g)])
      .map(([, name]) => [variableOf(name!), `<${name}>`]),
  )
  const env = { ...process.env, ...variables, TOKEN: 'a token' }
  const shown = execFileSync('sh', ['-c', stub + script], { env, encoding: 'utf8' })
  const commands = shown.split('\n\0').slice(0, -1)
  assert.equal(commands.length, described.length)
  for (const [at, { id, method, path, body, hasToken }] of described.entries()) {
    const args = commands[at]!.split('\0').slice(0, -1)
    const of = (option: string) => args.flatMap((one, i) => (one === option ? [args[i + 1]!] : []))
    assert.ok(args.includes(`http://127.0.0.1:8081${path.replaceAll('{', '<').replaceAll('}', '>')}`), id)
    assert.deepEqual(of('-X'), method === 'GET' ? [] : [method], id)
    if (hasToken) assert.ok(of('-H').includes('Authorization: Bearer a token'), id)
    const [data] = of('--data-raw')
    assert.equal(data !== undefined, body !== null, id)
    if (body === null) continue
    assert.ok(of('-H').includes(`Content-Type: ${body.type}`), id)
    const value = body.type === 'application/json' ? JSON.parse(data!) : data
    assert.deepEqual(value, body.examples[0], id)
    assert.equal(faultsOf(body.schema, value), '', id)
  }
})

test('a keyword of JSON Schema for which there are no words is not passed over', () => {
  assert.throws(() => schemaRow('a', false, { type: 'integer', multipleOf: 2 }, {}), /multipleOf/)
})

test('a schema is read as people would say it', () => {
  const text = { type: 'string' }
  const schema = {
    type: 'object',
    required: ['names'],
    properties: {
      names: { type: 'array', items: { ...text, minLength: 1, maxLength: 9 }, minItems: 1, maxItems: 2 },
      kind: { type: ['string', 'null'], enum: ['a', null] },
      at: { ...text, format: 'date-time', pattern: '^x$', description: 'When it is.' },
      more: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
      any: { type: 'object', additionalProperties: { type: 'integer', minimum: 1, maximum: 5 } },
    },
    additionalProperties: false,
  }
  const tree = { type: 'object', properties: { name: text, below: { $ref: '#/components/schemas/Tree' } } }
  const rows = schemaRows(schema, { Tree: tree }).map(({ name, isRequired, type, rules, values }) =>
    [name, isRequired ? 'required' : 'optional', type, ...rules, ...values].join(' | '),
  )
  assert.deepEqual(rows, [
    'names | required | list of strings | 1 to 2 items | each: 1 to 9 characters',
    'kind | optional | string or null | "a" | null',
    'at | optional | date-time string',
    'more | optional | list of objects',
    'more[].name | optional | string',
    'more[].below | optional | object',
    'any | optional | object',
    'any.* | optional | integer | from 1 to 5',
  ])
  assert.equal(schemaRow('at', false, schema.properties.at, {}).description, 'When it is.')
  assert.deepEqual(
    schemaRows(schema, { Tree: tree }, ['more', 'any']).map(({ name }) => name),
    ['names', 'kind', 'at'],
  )
})
