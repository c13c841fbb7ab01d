import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ApiResponse } from '../../../src/admin/http/envelope.ts'
import { type Requester, type Route, Router } from '../../../src/admin/http/router.ts'
import { anyPath } from '../../help/any-text.ts'

const text = (body: string): ApiResponse => ({ status: 200, headers: {}, body })

const table: readonly Route<string>[] = [
  { method: 'GET', path: '/things', handle: (_, facts) => text(`list for ${facts}`) },
  { method: 'POST', path: '/things', handle: () => text('made') },
  { method: 'GET', path: '/things/{id}/parts/{kind}', handle: ({ params }) => text(JSON.stringify(params)) },
  { method: 'GET', path: '/query', handle: ({ query }) => text(JSON.stringify([...query])) },
  { method: 'DELETE', path: '/things/{id}', handle: async ({ params }) => text(`gone ${params.id}`) },
]

const requester: Requester = {
  accept: null,
  authorization: null,
  contentType: null,
  ifMatch: null,
  ifNoneMatch: null,
  idempotencyKey: null,
  peer: '',
  isDirect: true,
  isVouched: false,
  base: null,
  address: '',
  ray: '',
  readBody: async () => null,
}

const ask = (method: string, target: string) => new Router(table).respond(method, target, requester, 'you')

test('a request reaches the row of its method and path, the query does not matter', async () => {
  assert.equal((await ask('GET', '/things?page=2')).body, 'list for you')
  assert.equal((await ask('POST', '/things')).body, 'made')
  assert.equal((await ask('DELETE', '/things/7')).body, 'gone 7')
})

test('the handler gets the query, decoded', async () => {
  assert.equal((await ask('GET', '/query?a=1&a=%202&b?=')).body, '[["a","1"],["a"," 2"],["b?",""]]')
  assert.equal((await ask('GET', '/query')).body, '[]')
})

test('segments in braces are decoded, and dots in a path mean dots', async () => {
  assert.equal((await ask('GET', '/things/a%20b/parts/x')).body, '{"id":"a b","kind":"x"}')
  assert.equal((await ask('GET', '/things/a/parts/')).status, 404)
})

test('HEAD is handled like GET', async () => {
  assert.equal((await ask('HEAD', '/things')).body, 'list for you')
})

test('an unknown path is 404 with code 7003 in the envelope', async () => {
  for (const target of ['/', '/thing', '/things/', '/things/1/2', '*']) {
    const { status, body } = await ask('GET', target)
    assert.equal(status, 404, target)
    const { success, result, errors, messages } = JSON.parse(body)
    assert.deepEqual([success, result, messages, errors[0].code], [false, null, [], 7003])
  }
})

test('a wrong method is 405 with code 7001, and Allow lists those of the path', async () => {
  const { status, headers, body } = await ask('PUT', '/things')
  assert.equal(status, 405)
  assert.equal(headers.allow, 'GET, HEAD, POST')
  assert.equal(JSON.parse(body).errors[0].code, 7001)
  assert.equal((await ask('GET', '/things/7')).headers.allow, 'DELETE')
})

test('a path that is not valid percent-encoding is 404', async () => {
  assert.equal((await ask('DELETE', '/things/%E0%A4%A')).status, 404)
})

test('every request gets a response', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.oneof(anyPath, fc.string()), async (method, target) => {
      assert.ok([200, 404, 405].includes((await ask(method, target)).status))
    }),
  )
})
