import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pagesUrl } from '../../../src/process/gateway/pages-url.ts'
import { edgeConfig } from '../../help/edge.ts'

test('people sign in at the issuer, else at a side port that leads to this machine', () => {
  const { oauth } = edgeConfig([])
  const at = (host: string, issuer: string | null = null) =>
    pagesUrl({ oauth: { ...oauth, issuer } }, { host, port: 8081 })
  assert.equal(at('127.0.0.1'), 'http://127.0.0.1:8081')
  assert.equal(at('::1'), 'http://[::1]:8081')
  assert.equal(at('0.0.0.0'), 'http://localhost:8081')
  assert.equal(at('192.0.2.1'), null)
  assert.equal(at('192.0.2.1', 'https://id.example'), 'https://id.example')
})
