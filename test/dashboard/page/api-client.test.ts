import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Api, apiPath, type CallApi, Refusal } from '../../../src/dashboard/page/api-client.ts'

/** Asks an API that responds so, and returns what it was asked as well. */
function apiOf(status: number, json: unknown, headers: Readonly<Record<string, string>> = {}) {
  const asked: Parameters<CallApi>[0][] = []
  const text = typeof json === 'string' ? json : JSON.stringify(json)
  const api = new Api(async question => {
    asked.push(question)
    return { status, headers, body: text.slice(0, 5), rest: [text.slice(5)] }
  })
  return { api, asked }
}

const failed = (...errors: readonly object[]) => ({ success: false, errors, messages: [], result: null })

test('ids of others stay one step of a path, and empty parameters are left out', async () => {
  const { api, asked } = apiOf(200, { success: true, errors: [], result: [] })
  await api.get(apiPath('accounts', 'a/../b?c#d', 'x y'), { page: 2, search: '', name: null, q: 'ä&=' })
  assert.equal(asked[0]!.target, '/client/v4/accounts/a%2F..%2Fb%3Fc%23d/x%20y?page=2&q=%C3%A4%26%3D')
})

test('a result comes with its tag, and a list with where it goes on', async () => {
  const info = { page: 1, per_page: 20, count: 1, total_count: 1 }
  const { api } = apiOf(200, { success: true, errors: [], result: [1], result_info: info }, { etag: '"7"' })
  assert.deepEqual(await api.get('/a'), { ok: true, result: [1], info, etag: '"7"' })
})

test('conditions and bodies are handed on', async () => {
  const { api, asked } = apiOf(200, { success: true, errors: [], result: null })
  const conditions = { ifMatch: '"1"', idempotencyKey: 'k' }
  await api.post('/a', { b: 1 }, conditions)
  await api.put('/a', { b: 2 }, conditions)
  await api.patch('/a', { b: 3 }, conditions)
  await api.delete('/a', conditions)
  assert.deepEqual(
    asked.map(({ method, body }) => [method, body]),
    [
      ['POST', { b: 1 }],
      ['PUT', { b: 2 }],
      ['PATCH', { b: 3 }],
      ['DELETE', undefined],
    ],
  )
  assert.ok(asked.every(({ ifMatch, idempotencyKey }) => ifMatch === '"1"' && idempotencyKey === 'k'))
})

test('faults are sentences by their members, without the name that is beside them', async () => {
  const { api } = apiOf(
    400,
    failed(
      { code: 1, message: 'redirect_uris[0] must use https', source: { pointer: '/redirect_uris/0' } },
      { code: 1, message: 'name must be a string of 1 to 9 characters', source: { pointer: '/name' } },
      { code: 1, message: 'name is odd', source: { pointer: '/name' } },
      { code: 1, message: 'no more tokens' },
      { code: 1, message: 'Not now.' },
    ),
    { 'retry-after': '7' },
  )
  assert.deepEqual(await api.post('/a', {}), {
    ok: false,
    status: 400,
    retryAfter: 7,
    faults: {
      '/redirect_uris/0': 'Must use https.',
      '/name': 'Must have 1 to 9 characters. Is odd.',
      '': 'No more tokens. Not now.',
    },
  })
})

test('a stored response is returned byte for byte, and a missing one is an error', async () => {
  const stored = apiOf(200, '{"success":false,"errors":[]}')
  assert.equal(await stored.api.text('/a'), '{"success":false,"errors":[]}')
  const { api } = apiOf(404, failed({ code: 7003, message: 'Log not found' }))
  const failure = { ok: false as const, status: 404, faults: { '': 'Log not found.' }, retryAfter: null }
  await assert.rejects(api.text('/a'), new Refusal(failure))
  await assert.rejects(api.get('/a'), new Refusal(failure))
  assert.deepEqual(await api.tryGet('/a'), failure)
})
