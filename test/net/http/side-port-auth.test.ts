import { deepEqual, equal } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SidePortAuth } from '../../../src/net/http/side-port-auth.ts'

describe('SidePortAuth', () => {
  const secret = randomBytes(32)
  const sidePortAuth = new SidePortAuth(secret)
  const ray = '0123456789abcdef'
  const address = fc.oneof(fc.ipV4(), fc.ipV6())

  test('reads what it has written, in any process with the same secret, and nothing else', () => {
    const rays = fc.stringMatching(/^[0-9a-f]{16}$/)
    fc.assert(
      fc.property(address, rays, (address, ray) => {
        const value = sidePortAuth.write({ address, ray })
        deepEqual(new SidePortAuth(Uint8Array.from(secret)).read(value), { address, ray })
        equal(new SidePortAuth(randomBytes(32)).read(value), null)
        equal(value.includes(secret.toString('base64url')), false)
      }),
    )
  })

  test('takes no value with anything changed', () => {
    const value = sidePortAuth.write({ address: '192.0.2.1', ray })
    const at = fc.nat(value.length - 1)
    const character = fc.constantFrom(...'0123456789abcdefghijklmnop.: -_')
    fc.assert(
      fc.property(at, character, (at, character) => {
        const changed = value.slice(0, at) + character + value.slice(at + 1)
        // The last character of base64url has bits that nobody reads.
        if (at < value.length - 1) equal(sidePortAuth.read(changed) === null, changed !== value)
        equal(sidePortAuth.read(value.slice(0, at)), null)
        equal(sidePortAuth.read(`${value}${character}`), null)
      }),
    )
  })

  test('takes no text that is none, and no address that is none', () => {
    const signed = (address: string) => sidePortAuth.write({ address, ray })
    for (const value of ['', ' ', 'x', signed(''), signed('1.2.3'), signed('localhost'), signed('::1%lo')])
      equal(sidePortAuth.read(value), null)
    fc.assert(fc.property(fc.string(), value => equal(sidePortAuth.read(value), null)))
  })
})
